"""From a labelled expression to BLAS calls and one kernel.

A term is contracted two operands at a time, in the order of `path.contraction_order`.  Each
step ends in one of three ways:

* No label is summed: a lazy product, fused into whatever reads it.
* A matrix product: `numpy.matmul` on strided views of the operands' memory, transposes being
  flags of BLAS.  Operands that are lazy, tiled, of another dtype or strided as no matrix is are
  copied once (*packed*).  Integers of up to 16 bits and bool go through floats where the sums stay
  exact; narrow floats are multiplied and added in float32.  Dot products of rows that lie in memory
  as BLAS reads them are matrix products too, if they are the whole result.  So are small products
  of whole numbers, by NumPy's own loops: their sums wrap, whatever the order.
* Anything else, such as other dot products and larger matrices of 32- or 64-bit integers: a lazy
  product under a reduction, one fused kernel.  Products of integer matrices are packed so that
  the kernel reads both along the summed label.

Terms, scales and the conversion to the destination are elementwise and fused in the kernel that
writes it; a single matrix product that fits its destination is written there by BLAS.

Matrix products run when the assignment or evaluation runs, not as nodes of the lazy graph: their
operands must be packed or not according to the destination's strides, a decision between views
and copies that kernels' plans know nothing of, and linear algebra evaluates its inputs throughout
this package.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..blas.path import Sketch, contraction_order, count, merged_stride, plan_gemm
from ..blas.stacks import BLAS_DTYPES, Matrices, Product, accumulator, carrier, matrices, wraps
from ..dtypes.names import DType, bool_, dtype_name, int64, kind
from ..index import transform
from ..ir import build
from ..ir.node import Elementwise, Leaf, Node
from ..ir.walk import source_of
from ..layout.strided import Strided
from ..memory.arrays import allocate
from ..memory.block import Memory
from ..memory.buffer import Buffer
from ..memory.pool import counters
from ..operands.convert import store
from ..operands.tracing import writer as trace_writer
from ..ops.op import Op
from ..ops.reductions import ANY, SUM
from ..ops.table import OPS
from ..runtime import evaluate as engine
from .labelled import Group, Indexed, Labels, Term, XLabelled, check_size
from .notes import Note, product_note, shown, why_packed
from .remembered import is_memory

#: Products of stacked matrices with fewer multiplications than this are one fused kernel.
SMALL_STACKED = 64

#: Packing integer matrices pays from this many multiplications on.
PACK_FROM = 1 << 12

#: Elements up to which NumPy packs, so that small products never wait for a compiler.
NUMPY_PACKS = 1 << 15

#: Elements of summed labels from which BLAS adds up dot products: fewer are not worth a call each.
DOTS = 10

#: Multiplications up to which BLAS makes whatever lies as it likes: there is no kernel to wait for.
SMALL = 1 << 12

#: The same of whole numbers, of which NumPy's own loops make products, of a matrix and a vector and
#: of two matrices.  Dot products kernels add up in a half to a seventh of their time.
WRAPPING = 1 << 20, 1 << 17

_MULTIPLY, _ADD, _SUBTRACT, _NEGATIVE = [
    OPS[name] for name in ("multiply", "add", "subtract", "negative")
]


class Lowering:
    """Turns one labelled expression into a node, running its matrix products on the way.

    Parameters
    ----------
    value : XLabelled
        The expression.
    labels : tuple of str
        Labels of the result.
    destination : Sketch or None
        Where the result will lie.
    writes : numpy.dtype
        Dtype of the destination.
    notes : list of Note, optional
        Given, nothing is run: what would be is noted here.
    """

    __slots__ = ("acc", "destination", "dtype", "extents", "labels", "notes", "terms", "writes")

    def __init__(
        self,
        value: XLabelled,
        labels: Labels,
        destination: Sketch | None,
        writes: DType,
        notes: list[Note] | None = None,
    ) -> None:
        self.terms = value.terms
        self.extents: Mapping[str, int] = value.extents
        self.labels = labels
        self.dtype = value.dtype
        self.acc = accumulator(value.dtype)
        self.destination = destination
        self.writes = writes
        self.notes = notes

    def run(self) -> Node | Product:
        """Return the result: a node with the result's labels, or the one product it is."""
        if len(self.terms) == 1:
            result = self.term(self.terms[0], True)
            if isinstance(result, Product):
                return result
            node = self.signed(result, self.terms[0].negative)
        else:
            node = self.added([self.whole(term) for term in self.terms])
        if isinstance(node, Elementwise) and node.op is build.CAST:
            source = node.operands[0]
            node = source if source.dtype == self.dtype else node  # widened, and left as it was
        return build.cast(node, self.dtype)

    # --- sums ----------------------------------------------------------------------------------

    def whole(self, term: Term) -> tuple[Node, bool]:
        """Return one of several terms, and whether it is subtracted."""
        result = self.term(term, False)
        assert not isinstance(result, Product), "only a sole term is left to BLAS"
        return result, term.negative

    def signed(self, node: Node, negative: bool) -> Node:
        """Return a node or its negative."""
        return build.elementwise(_NEGATIVE, node) if negative else node

    def added(self, parts: list[tuple[Node, bool]]) -> Node:
        """Return the sum of signed terms, from left to right."""
        total = self.signed(*parts[0])
        for node, negative in parts[1:]:
            total = build.elementwise(_SUBTRACT if negative else _ADD, total, node)
        return total

    # --- one term ------------------------------------------------------------------------------

    def term(self, term: Term, sole: bool) -> Node | Product:
        """Return a term with the result's labels, in the accumulator's dtype."""
        parts, scales = self.prepared(term)
        while len(parts) > 1:
            labels = [part.labels for part in parts]
            first, second = contraction_order(labels, self.labels, self.extents)[0]
            right, left = parts.pop(second), parts.pop(first)
            rest = {k for p in parts for k in p.labels}
            last = not parts
            direct = sole and last and not scales and not term.negative
            product = self.pair(left, right, rest | set(self.labels), last, direct)
            if isinstance(product, Product):
                return product
            parts.append(product)
        node = aligned(parts[0], self.labels)
        return self.scaled(build.cast(node, self.acc), scales)

    def prepared(self, term: Term) -> tuple[list[Indexed], list[tuple[Op, build.Operand]]]:
        """Return the factors without labels that nobody else has, and all numbers."""
        factors = [
            self.group(factor) if isinstance(factor, Group) else factor for factor in term.factors
        ]
        uses: dict[str, int] = dict.fromkeys(self.labels, 2)
        for factor in factors:
            for label in factor.labels:
                uses[label] = uses.get(label, 0) + 1
        parts = [self.summed(f, [k for k in f.labels if uses[k] == 1]) for f in factors]
        numbers = [p for p in parts if not p.labels]
        kept = [p for p in parts if p.labels] or [numbers.pop(0)]
        scales = [(_MULTIPLY, build.cast(p.node, self.acc)) for p in numbers]
        return kept, [*scales, *term.scales]

    def group(self, group: Group) -> Indexed:
        """Return elementwise terms added up."""
        parts = []
        for term in group.terms:
            node: Node | None = None
            for factor in term.factors:
                inner = self.group(factor) if isinstance(factor, Group) else factor
                one = spread(self.converted(inner), group.labels)
                node = one if node is None else build.elementwise(_MULTIPLY, node, one)
            assert node is not None, "a term has a factor"
            parts.append((self.scaled(node, list(term.scales)), term.negative))
        return Indexed(self.added(parts), group.labels)

    def scaled(self, node: Node, scales: list[tuple[Op, build.Operand]]) -> Node:
        """Return a node multiplied and divided by numbers, in their order."""
        for op, operand in scales:
            number = build.cast(operand, self.acc) if isinstance(operand, Node) else operand
            node = build.elementwise(op, node, number)
        return node

    def converted(self, part: Indexed) -> Indexed:
        """Return a factor in the accumulator's dtype."""
        return Indexed(build.cast(part.node, self.acc), part.labels)

    def summed(self, part: Indexed, labels: list[str]) -> Indexed:
        """Return a factor summed over labels that it alone has."""
        if not labels:
            return part
        kept = tuple([k for k in part.labels if k not in labels])
        return self.folded(self.converted(part), kept)

    def folded(self, part: Indexed, kept: Labels) -> Indexed:
        """Return a factor in the accumulator's dtype, summed over all but some labels."""
        axes = tuple([d for d, k in enumerate(part.labels) if k not in kept])
        op = ANY if self.acc == bool_ else SUM
        node = build.reduce(op, part.node, axes, False)
        return Indexed(node, tuple([k for k in part.labels if k in kept]))

    # --- two factors ---------------------------------------------------------------------------

    def pair(
        self, left: Indexed, right: Indexed, needed: set[str], last: bool, direct: bool
    ) -> Indexed | Product:
        """Return the product of two factors, summed over what nobody needs.

        What traces a function, or where an operand's elements come from, writes products of its
        own; in memory BLAS multiplies, or a kernel.
        """
        union = tuple(dict.fromkeys(left.labels + right.labels))
        summed = tuple([k for k in left.labels if k in right.labels and k not in needed])
        kept = self.ordered(tuple([k for k in union if k not in summed]))
        if not summed:
            return self.fused(left, right, kept, ())
        traced, source = trace_writer(), source_of(left.node) or source_of(right.node)
        writer = source if traced is None else traced
        if writer is source is not None and not is_matrix_product(
            left.labels, right.labels, summed, self.extents
        ):
            return self.fused(left, right, kept, summed)
        if writer is not None:
            factors = [self.converted(left), self.converted(right)]
            return Indexed(writer.product(factors, kept), kept)
        own = direct and self.dtype == self.writes
        direct = own and self.carried_by(summed) == self.dtype
        if (direct or (own and wraps(self.dtype))) and self.fits(left, right, summed, union):
            return self.product(left, right, summed, self.dtype, self.destination)
        return self.multiplied(left, right, summed, kept, last, direct)

    def carried_by(self, summed: Labels) -> DType | None:
        """Return the dtype in which BLAS sums over some labels, if it can."""
        return carrier(self.acc, count(summed, self.extents))

    def multiplied(
        self, left: Indexed, right: Indexed, summed: Labels, kept: Labels, last: bool, direct: bool
    ) -> Indexed | Product:
        """Return the product of two factors in memory: of BLAS if they are matrices for it.

        ``direct``: BLAS may write the destination, whose dtype it computes in.
        """
        union, dtype = kept + summed, self.carried_by(summed)
        few = dtype != self.dtype and count(union, self.extents) <= SMALL
        if (
            dtype is None
            or few
            or not is_matrix_product(left.labels, right.labels, summed, self.extents)
        ):
            return self.fused(*self.packed_along(left, right, summed, union), kept, summed)
        if self.notes is None and not direct:
            check_size(kept, self.extents, dtype, "product of two operands")
        product = self.product(left, right, summed, dtype, self.destination if last else None)
        return product if direct and product.gemm.direct else self.stored(product)

    def ordered(self, labels: Labels) -> Labels:
        """Return labels in the result's order, the others last."""
        return tuple([k for k in self.labels if k in labels]) + tuple(
            [k for k in labels if k not in self.labels]
        )

    def fits(self, left: Indexed, right: Indexed, summed: Labels, union: Labels) -> bool:
        """Tell whether BLAS should make what are no large matrices, of memory as it lies.

        All that is small, and dot products.
        """
        size = count(union, self.extents)
        rows, columns = [
            count([k for k in one.labels if k not in other.labels], self.extents)
            for one, other in ((left, right), (right, left))
        ]
        alone = rows * columns
        most = WRAPPING[min(rows, columns) > 1] if alone > 1 and wraps(self.dtype) else SMALL
        small = 0 < size <= most
        dots = size and alone == 1 and self.dtype in BLAS_DTYPES
        if not small and not (dots and count(summed, self.extents) >= DOTS):
            return False
        a, b = sketch(left, self.dtype), sketch(right, self.dtype)
        itemsize = self.dtype.itemsize
        gemm = plan_gemm(a, b, summed, self.extents, self.destination, itemsize)
        if gemm.pack_left is not None or gemm.pack_right is not None or not gemm.direct:
            return False
        return small or all([_steps_by_one(part, gemm.inner, self.extents) for part in (a, b)])

    def fused(self, left: Indexed, right: Indexed, kept: Labels, summed: Labels) -> Indexed:
        """Return a lazy product of two factors under a lazy sum."""
        order = kept + summed
        a, b = (spread(self.converted(part), order) for part in (left, right))
        product = Indexed(build.elementwise(_MULTIPLY, a, b), order)
        return self.folded(product, kept) if summed else product

    def packed_along(
        self, left: Indexed, right: Indexed, summed: Labels, union: Labels
    ) -> tuple[Indexed, Indexed]:
        """Return factors that a kernel reads many times, contiguous along the summed labels."""
        if count(union, self.extents) < PACK_FROM:
            return left, right
        found = []
        for part, other in ((left, right), (right, left)):
            again = count([k for k in other.labels if k not in part.labels], self.extents)
            order = tuple([k for k in part.labels if k not in summed]) + summed
            lies = isinstance(part.node, Leaf) and isinstance(part.node.map, Strided)
            if again > 1 and not (lies and _is_contiguous_along(part, summed[-1])):
                part = self.packed(part, order, self.acc, "the kernel reads it many times")
            found.append(part)
        return found[0], found[1]

    def product(
        self,
        left: Indexed,
        right: Indexed,
        summed: Labels,
        dtype: DType,
        destination: Sketch | None,
    ) -> Product:
        """Return the matrix product of two factors, packed where BLAS needs it."""
        a, b = sketch(left, dtype), sketch(right, dtype)
        gemm = plan_gemm(a, b, summed, self.extents, destination, dtype.itemsize)
        inner = (gemm.rows, gemm.inner), (gemm.inner, gemm.columns)
        factors: tuple[Matrices, ...] = ()
        for part, pack, (rows, columns) in zip(
            (left, right), (gemm.pack_left, gemm.pack_right), inner, strict=True
        ):
            if pack is not None:
                part = self.packed(part, pack, dtype, why_packed(part, dtype))
            factors += self.view(part, gemm.stack, rows, columns)
        result = Product(gemm, factors, dtype, self.extents)
        if self.notes is not None:
            self.notes.append(product_note(result, left, right, summed))
        return result

    def view(
        self, part: Indexed, stack: Labels, rows: Labels, columns: Labels
    ) -> tuple[Matrices, ...]:
        """Return a factor's memory as stacked matrices; nothing where nothing is run."""
        leaf = part.node
        assert isinstance(leaf, Leaf), "packed, or memory to begin with"
        assert isinstance(leaf.map, Strided), "tiled memory is packed"
        if self.notes is not None:
            return ()
        place = matrices(leaf.map, part.labels, stack, rows, columns, self.extents)
        return (Matrices(Memory.over(leaf.snapshot), place, leaf.map.offset),)

    def packed(self, part: Indexed, order: Labels, dtype: DType, reason: str) -> Indexed:
        """Return a factor copied, converted and evaluated into row-major memory."""
        if self.notes is None:
            check_size(order, self.extents, dtype, "copy of an operand")
        node = build.cast(aligned(part, order), dtype)
        place = Strided.row_major(node.shape)
        numpy_packs = place.size <= NUMPY_PACKS and isinstance(part.node, Leaf)
        if self.notes is not None:
            text = f"pack {shown(part)} as {','.join(order)}, {dtype_name(dtype)}"
            nbytes = place.size * dtype.itemsize
            traffic = place.size * part.node.dtype.itemsize + nbytes
            kernel = None if numpy_packs else node
            self.notes.append(Note(f"{text}: {reason}", nbytes, text, traffic, kernel))
            buffer = Buffer.allocate(0)
        elif numpy_packs:
            buffer = store(node, place)
        else:
            buffer, _ = engine.evaluate(node, place)
        counters.temporaries += self.notes is None
        return Indexed(Leaf(node.shape, dtype, buffer.snapshot(), place), order)

    def stored(self, product: Product) -> Indexed:
        """Run a product into memory of its own."""
        labels = product.gemm.result
        place = Strided.row_major(tuple([self.extents[k] for k in labels]))
        if self.notes is not None:
            nbytes = place.size * product.dtype.itemsize
            last = self.notes.pop()
            reason = "a matrix product that is not the whole result, or does not fit it"
            self.notes.append(Note(last.text, nbytes, reason, last.traffic))
            buffer = Buffer.allocate(0)
        else:
            buffer = allocate(place, product.dtype)
            product.run(buffer, place, labels)
        counters.temporaries += self.notes is None
        node: Node = Leaf(place.shape, product.dtype, buffer.snapshot(), place)
        if kind(self.acc) in "iu" and product.dtype != self.acc:
            node = build.cast(node, int64)  # exact, and narrower integers wrap from there
        return Indexed(build.cast(node, self.acc), labels)


