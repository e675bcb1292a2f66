"""A standing adversary: checkers of charts that share no code with `src`.

exact.py     problems as exact rationals, made from the floats that the user gives: moments, Gram matrices, losses
strata.py    tensors of one rank in local coordinates: value, Jacobian and Hessian, in floats or in mpmath
sturm.py     two inputs, one neuron: all real critical directions by Sturm sequences
newton.py    Newton's method with 70 digits: what true critical point is here, how far, with which signature
search.py    critical tensors by least squares from many starts; networks of low loss by descent
msolve.py    two or three inputs, one neuron: all real critical points by msolve, where it is installed
kinds.py     which kinds a true critical point can be given
drawing.py   numbers, matrices and laws that problems are drawn from
problems.py  families of special problems; near.py those next to special ones, known.py single ones
findings.py  what is known about a chart; points.py, families.py, missing.py, lowest.py: what each is held against
verdict.py   a chart against all of this: a list of complaints
__main__.py  `python -m tests.oracle N`: many charts, and a table of what is wrong
"""
