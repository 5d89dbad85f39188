"""What may stand in an expression: numbers, lists, arrays of others, our own, and index arrays.

`nodes` makes a node of any of them, `convert` memory of any values, `operators` is the table of
Python's operators, `learning` tells kinds what an operation on them gives.  Handles, assignment
and functions import it.  It evaluates nothing.
"""
