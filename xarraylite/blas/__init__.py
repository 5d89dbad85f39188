"""Products of matrices on memory: how `@` and contractions are handed to BLAS.

`path` plans the order of a contraction and the views that BLAS takes, in integers alone; `stacks`
has one stack of products on memory and the dtypes it is added up in; `calls` makes the calls, in
pieces that can be interrupted, on as many threads as are set.  Labels import these, for which a
label is the name of a dimension.  They know no expression, and allocate nothing.

`routines` are BLAS's own names, for users: ``xl.blas.gemm``.
"""

from .routines import dot as dot
from .routines import gemm as gemm
from .routines import gemv as gemv
