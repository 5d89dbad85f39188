"""Kernel specifications to LLVM IR.

IR is built only from this package's own tokens: numbers, and names from fixed tables.  No string a
user gave (a label, a function's name) ever becomes part of it.
"""
