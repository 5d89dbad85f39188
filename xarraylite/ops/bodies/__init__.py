"""Scalar bodies: what one element of each operation computes, as plain Python functions.

The polynomials of ``exp``, ``log`` and ``sin`` are here, and the rules for zero divisors and
shifts.  They are written in the subset that Numba compiles, without branches where a vector unit
should run them; `library` gathers them by name.  Only ``codegen`` compiles them.
They import each other and nothing that is no number.
"""
