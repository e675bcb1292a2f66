"""Solution sets of any dimension: witness sets, irreducible components, membership, sampling.

`decomposition.decompose` is what people call; `intersection` adds one equation to what is known, `local_systems` makes
multiple components regular, `slicing` moves linear spaces, `breakup` finds what is irreducible.
"""