def is_matrix_product(
    left: Labels, right: Labels, summed: Labels, extents: Mapping[str, int]
) -> bool:
    """Tell whether BLAS should multiply: matrices, and not a stack of tiny ones."""
    rows = count([k for k in left if k not in right], extents)
    columns = count([k for k in right if k not in left], extents)
    inner, size = count(summed, extents), count({*left, *right}, extents)
    if not size or rows == columns == 1:
        return False
    return size == rows * columns * inner or rows * columns * inner >= SMALL_STACKED


def sketch(part: Indexed, dtype: DType) -> Sketch:
    """Return what a plan may know about a factor."""
    leaf = part.node
    if leaf.dtype == dtype and is_memory(leaf):
        assert isinstance(leaf, Leaf), "memory is a leaf"
        assert isinstance(leaf.map, Strided), "and strided"
        return Sketch(part.labels, leaf.map.strides)
    return Sketch(part.labels, None)


def _steps_by_one(part: Sketch, labels: Labels, extents: Mapping[str, int]) -> bool:
    """Tell whether an operand's labels are one contiguous run."""
    assert part.strides is not None, "it is not packed"
    strides = dict(zip(part.labels, part.strides, strict=True))
    return merged_stride(labels, strides, extents) == 1


def aligned(part: Indexed, order: Labels) -> Node:
    """Return a factor's node with its dimensions in another order of the same labels."""
    if part.labels == order:
        return part.node
    axes = [part.labels.index(label) for label in order]
    return build.view(part.node, transform.permute(part.node.shape, axes))


def spread(part: Indexed, order: Labels) -> Node:
    """Return a factor's node with one dimension per label, of extent 1 where it has none."""
    own = tuple([label for label in order if label in part.labels])
    node = aligned(part, own)
    new = [d for d, label in enumerate(order) if label not in own]
    return build.view(node, transform.expand(node.shape, new)) if new else node


def _is_contiguous_along(part: Indexed, label: str) -> bool:
    leaf = part.node
    assert isinstance(leaf, Leaf), "checked by the caller"
    assert isinstance(leaf.map, Strided), "checked by the caller"
    axis = part.labels.index(label)
    return leaf.map.strides[axis] == 1 or leaf.shape[axis] == 1
