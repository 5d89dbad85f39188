"""What changes how functions and expressions run: jit, vectorize, late, noalias, and explain.

Each takes a function, an expression or a destination and gives it other rules, or tells what it
would do.  The facade imports it.  Nothing below knows of it.
"""
