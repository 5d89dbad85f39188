"""Labelled expressions and contractions: ``C["i,k"] = A["i,j"] * B["j,k"]``, and ``@``.

`path` plans the order of products, `contraction` lowers to BLAS (`gemm`, `blas`) and one kernel,
`writing` assigns, `products` spells ``matmul``, ``tensordot`` and ``einsum`` this way.  Arrays and
jagged arrays import it.  It never makes a container.
"""
