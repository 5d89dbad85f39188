"""From expressions to modules.

Operands in memory become parameters, row-major unless they are whole arrays of another layout;
scalars and index arrays become constants.  Views are slices, reversals, transposes and
broadcasts; what is none of these (a diagonal) is gathered by computed numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from functools import singledispatchmethod
from operator import attrgetter
from types import MappingProxyType
from typing import Any

import numpy as np

from ..._errors import HloError
from ...arrays.container import XContainer
from ...arrays.expression import XExpression
from ...dtypes.info import bounds
from ...dtypes.names import DType, kind
from ...index.transform import FIXED, Reshape, Transform
from ...ir import node as ir
from ...ir.build import CAST
from ...ir.walk import depth_first, postorder
from ...labels.assignment import lazily, resulting
from ...labels.labelled import XLabelled
from ...layout.layout import Layout
from ...layout.strided import Strided
from ...layout.tiled import Map, TiledMap
from ...memory.arrays import read
from ...memory.buffer import NOWHERE
from ...memory.snapshots import LateSnapshot
from ...operands.convert import layout_of
from ...operands.gathers import gathered_again
from ...operands.nodes import as_node
from ...operands.tracing import is_traced, tracing
from ...transforms.jit import Jitted
from ...transforms.planned import results_of
from ...xla.spec import ArraySpec
from ..instruction import HloComputation
from ..module import HloModule
from ..nodes import callees_first
from ..values import Signature, SliceDimension
from .calls import CALLS
from .operations import applied
from .terms import Term, Writer, contracted, default_spec


def to_hlo(source: Any, *specs: Any, name: str = "", labels: str | None = None) -> HloModule:
    """Return an expression, or a function of arrays, as an HLO module.

    Parameters
    ----------
    source : expression, callable or Jitted
        What to compute.  A function is called once with handles that have no values, as by
        ``xl.jit``; it returns an expression, or a flat tuple or list of them.  Products of
        matrices, sorting, running sums, shares of what is sorted, Fourier transforms, norms and
        elements at positions become HLO's operations; positions outside mean the nearest end.
    *specs : ArraySpec, str, array or number
        For a function, one for each argument; a Python number is handed on as it is.
    name : str, optional
        Name of the module.
    labels : str, optional
        Labels of the result, where that is a labelled expression.

    Returns
    -------
    HloModule
        Its parameters are the arguments of the function, or the operands of the expression in
        the order of their first use, each view being one of its own.  Layouts of containers and
        specs are kept.  Arrays that a function closes over become constants.

    Raises
    ------
    HloError
        If there is no HLO for an operation or a function, such as a user's.
    ShapeError
        If a labelled expression is given without the labels of its result.
    TracedValueError
        If the function asks an argument for a value.

    Examples
    --------
    >>> import xarraylite as xl
    >>> module = xl.to_hlo(lambda x, y: xl.exp(x) + y, "f32[2,3]", "f32[3]")
    >>> print(module.to_text("short_parsable"))
    HloModule lambda, entry_computation_layout={(f32[2,3]{1,0}, f32[3]{0})->f32[2,3]{1,0}}
    <BLANKLINE>
    ENTRY main {
      parameter.1 = f32[2,3]{1,0} parameter(0)
      exponential.3 = f32[2,3]{1,0} exponential(parameter.1)
      parameter.2 = f32[3]{0} parameter(1)
      broadcast.4 = f32[2,3]{1,0} broadcast(parameter.2), dimensions={1}
      ROOT add.5 = f32[2,3]{1,0} add(exponential.3, broadcast.4)
    }
    <BLANKLINE>
    <BLANKLINE>
    """
    expression = isinstance(source, XExpression | XLabelled)
    if isinstance(source, Jitted) or (callable(source) and not expression):
        return _of_function(source, specs, name, labels)
    if specs:
        raise HloError("to_hlo: specs are given for a function's arguments, not an expression's")
    export = _Export()
    # Nodes of an expression are those that it has outside of traces too.
    with tracing(export) if isinstance(source, XLabelled) else nullcontext():
        node = _node(source, labels)
    return export.module([node], False, name or "expression")


def _node(value: Any, labels: str | None) -> ir.Node:
    """Return what is to be written, in a trace that has a writer."""
    if not isinstance(value, XLabelled):
        return gathered_again(as_node(value, "to_hlo"))
    made = lazily(*resulting(value, labels))
    assert made is not None, "products are written"
    return made


def _of_function(function: Any, specs: Iterable[Any], name: str, labels: str | None) -> HloModule:
    plain = function._function if isinstance(function, Jitted) else function
    export = _Export()
    handles = [export.handle(spec) for spec in specs]
    with tracing(export):
        result = plain(*handles)
        nodes = [_node(item, labels) for item in results_of(result, "to_hlo")]
    title = name or getattr(plain, "__name__", "function").strip("<>")
    return export.module(nodes, isinstance(result, tuple | list), title)


class _Export:
    """Writes one module of expressions."""

    def __init__(self) -> None:
        self.writer = Writer()
        self.parameters: list[ArraySpec] = []
        self.known: dict[tuple[int, object], Term] = {}
        self.numbers: dict[int, Term] = {}
        self.terms: dict[int, Term] = {}
        self.of_function = False
        self.kept: list[ir.Node] = []

    def parameter(self, spec: ArraySpec) -> Term:
        """Write a parameter."""
        number = len(self.parameters)
        self.parameters.append(spec)
        return Term(self.writer, self.writer.add("parameter", spec, parameter_number=number))

    def handle(self, spec: Any) -> Any:
        """Return what a function is given for an argument of a spec."""
        self.of_function = True
        if type(spec) in (bool, int, float, complex):
            return spec
        known = _spec_of(spec)
        place, _ = layout_of(
            known.dimensions, known.layout or "row_major", None, np.dtype(known.dtype), "to_hlo"
        )
        return XExpression(self.standing_for(self.parameter(known), place))

    def standing_for(self, term: Term, place: Map) -> ir.Node:
        """Return a node without values for what was written."""
        snapshot = LateSnapshot(NOWHERE)
        snapshot.traced = True
        leaf = ir.Leaf(term.shape, term.dtype, snapshot, place)
        self.numbers[id(snapshot)] = term
        # A view of memory would be other memory; of an expression it remains a view.
        made = ir.View(leaf.shape, leaf.dtype, leaf, Reshape(leaf.shape, leaf.shape))
        self.kept.append(made)
        return made

    def result(self, term: Term) -> XExpression:
        """Return the expression that stands for what was written."""
        return XExpression(self.standing_for(term, Strided.row_major(term.shape)))

    def call(self, name: str, arguments: dict[str, Any], function: object = None) -> Any:
        """Write a function of traced arguments that has no node."""
        given = [value for value in arguments.values() if isinstance(value, XExpression)]
        if not any([is_traced(value.node) for value in given]):
            return NotImplemented
        if name not in CALLS:
            raise HloError(f"to_hlo: there is no HLO for {name}")
        if arguments.pop("out", None) is not None:
            raise HloError(f"to_hlo: there is no HLO for {name} with out")
        first, *others = arguments.items()
        return CALLS[name](self, first[1], **dict(others))

    def taken(self, node: ir.Node, axis: int, index: ir.Node) -> ir.Node:
        """Write a node that is read through integers: those outside mean the nearest end."""
        numbers = self.term(index).cast(np.dtype(np.int64))
        if kind(index.dtype) == "i":
            numbers = (numbers < 0).where(numbers + node.shape[axis], numbers)
        return self.result(self.gathered(self.term(node), axis, numbers)).node

    def product(self, factors: Sequence[Any], kept: Sequence[str]) -> ir.Node:
        """Write a product of two labelled nodes."""
        (left, ours), (right, theirs) = factors
        x, y = self.term(left), self.term(right)
        return self.result(contracted(x, ours, y, theirs, tuple(kept))).node

    def term(self, value: object) -> Term:
        """Write an expression, whatever of it has not been written."""
        top = value if isinstance(value, ir.Node) else gathered_again(as_node(value, "to_hlo"))
        self.kept.append(top)  # nodes are known by their identity
        listed = postorder(top)
        # Indices and offsets are constants of the nodes that have them.
        inner = {
            id(arg)
            for node in listed
            if isinstance(node, ir.Gather | ir.SegmentReduce)
            for arg in node.args[1:]
        }
        for node in listed:
            if id(node) not in self.terms and id(node) not in inner:
                self.terms[id(node)] = self.write(node)
        return self.terms[id(top)]

    def module(self, roots: list[ir.Node], several: bool, name: str) -> HloModule:
        """Write expressions and return the module of all that was written."""
        results = [self.term(top) for top in roots]
        root = results[0].instruction
        if several:
            shape = ArraySpec.tuple([term.instruction.shape for term in results])
            root = self.writer.add("tuple", shape, [term.instruction for term in results])
        # Parts that nobody needs, as sorts have, would be printed in another place than read.
        given = [made for made in self.writer.instructions if made.opcode == "parameter"]
        needed = depth_first([*given, root], attrgetter("operands"))
        entry = HloComputation("main", tuple(needed), root)
        signature = Signature(tuple(self.parameters), root.shape)
        attributes = MappingProxyType({"entry_computation_layout": signature})
        computations = tuple(callees_first([entry]))
        clean = "".join([char if char.isalnum() or char in "_.-" else "_" for char in name])
        return HloModule(clean or "module", computations, entry, False, attributes)

    def args(self, node: ir.Node) -> list[Term]:
        """Return what a node's arguments have become."""
        return [self.terms[id(arg)] for arg in node.args]

    @singledispatchmethod
    def write(self, node: ir.Node) -> Term:
        """Write one node, whose arguments have been written."""
        raise HloError(f"to_hlo: there is no HLO for {type(node).__name__}")

    @write.register
    def _(self, node: ir.Leaf) -> Term:
        given = self.numbers.get(id(node.snapshot))
        if given is not None:
            return given
        if self.of_function:
            return self.writer.constant(read(node.snapshot, node.dtype, node.map))
        key = id(node.snapshot), node.map
        if key not in self.known:
            self.known[key] = self.parameter(_spec_of_leaf(node))
        return self.known[key]

    @write.register
    def _(self, node: ir.Scalar) -> Term:
        return self.writer.constant(np.asarray(node.value, node.dtype))

    @write.register
    def _(self, node: ir.Iota) -> Term:
        total = self.numbered(node.shape, node.map)
        return total.cast(node.dtype)

    def numbered(self, shape: tuple[int, ...], place: Strided) -> Term:
        """Return the positions of a strided map."""
        int64 = np.dtype(np.int64)
        total = self.writer.constant(np.asarray(place.offset, int64)).stretched(shape)
        for axis, stride in enumerate(place.strides):
            if stride and shape[axis] > 1:
                along = self.writer.term("iota", int64, shape, iota_dimension=axis)
                total = total + along * stride
        return total

    @write.register
    def _(self, node: ir.Elementwise) -> Term:
        operands = [term.stretched(node.shape) for term in self.args(node)]
        if node.op is CAST:
            return operands[0].cast(node.dtype)
        return applied(node.op, node.dtype, *operands)

    @write.register
    def _(self, node: ir.View) -> Term:
        (term,) = self.args(node)
        if isinstance(node.step, Reshape):
            return term.reshaped(node.shape)
        return self.viewed(term, node.step)

    def viewed(self, term: Term, step: Transform) -> Term:
        """Write a view: slices, what is reversed, an order, what is stretched."""
        axes = [axis for _, _, axis in step.maps if axis != FIXED]
        if len(set(axes)) < len(axes):
            return self.picked(term, step)
        ranges, backwards = [], []
        for k, (start, pace, axis) in enumerate(step.maps):
            count = 1 if axis == FIXED else step.shape[axis]
            low, stride = start, max(abs(pace), 1)
            if pace < 0 and count > 1:
                low = start + pace * (count - 1)
                backwards.append(k)
            limit = low + stride * (count - 1) + 1 if count else low
            ranges.append(SliceDimension(low, limit, stride))
        whole = tuple([SliceDimension(0, size) for size in term.shape])
        sizes = [r.size for r in ranges]
        if math.prod(step.shape) == 0:
            return self.writer.constant(np.asarray(0, term.dtype)).stretched(step.shape)
        if tuple(ranges) != whole:
            term = self.writer.term("slice", term.dtype, sizes, term, slice=tuple(ranges))
        if backwards:
            term = self.writer.term("reverse", term.dtype, sizes, term, dimensions=tuple(backwards))
        kept = [k for k, (_, _, axis) in enumerate(step.maps) if axis != FIXED]
        term = term.reshaped([sizes[k] for k in kept])
        order = tuple(sorted(range(len(axes)), key=axes.__getitem__))
        if order != tuple(range(len(axes))):
            turned = [term.shape[k] for k in order]
            term = self.writer.term("transpose", term.dtype, turned, term, dimensions=order)
        if term.shape == step.shape:
            return term
        places = tuple(sorted(axes))
        return self.writer.term("broadcast", term.dtype, step.shape, term, dimensions=places)

    def picked(self, term: Term, step: Transform) -> Term:
        """Gather elements by their numbers in row-major order."""
        numbers = self.numbered(step.shape, Strided.row_major(term.shape).apply(step))
        flat = term.reshaped([math.prod(term.shape)])
        return self.gathered(flat, 0, numbers)

    def gathered(self, term: Term, axis: int, numbers: Term) -> Term:
        """Read one dimension through an array of numbers."""
        before, rank = axis, len(numbers.shape)
        shape = term.shape[:axis] + numbers.shape + term.shape[axis + 1 :]
        if math.prod(shape) == 0:  # a gather reads an element at least
            return self.writer.constant(np.zeros((), term.dtype)).stretched(shape)
        offsets = [*range(before), *range(before + rank, len(shape))]
        sizes = [1 if k == axis else size for k, size in enumerate(term.shape)]
        return self.writer.term(
            "gather",
            term.dtype,
            shape,
            term,
            numbers,
            offset_dims=tuple(offsets),
            collapsed_slice_dims=(axis,),
            start_index_map=(axis,),
            index_vector_dim=rank,
            slice_sizes=tuple(sizes),
        )

    @write.register
    def _(self, node: ir.Gather) -> Term:
        source = self.terms[id(node.arg)]
        index = read(node.index.snapshot, node.index.dtype, node.index.map)
        numbers = np.where(index < 0, index + node.arg.shape[node.axis], index)
        return self.gathered(source, node.axis, self.writer.constant(numbers))

    @write.register
    def _(self, node: ir.Concat) -> Term:
        terms = self.args(node)
        return self.writer.term(
            "concatenate", node.dtype, node.shape, *terms, dimensions=(node.axis,)
        )

    @write.register
    def _(self, node: ir.SegmentReduce) -> Term:
        wide, opcode = self.folded(node)
        offsets = read(node.offsets.snapshot, node.offsets.dtype, node.offsets.map)
        rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        made = self.writer.fold(
            "scatter",
            opcode,
            node.shape,
            self.start(opcode, wide.dtype).stretched(node.shape),
            self.writer.constant(rows),
            wide,
            update_window_dims=tuple(range(1, len(node.shape))),
            inserted_window_dims=(0,),
            scatter_dims_to_operand_dims=(0,),
            index_vector_dim=1,
            indices_are_sorted=True,
        )
        return made.cast(node.dtype)

    @write.register
    def _(self, node: ir.Reduce) -> Term:
        wide, opcode = self.folded(node)
        if opcode:
            made = self.reduced(wide, opcode, node)
        else:  # an extreme of what is not NaN
            known, opcode = wide == wide, _EXTREMES[node.op.name]
            filled = known.where(wide, bounds(wide.dtype)[opcode == "minimum"])
            some = self.reduced(known, "or", node)
            made = some.where(self.reduced(filled, opcode, node), np.nan)
        return made.cast(node.dtype).reshaped(node.shape)

    def reduced(self, term: Term, opcode: str, node: ir.Reduce) -> Term:
        """Fold the axes of a reduction, which do not stay."""
        start = self.start(opcode, term.dtype)
        sizes = [size for k, size in enumerate(node.arg.shape) if k not in node.axes]
        return self.writer.fold("reduce", opcode, sizes, term, start, dimensions=node.axes)

    def start(self, opcode: str, dtype: DType) -> Term:
        """Return the value with which a fold begins."""
        if kind(dtype) == "c" and opcode in ("maximum", "minimum"):
            raise HloError(f"to_hlo: there is no HLO for the {opcode} of complex numbers")
        least, largest = bounds(dtype)
        zeros = {"add": 0, "multiply": 1, "or": False, "and": True}
        value = {**zeros, "maximum": least, "minimum": largest}[opcode]
        return self.writer.constant(np.asarray(value).astype(dtype))

    def folded(self, node: ir.Reduce) -> tuple[Term, str]:
        """Return what a reduction folds, and by which operation."""
        term = self.terms[id(node.arg)]
        narrow = term.kind == "f" and term.dtype.itemsize < 4 and node.op.hlo in ("add", "multiply")
        wide = term.cast(np.dtype(np.float32)) if narrow else term
        logical = {"add": "or", "multiply": "and", "maximum": "or", "minimum": "and"}
        return wide, logical.get(node.op.hlo, node.op.hlo) if wide.kind == "b" else node.op.hlo


