"""Labelled expressions and contractions: ``C["i,k"] = A["i,j"] * B["j,k"]``, and ``@``.

`labelled` is the handle, `lowering` turns it into products that `blas` runs and one kernel for the
rest, `assignment` writes and evaluates, `products` spells ``matmul``, ``tensordot`` and ``einsum``
this way.
Arrays and jagged arrays import it.  It never makes a container.
"""
