"""Paper 003: Safran, Yehudai, Shamir, *The Effects of Mild Over-parameterization on … Shallow ReLU Neural Networks*."""

from shallows.uses.papers.safran import (
    expansions,
    global_minima,
    most_directions,
    objective,
    origin,
    perturbed,
    splitting,
)

#: The numbered statements, in the order of the paper.
CLAIMS = (
    objective.lemma_1,
    global_minima.theorem_1,
    global_minima.theorem_2,
    global_minima.theorem_3,
    global_minima.theorem_4,
    global_minima.theorem_5,
    most_directions.theorem_6,
    most_directions.example_1,
    most_directions.remark_1,
    most_directions.conjecture_1,
    perturbed.theorem_7,
    splitting.theorem_8,
    splitting.proposition_1,
    splitting.theorem_9,
    objective.theorem_10,
    objective.lemma_2,
    objective.lemma_3,
    global_minima.lemma_4,
    expansions.lemma_5,
    expansions.lemma_6,
    expansions.lemma_7,
    expansions.lemma_8,
    expansions.lemma_9,
    perturbed.algorithm_1,
    origin.lemma_10,
    origin.lemma_11,
    splitting.lemma_12,
    splitting.lemma_13,
)
