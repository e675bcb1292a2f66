"""Paper 001: Gamarnik, Kızıldağ, Zadik, *Stationary Points of Shallow Neural Networks with Quadratic Activation*."""

from shallows.uses.papers.gamarnik import initialisation, population, samples

#: The numbered statements, in the order of the paper.
CLAIMS = (
    population.theorem_2_1_a,
    population.theorem_2_1_b,
    population.theorem_2_1_c,
    population.corollary_2_2,
    population.theorem_2_3,
    population.remark_2_3,
    initialisation.theorem_2_4,
    initialisation.theorem_2_5,
    samples.theorem_2_6,
    samples.corollary_2_7,
    samples.theorem_2_8,
    samples.theorem_2_9,
    samples.theorem_3_1,
    samples.theorem_3_2,
)
