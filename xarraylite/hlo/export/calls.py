"""Functions that have no nodes: orders, what grows along a line, shares of what was sorted.

While a function is traced for `to_hlo`, these are not called but written (`operands.tracing`).
Sorting is an operation of HLO whose comparator puts NaN where NumPy does; the others are formulas
of it and of lazy functions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from ..._errors import AxisError, HloError
from ...arrays.expression import apply
from ...arrays.operand import as_array
from ...dtypes.names import bool_, float32, is_narrow_float, kind
from ...functions import elementwise, means, reducers
from ...functions.joining import concat, stack
from ...functions.manipulation import expand_dims, moveaxis, reshape
from ...index.broadcast import check_axes
from ...ops.table import OPS
from ...xla.spec import ArraySpec
from ..instruction import HloComputation
from ..values import WindowDimension
from .algebra import ALGEBRA, TRANSFORMS, line_of
from .terms import Export, Term, Writer, default_spec


def _compared(writer: Writer, dtypes: Sequence[np.dtype[Any]], descending: bool) -> HloComputation:
    """Return the comparator of the first of some operands; NaN are last, or first."""
    words = [default_spec(dtype, ()).element_type.name for dtype in dtypes]
    name = f"{'descending' if descending else 'ascending'}_{'_'.join(words)}"
    known = writer.regions.get((name, bool_))
    if known is not None:
        return known
    inner = Writer(f"{name}.")
    pairs = [
        inner.add("parameter", default_spec(dtype, ()), parameter_number=2 * k + second)
        for k, dtype in enumerate(dtypes)
        for second in (0, 1)
    ]
    one, other = [Term(inner, parameter) for parameter in pairs[:2]]
    first, second = (other, one) if descending else (one, other)
    before = first < second
    if first.kind == "f":
        before = before | ((first == first) & (second != second))
    made = HloComputation(name, tuple(inner.instructions), before.instruction)
    writer.regions[name, bool_] = made
    return made


def _sorted(export: Export, terms: Sequence[Term], axis: int, descending: bool) -> list[Term]:
    """Sort operands along a dimension by the first of them, keeping the order of equal ones."""
    writer = export.writer
    if terms[0].kind == "c":
        raise HloError("to_hlo: there is no HLO for the order of complex numbers")
    region = _compared(writer, [term.dtype for term in terms], descending)
    specs = [default_spec(term.dtype, term.shape) for term in terms]
    whole = specs[0] if len(specs) == 1 else ArraySpec.tuple(specs)
    given = [term.instruction for term in terms]
    options = {"dimensions": (axis,), "is_stable": True}
    made = writer.add("sort", whole, given, [region], **options)
    if len(specs) == 1:
        return [Term(writer, made)]
    return [
        Term(writer, writer.add("get-tuple-element", spec, [made], index=k))
        for k, spec in enumerate(specs)
    ]


def _sort(export: Export, x: Any, axis: Any = -1, descending: bool = False, **_: Any) -> Any:
    array, along = line_of(x, axis, "sort")
    return export.result(_sorted(export, [export.term(array)], along, descending)[0])


def _argsort(export: Export, x: Any, axis: Any = -1, descending: bool = False, **_: Any) -> Any:
    array, along = line_of(x, axis, "argsort")
    term = export.term(array)
    numbers = export.writer.term("iota", np.dtype("int64"), term.shape, iota_dimension=along)
    return export.result(_sorted(export, [term, numbers], along, descending)[1])


def _growing(
    opcode: str,
    export: Export,
    x: Any,
    axis: Any = None,
    dtype: Any = None,
    include_initial: bool = False,
) -> Any:
    """Write the folds of all beginnings of a line."""
    array, along = line_of(x, axis, "cumulative fold")
    source = np.dtype(array.dtype if dtype is None else dtype)
    end = source if dtype is not None or kind(source) in "fc" else _summed(source)
    wide = np.dtype(float32) if is_narrow_float(end) else end
    term = export.term(array).cast(wide)
    writer, shape = export.writer, term.shape
    window = [WindowDimension(1)] * len(shape)
    window[along] = WindowDimension(shape[along], padding_low=shape[along] - 1)
    start = writer.constant(np.asarray(int(opcode == "multiply")).astype(wide))
    if shape[along]:
        term = writer.fold("reduce-window", opcode, shape, term, start, window=tuple(window))
    grown = export.result(term.cast(end))
    if not include_initial:
        return grown
    before = list(shape)
    before[along] = 1
    first = export.result(start.cast(end).stretched(before))
    return concat([first, grown], axis=along)


def _without_nan(opcode: str, export: Export, a: Any, axis: Any = None, dtype: Any = None) -> Any:
    """Write the same of elements of which NaN change nothing."""
    array = as_array(a, "cumulative fold")
    if kind(array.dtype) in "fc":
        missing = apply(OPS["isnan"], array)
        array = elementwise.where(missing, int(opcode == "multiply"), array)
    return _growing(opcode, export, array, axis, dtype)


def _summed(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype in which integers and booleans are added up."""
    return np.dtype("uint64" if kind(dtype) == "u" else "int64")


