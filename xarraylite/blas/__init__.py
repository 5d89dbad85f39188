"""Products of matrices on memory: how `@` and contractions are handed to BLAS.

`path` plans the order of a contraction and the views that BLAS takes, in integers alone; `gemm` has
one stack of products on memory and the dtypes it is added up in; `calls` makes the calls, in pieces
that can be interrupted, on as many threads as are set.  Labels import it, for which a label is the
name of a dimension.  It knows no expression, and allocates nothing.
"""
