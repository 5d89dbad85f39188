"""`explain`: what an evaluation would do, without doing it.

Products of arrays (``a @ b``, `einsum` and their relatives) are computed when they are written, so
that all `explain` is given of them is memory.  A buffer that such a product has filled remembers
the shapes, dtypes and layouts of what was multiplied; it keeps no operand alive, and a write to the
buffer makes it forget.  From those the product is planned again, and told before the rest.  What it
took counts if the expression alone holds its result; what the user keeps was computed before.  Of
the operands of a product no more is known, be they products or not.

What is asked of jagged arrays is the same question about arrays of their rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from ..arrays.container import XContainer
from ..arrays.expression import XExpression
from ..arrays.xarray import XArray
from ..assignment.assign import converted, fit, node_of
from ..compiler.graph import Graph, canonical
from ..compiler.program import Temporary
from ..dtypes.names import DType, dtype_name
from ..index.broadcast import broadcast_shapes
from ..ir import build
from ..ir.node import Leaf, Node
from ..ir.walk import postorder
from ..jagged.array import XJagged
from ..jagged.contraction import flattened
from ..jagged.labels import XJaggedLabelled, prepared
from ..jagged.lazy import XJaggedExpression, spread
from ..labels.assignment import checked, explained, operands_of, resulting
from ..labels.labelled import XLabelled
from ..labels.notes import Note
from ..labels.products import Explained, Unwritten
from ..layout.strided import Strided
from ..layout.tiled import Map, TiledMap
from ..memory.buffer import Buffer
from ..memory.target import Target
from ..operands.nodes import as_node
from ..runtime import evaluate as engine
from ..shapes.labels import parse_labels
from ..xtensor_views.picked import XPicked
from ..xtensor_views.reshaped import XReshapeView
from .noalias import NoAlias, noalias


@dataclass(frozen=True, slots=True)
class Explanation:
    """The plan of one evaluation; printing it gives a readable account.

    Attributes
    ----------
    title : str
        Destination and result.
    steps : tuple of str
        What runs, in order.
    temporaries : tuple of Temporary
        Memory that lives only during the evaluation.
    bytes_moved : int
        Bytes that the kernels read and write.
    result_bytes : int
        Bytes allocated for the result; 0 when it goes into an existing container.
    sources : tuple of str
        The kernels' LLVM IR, apart from the scalar routines that they call.
    """

    title: str
    steps: tuple[str, ...] = ()
    temporaries: tuple[Temporary, ...] = ()
    bytes_moved: int = 0
    result_bytes: int = 0
    sources: tuple[str, ...] = ()

    @property
    def kernels(self) -> int:
        """Number of kernels that run."""
        return len(self.sources)

    def __str__(self) -> str:
        lines = [self.title]
        lines += [f"  {k + 1}. {step}" for k, step in enumerate(self.steps)]
        total = sum(t.nbytes for t in self.temporaries)
        lines.append(
            f"  {self.kernels} kernel(s), {self.bytes_moved:,} bytes moved, "
            f"{self.result_bytes:,} bytes for the result, {total:,} bytes in "
            f"{len(self.temporaries)} temporaries"
        )
        lines += [f"  temporary of {t.nbytes:,} bytes: {t.reason}" for t in self.temporaries]
        return "\n".join(lines)

    __repr__ = __str__


@dataclass(frozen=True, slots=True)
class _Into:
    """Where an explained evaluation writes.

    Attributes
    ----------
    target : Target
        Memory, which need not exist.
    name : str
        What it is.
    noalias : bool
        Whether no operand is said to overlap it.
    """

    target: Target
    name: str
    noalias: bool = True

    @staticmethod
    def new(place: Map, dtype: DType, name: str = "a new container") -> _Into:
        """Return new memory of a layout."""
        return _Into(Target.imagined(place, dtype), name)

    @staticmethod
    def rows(shape: tuple[int, ...], dtype: DType, name: str = "a new container") -> _Into:
        """Return new row-major memory."""
        return _Into.new(Strided.row_major(shape), dtype, name)

    @property
    def nbytes(self) -> int:
        """Bytes that are allocated for the result."""
        known, size = self.target, self.target.dtype.itemsize
        return known.map.byte_range(size)[1] + 1 if known.fresh else 0


def explain(destination: object, expression: object = None, held: bool = True) -> Explanation:
    """Return the plan of an evaluation into memory, or of an assignment.

    The public function of this name takes what is kept elsewhere too, and where it is stored, and
    knows whether an assigned expression is ``held`` by others.

    Raises
    ------
    BroadcastError
        If the expression does not broadcast into the destination.
    TypeError
        If the destination is none.
    """
    notes: list[Note] = []
    rows = as_rows(destination, expression, notes)
    if rows is not None:
        return _after([_noted(notes)], explain(*rows))
    if isinstance(destination, XLabelled):
        return _explain_labelled(destination, expression)
    if expression is None:
        return _explain_new(destination)
    noalias = isinstance(destination, NoAlias)
    container = destination.target if isinstance(destination, NoAlias) else destination
    if isinstance(container, XPicked):
        return _explain_picked(container, expression)
    if not isinstance(container, XContainer):
        raise TypeError("explain: the destination must be a container or noalias(container)")
    node = node_of(expression, container)
    if isinstance(container, XArray) and _grows(node, container):
        return _explain_growth(container, node)
    node = fit(node, container)
    own = None if held or not isinstance(expression, XContainer) else expression.buffer
    target = Target(container.buffer, container.map, container.dtype)
    name = f"noalias({container.summary()})" if noalias else container.summary()
    return _after(_products([node], own), _explanation(node, _Into(target, name, noalias)))


def _explain_new(what: object) -> Explanation:
    """Explain an evaluation into new memory."""
    if isinstance(what, XContainer):
        made = _told(what.buffer.made)  # how a product came about; all else is memory already
        if made is not None:
            return _product(made, "a new container")
        return Explanation(f"{what.summary()} is in memory; nothing runs")
    node = as_node(what, "explain")
    layout = engine.result_layout(canonical(node, None, False), node)
    name = "a new container"
    if isinstance(layout, TiledMap):
        name = f"{name} with the layout {layout.layout}"
    return _after(_products([node]), _explanation(node, _Into.new(layout, node.dtype, name)))


def _grows(node: Node, container: XArray) -> bool:
    """Tell whether only ``assign`` can take an expression, by taking its shape."""
    try:
        return broadcast_shapes(node.shape, container.shape) == node.shape != container.shape
    except ValueError:
        return False


def _explain_growth(container: XArray, node: Node) -> Explanation:
    """Explain ``container.assign(e)`` of an expression of another shape.

    The values are written to memory of their own, which the container takes in the place of its
    old one; so operands may be the container itself.
    """
    container._check(node.shape, container.dtype, "assign")
    container._check_owner(node.shape, "assign")
    fitted = converted(node, container.dtype)
    place = container._policy_layout(node.shape)
    name = f"new memory of {container.summary()}, which takes the shape {node.shape}"
    into = _Into.new(place, container.dtype, name)
    return _after(_products([node]), _explanation(fitted, into))


def _explain_picked(view: XPicked, expression: object) -> Explanation:
    """Explain an assignment through positions: computed in full, then written one by one."""
    node = converted(node_of(expression, view), view.dtype)
    fit(node, view)
    if isinstance(view, XReshapeView):
        return explain(view.base, XExpression(build.reshape(fit(node, view), view.base.shape)))
    made = _into_temporary(node)
    nbytes = math.prod(node.shape) * node.dtype.itemsize
    why = "what is assigned is computed before the first element is written"
    step = f"NumPy writes {view.size} elements through their positions"
    last = Explanation(f"{made.title.split(' into ')[0]} into {view.summary()}", (step,))
    made = replace(made, temporaries=(*made.temporaries, Temporary(nbytes, why)))
    return _after([*_products([node]), made], last)


def _explain_labelled(destination: XLabelled, expression: object) -> Explanation:
    """Explain an evaluation, or an assignment to a labelled container."""
    container = destination.origin
    first: list[Note] = []
    if expression is None or isinstance(expression, str):
        value, labels = resulting(destination, expression)
        into = _Into.rows(tuple([value.extents[k] for k in labels]), value.dtype)
        notes, node = explained(value, labels, None)
    elif isinstance(container, XContainer):
        text = ",".join(destination.labels)
        value, labels = checked(container, text, expression)
        value = value.dense(labels, first)
        target = Target(container.buffer, container.map, container.dtype)
        into = _Into(target, container.summary(), noalias=False)
        notes, node = explained(value, labels, container)
    else:
        raise TypeError("explain: the destination must be a container with labels, as C['i,k']")
    last = _lowered(first + notes, node, into)
    return _after(_products(operands_of(value.terms)), last)


def _lowered(notes: list[Note], node: Node | None, into: _Into) -> Explanation:
    """Explain what an expression of labels does first, and its last kernel if there is one."""
    if node is None:
        target = into.target
        what = f"{dtype_name(target.dtype)}{list(target.map.shape)} into {into.name}"
        last = Explanation(what, result_bytes=into.nbytes)
    else:
        last = _explanation(node, into)
    return _after([_noted(notes)], last)


def _noted(notes: list[Note]) -> Explanation:
    """Explain the steps before a kernel."""
    packs = [_into_temporary(note.node) for note in notes if note.node is not None]
    return Explanation(
        "",
        tuple([note.text for note in notes]),
        tuple([Temporary(n.nbytes, n.reason) for n in notes if n.nbytes]),
        sum([note.traffic for note in notes]),
        sources=tuple([source for pack in packs for source in pack.sources]),
    )


def _after(first: list[Explanation], last: Explanation) -> Explanation:
    """Return the explanation of an evaluation, with what is done before it."""
    every = [*first, last]
    return Explanation(
        last.title,
        tuple([step for part in every for step in part.steps]),
        tuple([temporary for part in every for temporary in part.temporaries]),
        sum([part.bytes_moved for part in every]),
        last.result_bytes,
        tuple([source for part in every for source in part.sources]),
    )


def _told(made: object) -> Explained | None:
    """Return what there is to tell of a product, if it is one."""
    made = made.explained() if isinstance(made, Unwritten) else made
    return made if isinstance(made, Explained) else None


def _product(made: Explained, name: str) -> Explanation:
    """Explain a product of arrays in row-major memory of its own."""
    value, labels = made
    into = _Into.rows(tuple([value.extents[k] for k in labels]), value.dtype, name)
    return _lowered(*explained(value, labels, None), into)


def _products(roots: Iterable[Node], own: Buffer | None = None) -> list[Explanation]:
    """Explain the products that expressions read.

    Those that others than the expression, or a container that owns the buffer ``own``, hold cost
    nothing now.
    """
    found: dict[int, Explanation] = {}
    for leaf in [node for root in roots for node in postorder(root)]:
        if not isinstance(leaf, Leaf) or id(leaf.snapshot) in found:
            continue
        snapshot = leaf.snapshot
        holder = None if snapshot.origin is None else snapshot.origin()
        alone = holder is None or holder is own
        made = _told(snapshot.made)
        if made is None:
            continue
        product = _product(made, "a temporary")
        result = Temporary(product.result_bytes, "the result of a product of arrays")
        if alone:
            product = replace(product, temporaries=(*product.temporaries, result))
        else:
            steps = tuple([f"computed before: {step}" for step in product.steps])
            product = Explanation("", steps)
        found[id(snapshot)] = product
    return list(found.values())


def _into_temporary(node: Node) -> Explanation:
    """Explain a copy into row-major memory."""
    return _explanation(node, _Into.rows(node.shape, node.dtype, "a temporary"))


def _explanation(node: Node, into: _Into) -> Explanation:
    what = f"{dtype_name(node.dtype)}{list(node.shape)} into {into.name}"
    graph = engine.graph_of(node, into.target, into.noalias)
    if not isinstance(graph, Graph):
        plan: Explanation = graph.explain(node)
        return plan
    if engine.uses_reference():
        step = "NumPy evaluates every operation on whole arrays (engine='reference')"
        return Explanation(what, (step,), result_bytes=into.nbytes)
    program = engine.program_of(graph, into.target, into.noalias)
    return Explanation(
        what,
        tuple([step.note for step in program.steps]),
        tuple(program.temporaries),
        program.traffic,
        into.nbytes,
        tuple([step.kernel.source for step in program.kernels]),
    )


def as_rows(
    destination: object, expression: object, notes: list[Note]
) -> tuple[object, object] | None:
    """Return a destination and an expression of rows for those of jagged arrays; None for others.

    Products that are made before a jagged label can be summed are noted.

    Raises
    ------
    TypeError
        For a destination that owns no memory.
    ShapeError, BroadcastError
        As for the assignment or the evaluation.
    """
    if isinstance(destination, XJaggedLabelled):
        return _labelled_rows(destination, expression, notes)
    target = destination.target if isinstance(destination, NoAlias) else destination
    if not isinstance(target, XJaggedExpression):
        return None
    rows = target._flat
    if expression is None:
        return rows, None
    if not isinstance(target, XJagged):
        raise TypeError("explain: the destination must be a container or noalias(container)")
    operand = spread(expression, target.rows, "assignment")
    value = XExpression(operand) if isinstance(operand, Node) else operand
    return (rows if target is destination else noalias(rows)), value


def _labelled_rows(
    destination: XJaggedLabelled, expression: object, notes: list[Note]
) -> tuple[object, object] | None:
    if isinstance(expression, str):
        labels = parse_labels(expression, "eval")
        value, out = flattened(destination, labels, destination.shaped(labels), notes)
        return value, ",".join(out)
    if expression is None or not isinstance(destination.origin, XJagged):
        return None
    text = ",".join(destination.labels)
    value, out, target = prepared(destination.origin, text, expression, notes)
    return target[",".join(out)], value