_EXTREMES = {"nanmax": "maximum", "nanmin": "minimum"}


def _spec_of(spec: Any) -> ArraySpec:
    """Return the spec that an argument describes, with a layout."""
    if isinstance(spec, XContainer):
        spec = spec.spec
    elif isinstance(spec, str):
        spec = ArraySpec.parse(spec)
    elif not isinstance(spec, ArraySpec):
        array = spec if hasattr(spec, "dtype") else np.asarray(spec)
        spec = default_spec(array.dtype, array.shape)
    if not spec.is_array:
        raise HloError(f"to_hlo: {spec} is not the spec of an array")
    if spec.layout is None:
        return default_spec(spec.dtype, spec.dimensions)
    return ArraySpec(spec.element_type, spec.dimensions, spec.layout)


def _spec_of_leaf(node: ir.Leaf) -> ArraySpec:
    """Return the spec of elements in memory: their layout, where it is one that text can say."""
    place = node.map
    if isinstance(place, TiledMap):
        layout = place.layout if place.is_whole else None
        if isinstance(layout, Layout):
            return ArraySpec(node.dtype, node.shape, layout)
    elif place.strides == Strided.column_major(node.shape).strides:
        return ArraySpec(node.dtype, node.shape, Layout(tuple(range(len(node.shape)))))
    return default_spec(node.dtype, node.shape)
