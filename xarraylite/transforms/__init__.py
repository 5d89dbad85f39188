"""What changes how functions and expressions run: jit, vectorize, late, noalias, and explain.

Each takes a function, an expression or a destination and gives it other rules, or tells what it
would do.  `fold` has ``reduce`` and ``accumulate`` by users' functions, `stages` and `planned` what
``jit`` makes of a function; `natives` puts machine code in the place of methods that are called
often, and ``numba_*`` are containers in users' ``njit`` functions.  The facade imports it.  Nothing
below knows of it.
"""
