"""The one table of operations: name, arity, dtype rule, scalar body, NumPy's ufunc, documentation.

Adding an operation is one row here and one scalar body in ``bodies``, where the polynomial of
``exp`` is.  Every room that builds, compiles, interprets or documents operations reads the table.
Nothing here knows of arrays.
"""
