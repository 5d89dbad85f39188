"""Writing into a lazy result: it gets memory of its own first.

``e = a * 2`` is an array to NumPy's users, who write to it: ``e[0] = 1``, ``e += b``.  The handle
``e`` then stands for a container with the expression's values (`memory_of`), into which this and
all later writes go.  What was written in terms of ``e`` before keeps what it meant; what is written
afterwards reads the container.

Views of a lazy result (``e[1:]``, ``e.T``) are expressions of their own until somebody writes.
All handles that are alive and views of one result are a family: where one is written, the result
is evaluated and the others become views of the same memory, as they are in NumPy.  Views hold their
result, as NumPy's hold their base, and know each other weakly.  Where nobody holds the result but
its last view, that view is a result of its own: only what it shows need be computed.

A result on which more and more is built is computed before it gets too long (`shortened`):
``x = 0.9 * x + b`` in a loop would else compute all its past for every value that is asked for,
with a new kernel each time.

What is expensive is not computed for every value that is asked for.  A result that an operator or
a whole fold took before something was evaluated, and takes again afterwards, is computed then, and
its values are kept beside the handle (`kept`): ``y = xl.exp(x)`` of which one asks for the sum,
then for the maximum, or labels that a loop compares with one number after another.  So is what
NumPy is given of a lazy result (`values_of`).  Few cheap operations are done again wherever they
are read, which costs less than memory, unless there are few elements, of which a kernel costs more
to make than to run.  In a loop, where eight were used again or viewed, each of two operations or
more that reads what was computed so is computed at its second use.  What a loop makes would else
grow into what it makes of that, another expression at every step.
Among other operands a copy of the values stands for the result, which knows what it is of, so that
nothing that looks at expressions (`late`, `to_hlo`) depends on what was computed when.

``e += b`` needs no memory as long as the expression is short and has no views: the handle stands
for the sum from then on, still lazy.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from ..assignment import elements, results
from ..dtypes.names import bool_, float64
from ..index.transform import Transform
from ..ir.kind import NODE
from ..ir.walk import is_long, reads_anew, twin
from ..layout.strided import DYNAMIC, Strided
from ..memory.block import Memory
from ..memory.snapshots import Snapshot
from ..operands import tracing
from ..operands.convert import computed
from ..operands.nodes import borrowed, unwrapped
from ..runtime.counting import evaluations, reuses
from .families import Owning, indexed_by
from .recomputed import Recomputed, depth_of, outlined, unchanged

#: Operations up to which an updated expression stays lazy.
_SHORT = 32

#: Nodes from which a lazy operand is computed before more is built on it.  What is small costs
#: little to keep, and kernels of loops that build on their own results seconds to compile; what is
#: large stays together: a hillshade, as long a formula as people write at once, has 144.
_FEW, _LONG = 32, 160

#: Bytes up to which a result is small, and up to which it stays in a cache.
_SMALL, _CACHED = 1 << 15, 1 << 20

#: Bytes up to which a result is computed before it is viewed, where so many were used again.  What
#: is larger, and stays in a cache, has so many nodes then and is seen almost whole, or in parts.
_WHOLE, _BRIEF, _OFTEN = 1 << 17, 12, 8

#: Bytes of a result that are kept however little it reads, or because it is used again in a loop.
_LITTLE = 1 << 16

#: Members from which those that are gone are looked for.
_MANY = 16


def owning(e: Any) -> Owning:
    """Return what a handle has to do with writing, noted with the handle from now on."""
    try:
        known: Owning = e._owning
    except AttributeError:
        known = e._owning = Owning()
        known.family.append(weakref.ref(e))
    return known


def memory(e: Any) -> Any:
    """Return the container that a handle stands for since it was written; None if it was not."""
    known = getattr(e, "_owning", None)
    return None if known is None else known.memory


def related(of: Any, made: Any, step: Any) -> Any:
    """Return a view of a lazy result, and remember whose view it is.

    Parameters
    ----------
    of, made : XExpression
        The result, or a view of it, and the view of that.
    step : Transform, tuple of int or int
        The view: under another index, of another shape, or of real (0) or imaginary (1) parts.
    """
    if tracing.is_active():
        return made
    if memory(of) is not None:  # since the view was asked for: the result had got long
        return _viewed(memory(of), step)
    if is_value(of):
        return made  # of a scalar NumPy makes another array
    its = owning(of)
    root = _source(of, its)
    if step.__class__ is tuple and _place(of).reshape(step) is None:
        owning(made)
        return made  # a copy in NumPy too
    mine = made._owning = Owning()
    mine.origin, mine.path = its.origin if its.path else of._shape, (*its.path, step)
    mine.begin = len(its.path) if root is None else its.begin
    mine.root = of if root is None else root
    mine.family = its.family
    if len(mine.family) >= _MANY:
        mine.family[:] = [weakref.ref(member) for member in its.members()]
    mine.family.append(weakref.ref(made))
    return made


def _source(e: Any, its: Owning) -> Any:
    """Return what a handle is a view of, also if it alone holds it but is a view of all elements.

    So what is transposed lies as NumPy's does.
    """
    root = its.root
    return root if root is not None and root.size == e.size else its.source()


def memory_of(e: Any) -> Any:
    """Return the container that a handle stands for, made of its values if there is none yet."""
    mine = owning(e)
    while mine.memory is None and (root := _source(e, mine)) is not None and memory(root) is None:
        memory_of(root)  # which gives its views theirs, or has them be views of a copy
    if mine.memory is not None:
        return mine.memory
    known = _noted(e)
    made = _evaluated(e) if known is None else known[2].copy()
    stand_for(e, made)
    copies: dict[tuple[int, ...], Any] = {}
    for member in mine.members():
        its = owning(member)
        if its.source() is e:
            view, count = made, its.begin
            while count < len(its.path) and hasattr(view, "buffer"):
                view, count = _viewed(view, its.path[count]), count + 1
            if hasattr(view, "buffer"):
                stand_for(member, view)
            else:  # a copy in NumPy too
                rest = its.path[count:]
                copy = copies.setdefault(tuple(map(id, its.path[:count])), None if rest else member)
                _set_apart(member, its, copy, rest)
    return made


def _set_apart(e: Any, mine: Owning, copy: Any, path: tuple[Any, ...]) -> None:
    """Have a handle be, or be a view of, a copy of the result that it was said to be a view of."""
    mine.root, mine.path, mine.begin = None, (), 0
    mine.family = [weakref.ref(e)]
    if copy is not None and copy is not e:
        mine.root, mine.origin, mine.path = copy, copy._shape, path
        mine.family = owning(copy).family
        mine.family.append(weakref.ref(e))


def remembered(e: Any) -> Any:
    """Return the memory of a lazy array, which is its own from now on; others as they are.

    Those are values, what reads anew each time, and all while a function is traced.
    """
    if not hasattr(e, "_operands") or hasattr(e, "buffer") or tracing.is_active() or is_value(e):
        return e
    return e if e._kind is NODE and reads_anew(e.node) else memory_of(e)


def values_of(e: Any) -> Any:
    """Return the container of a lazy result's values, which is kept where they are its own.

    Nobody writes to it.
    """
    known = _noted(e)
    return _computed(e)[1] if known is None else known[2]


def _computed(e: Any) -> tuple[Any, Any]:
    """Return what stands for a lazy result among operands, and its values; both are kept.

    What stands for it is an expression of a copy, which says what it is of, where values lie by
    rows.
    """
    operands, kind = e._operands, e._kind
    part = None if kind is NODE else (kind, e._shape, outlined(kind, operands))
    values = _evaluated(e)
    if e._kind is NODE or e._operands is not operands:
        return values, values  # it reads what is late, or has been written meanwhile
    stands = values
    if values._kind is not NODE and values._kind.strides is None:
        told = Recomputed(part, unchanged, kind.dtype)
        stands = object.__new__(e.__class__)
        stands._kind, stands._shape = values._kind, e._shape
        stands._operands = (Snapshot.of_values(values._buffer, told), values._start)
    e._used = (operands, stands, values)
    return stands, values


def _evaluated(e: Any) -> Any:
    """Return the values of a lazy result in a new container."""
    made = None if e._kind is NODE else results.evaluate(e)
    return computed(e, "eval") if made is None else made


def _noted(e: Any) -> Any:
    """Return what is noted of a lazy result that was computed; None if it was not, or is another.

    Its operands, what stands for it among other operands, and the container of its values.
    """
    used = getattr(e, "_used", None)
    return used if used.__class__ is tuple and used[0] is e._operands else None


def kept(e: Any) -> Any:
    """Return an operand, or what stands for it if it was used before; the use is noted."""
    stands = standing(e)
    if stands is e:
        note_use(e)
    return stands


def used(plain: type[Any], x: object, find: Callable[[Any], Any] = kept) -> Any:
    """Return what stands behind an operand of which no view is made.

    Of an array of NumPy's a container, which has a kind: of its elements where they are few, else
    of its memory.

    Parameters
    ----------
    plain : type
        The class of lazy results that are nothing more.
    x : object
        The operand.
    find : callable, default kept
        Finds what stands for a lazy result; `standing` notes no use.
    """
    x = unwrapped(x)
    if x.__class__ is np.ndarray and elements.is_ordinary(x) and not tracing.is_active():
        own = elements.container_of(plain._container, x)
        return plain._container._own(*borrowed(x, "operand"), DYNAMIC) if own is x else own
    if x.__class__ is plain:
        return find(x)
    return x._still() if isinstance(x, plain._container) else x


def note_use(e: Any) -> None:
    """Note that a lazy result was used, if that is noted of its kind and it is the first time."""
    known = getattr(e, "_used", None).__class__ is int or _noted(e) is not None
    if e._kind.noted and e._kind is not NODE and not known and not tracing.is_active():
        e._used = evaluations.value


def standing(e: Any) -> Any:
    """Return what stands for an operand that was used before; itself if it was not.

    It was used before an evaluation, or it is small, and a loop builds on such results.
    """
    used = getattr(e, "_used", None)
    if used is None or e._kind is NODE or tracing.is_active():
        return e
    known = _noted(e)
    if known is not None:
        return known[1]
    if used.__class__ is not int:
        return e
    nbytes = e.size * e._kind.itemsize
    if nbytes > _LITTLE and not e._kind.expensive:
        return e
    grown = nbytes <= _LITTLE and any(map(depth_of, e._operands))
    if used == evaluations.value and not (grown and _are_often_reused()):
        return e
    reads = {item.address: item.nbytes for item in e._operands if isinstance(item, Memory)}
    if nbytes > max(_LITTLE, 2 * sum(reads.values())):
        return e  # as where much is stretched, to be folded
    try:
        return _computed(e)[0]
    except Exception:
        return e  # whoever evaluates it is told what is wrong


def _are_often_reused() -> bool:
    """Count a result that is used again or viewed; tell whether there were enough for a loop."""
    reuses.value += 1
    return reuses.value > _OFTEN


def _viewed(of: Any, step: Any) -> Any:
    if isinstance(step, list):
        step = indexed_by(of.shape, step)
    if isinstance(step, Transform):
        view = of._view(step)
        if view.size > of.size:  # stretched: one element stands in many places
            view._shield()
        return view
    if isinstance(step, int):
        return of.imag if step else of.real
    return of._reshaped(step)


def indexed(e: Any, key: Any) -> Any:
    """Return the memory that an index is of; of a lazy result, whose part is computed alone, None.

    The result was written, or one of few elements is asked for.
    """
    known = memory(e)
    if known is not None:
        return known
    whole = key if key.__class__ is tuple else (key,)
    if len(whole) != len(e._shape) or {*map(type, whole)} != {int}:
        return None
    if e._kind is NODE or tracing.is_active() or e.size * e._kind.itemsize > _LITTLE:
        return None
    return values_of(e)


def lies_by_rows(e: Any) -> bool:
    """Tell whether a lazy result's elements would lie side by side in its family's memory."""
    return _place(e).is_row_major()


def _place(e: Any) -> Strided:
    its = getattr(e, "_owning", None)
    return its.place() if its is not None and its.path else Strided.row_major(e._shape)


def shortened(e: Any) -> Any:
    """Return an operand, computed if it is a lazy result that has got long."""
    if not hasattr(e, "_operands") or hasattr(e, "buffer") or tracing.is_active():
        return e
    dtype = e.dtype  # masks are made of numbers, which count
    each = float64.itemsize if dtype == bool_ else dtype.itemsize
    most = _FEW if e.size * each <= _SMALL else _LONG
    weight = e._kind.weight if e._kind is not NODE else most + is_long(e.node, most)
    if weight <= most:
        return e
    if e._kind is NODE or e.size * each > _LITTLE:
        return memory_of(e)
    known = _noted(e)
    return _computed(e)[0] if known is None else known[1]


def to_view(e: Any, shape: tuple[int, ...]) -> Any:
    """Return a lazy result of which a view of a shape is made; its values in a loop.

    There a result of some length would be planned and computed for each of its views, and each
    view of a small one takes longer to plan than all of it to compute.
    """
    kind = e._kind
    if kind.weight <= 1 or kind is NODE or tracing.is_active():
        return e
    known, nbytes = _noted(e), e.size * kind.itemsize
    if known is None:
        large = nbytes > _WHOLE and (kind.weight <= _BRIEF or 2 * prod(shape) < e.size)
        if nbytes > _CACHED or (large and not _is_viewed(e, prod(shape))):
            return e
        if not _are_often_reused():
            return e
    stands = _computed(e)[0] if known is None else known[1]
    return stands if stands.__class__ is e.__class__ else e


def _is_viewed(e: Any, size: int) -> bool:
    """Note that so many elements are viewed; tell whether an eighth was: so will be the rest."""
    its = owning(e)  # that machine code makes has seen nothing
    its.seen = getattr(its, "seen", 0) + size
    return _OFTEN * its.seen > int(e.size)


def stand_for(e: Any, container: Any) -> None:
    """Have a handle stand for a container: it has no kind of its own and no snapshot."""
    owning(e).memory = container
    if hasattr(e, "_used"):
        del e._used
    e._kind, e._operands, e._node = NODE, (), None


def is_value(e: Any) -> bool:
    """Tell whether an array is a value, as what NumPy computes of rank 0 is a scalar.

    A history of totals keeps what it took. Views are none, nor is what was written; the product of
    two vectors is, though it is memory.
    """
    if e.shape:
        return False
    buffer = getattr(e, "_buffer", None)
    if buffer is not None:
        return buffer.made is not None
    own = getattr(e, "_owning", None)
    return own is None or (own.memory is None and own.source() is None)


def stays_lazy(e: Any, result: Any) -> bool:
    """Tell whether an updated handle may stand for the lazy result.

    Not where values were asked for: a loop would compute ever longer results for those it asks for.
    """
    if tracing.is_active():
        return True
    if _noted(e) is not None:
        return False
    known = getattr(e, "_owning", None)
    if known is not None and (
        known.memory is not None or known.source() is not None or len(known.members()) > 1
    ):
        return False
    return result._kind is not NODE and result._kind.weight <= _SHORT


def become(e: Any, result: Any) -> None:
    """Have a handle stand for another expression of its shape and dtype."""
    if hasattr(e, "_used"):
        del e._used
    own = memory(result)
    result = result if own is None else own._still()
    e._kind, e._operands = result._kind, result.now()
    if e._kind is NODE:
        e._node = twin(result.node)  # two handles of one node would take it for their own
