"""Scalar bodies: what one element of each operation computes, as plain Python functions.

They are written in the subset that Numba compiles, without branches where a vector unit should run
them; `elementary` and `scalars` gather them by name.  Only ``codegen`` compiles them.  They import
each other and nothing that is no number.
"""