def _standard(opcode: str, export: Export, x: Any, axis: Any = None, **options: Any) -> Any:
    """Write the same as the array API has it: without an axis for vectors alone."""
    rank = as_array(x, "cumulative fold").ndim
    if axis is None and rank != 1:
        raise AxisError(f"cumulative fold: an axis is needed for rank {rank}")
    return _growing(opcode, export, x, -1 if axis is None else axis, **options)


def _searchsorted(export: Export, a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    """How many elements of a line are less (or not greater) than each of some others."""
    if sorter is not None:
        raise HloError("to_hlo: there is no HLO for searchsorted with a sorter")
    line, values = as_array(a, "searchsorted"), expand_dims(as_array(v, "searchsorted"), -1)
    before = apply(OPS["less" if side == "left" else "less_equal"], line, values)
    if kind(values.dtype) == "f":  # NaN is behind everything else
        missing = apply(OPS["isnan"], values)
        if side == "left" and kind(line.dtype) == "f":
            missing = apply(OPS["logical_and"], missing, apply(OPS["equal"], line, line))
        before = apply(OPS["logical_or"], before, missing)
    return reducers.sum(before, axis=-1, dtype="int64")


def _shares(
    export: Export, a: Any, q: Any, axis: Any, keepdims: bool, options: dict[str, Any]
) -> Any:
    """Elements below which shares of all lie, between neighbours by NumPy's linear rule."""
    if options.pop("method", "linear") != "linear" or options.pop("weights", None) is not None:
        raise HloError("to_hlo: there is HLO for shares by the linear rule, without weights, alone")
    array = as_array(a, "quantile")
    along = check_axes(axis, array.ndim, "quantile")
    floats = array if kind(array.dtype) in "fc" else array.astype("float64")
    kept = [size for k, size in enumerate(array.shape) if k not in along]
    count = math.prod([array.shape[k] for k in along])
    last = list(range(-len(along), 0))
    line = reshape(moveaxis(floats, along, last), (*kept, count))
    wide = line.astype("float32") if is_narrow_float(line.dtype) else line
    end = line.dtype
    if not isinstance(q, int | float):  # the dtype of a Python number does not count
        wide = wide.astype(np.result_type(wide.dtype, np.asarray(q)))
        end = wide.dtype if wide.dtype != float32 else end
    ordered = _sort(export, wide)
    greatest = ordered[..., count - 1]
    found = []
    for share in np.asarray(q, ordered.dtype).reshape(-1):
        place = share * (count - 1)
        low = int(np.floor(place))
        rest = place - ordered.dtype.type(low)
        below, above = ordered[..., low], ordered[..., min(low + 1, count - 1)]
        step = above - below
        value = below + step * rest if rest < 0.5 else above - step * (1 - rest)
        whole = elementwise.where(apply(OPS["isnan"], greatest), greatest, value)
        whole = whole.astype(end)
        found.append(expand_dims(whole, tuple(along)) if keepdims else whole)
    return stack(found) if np.ndim(q) else found[0]


def _quantile(
    scale: int,
    export: Export,
    a: Any,
    q: Any,
    axis: Any = None,
    keepdims: bool = False,
    **rest: Any,
) -> Any:
    share = q / scale if isinstance(q, int | float) else np.asarray(q) / scale
    return _shares(export, a, share, axis, keepdims, rest)


def _median(export: Export, a: Any, axis: Any = None, keepdims: bool = False, **_: Any) -> Any:
    if not as_array(a, "median").size:  # the mean of nothing, as NumPy has it
        return means.mean(a, axis=axis, keepdims=keepdims)
    return _shares(export, a, 0.5, axis, keepdims, {})


#: What is written for functions by name; takes the export and the arguments.
CALLS: Final[Mapping[str, Callable[..., Any]]] = MappingProxyType(
    {
        "argsort": _argsort,
        "cumprod": partial(_growing, "multiply"),
        "cumsum": partial(_growing, "add"),
        "cumulative_prod": partial(_standard, "multiply"),
        "cumulative_sum": partial(_standard, "add"),
        "median": _median,
        "nancumprod": partial(_without_nan, "multiply"),
        "nancumsum": partial(_without_nan, "add"),
        "percentile": partial(_quantile, 100),
        "quantile": partial(_quantile, 1),
        "searchsorted": _searchsorted,
        "sort": _sort,
        **ALGEBRA,
        **TRANSFORMS,
    }
)
