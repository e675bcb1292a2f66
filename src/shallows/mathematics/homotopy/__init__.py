"""All solutions of a polynomial system by homotopy continuation, with certificates.

`solve` takes strings, dictionaries or a structured system and returns `Solutions`; `solve_member` and
`monodromy` work in families of systems.
"""
