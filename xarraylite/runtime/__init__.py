"""Running programs: launches of small kernels, blocks and threads of large ones, NumPy's way.

`direct` and `launch` are the short way of small work, `evaluate` and `run` the general one, and
`reference` interprets an expression node by node with NumPy, which is the oracle.  The rooms of
users' objects import it.  It never decides what an expression means.
"""
