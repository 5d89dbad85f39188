"""Labelled expressions and contractions: ``C["i,k"] = A["i,j"] * B["j,k"]``, and ``@``.

`labelled` is the handle, `contraction` lowers it to products that `blas` runs and to one kernel for
the rest, `writing` assigns, `products` spells ``matmul``, ``tensordot`` and ``einsum`` this way.
Arrays and jagged arrays import it.  It never makes a container.
"""
