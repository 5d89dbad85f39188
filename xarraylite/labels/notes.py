"""What `explain` says about products: a line for each step before the final kernel."""

from __future__ import annotations

from .._records import record
from ..blas.path import count
from ..blas.stacks import Product, wraps
from ..dtypes.names import DType, dtype_name
from ..ir import build
from ..ir.node import Leaf, Node
from ..layout.strided import Strided
from .labelled import Indexed, Labels


@record(frozen=True, slots=True)
class Note:
    """One step before the final kernel.

    Attributes
    ----------
    text : str
        What is done.
    nbytes : int
        Memory taken for it.
    reason : str
        Why the memory is taken; empty where it is the destination's.
    traffic : int
        Bytes read and written.
    node : Node or None
        What a kernel evaluates, in a copy.
    """

    text: str
    nbytes: int
    reason: str
    traffic: int
    node: Node | None = None


def why_packed(part: Indexed, dtype: DType) -> str:
    """Return why BLAS does not read a factor where it is."""
    node = part.node
    if not isinstance(node, Leaf):
        return "BLAS multiplies memory, and this is computed first"
    if node.dtype != dtype:
        return f"BLAS multiplies it as {dtype_name(dtype)}"
    if not isinstance(node.map, Strided):
        return "it is tiled, and BLAS reads strided memory"
    return "its strides are not those of matrices"


def shown(part: Indexed) -> str:
    """Return a factor as text."""
    return f"{build.describe(part.node)}[{','.join(part.labels)}]"


def product_note(product: Product, left: Indexed, right: Indexed, summed: Labels) -> Note:
    """Return the line of one product."""
    gemm, extents = product.gemm, product.extents
    m, k, n = [count(g, extents) for g in (gemm.rows, gemm.inner, gemm.columns)]
    stacked = count(gemm.stack, extents)
    times = f"{stacked} times " if gemm.stack else ""
    who = "NumPy" if wraps(product.dtype) else "BLAS"
    text = (
        f"{who}: {shown(left)} * {shown(right)} over {','.join(summed)}, "
        f"{times}[{m}, {k}] @ [{k}, {n}] in {dtype_name(product.dtype)}"
    )
    size = product.dtype.itemsize
    traffic = stacked * (m * k + k * n + m * n) * size
    return Note(text, 0, "", traffic)
