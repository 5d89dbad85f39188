"""Jagged arrays: rows of different lengths in one flat buffer, lazy like the others.

`array` and `lazy` are the classes, `rows` shows how kernels run over such rows, `labels` and
`contraction` translate labels into those of arrays.  Functions import it.  It compiles nothing of
its own: everything becomes an expression over arrays.
"""
