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
to make than to run.

``e += b`` needs no memory as long as the expression is short and has no views: the handle stands
for the sum from then on, still lazy.
"""

from __future__ import annotations

import sys
import weakref
from math import prod
from typing import Any

from ..assignment import results
from ..assignment.readers import OWNED
from ..dtypes.names import bool_, float64
from ..index.broadcast import infer_extent
from ..index.transform import Transform
from ..ir.kind import NODE
from ..ir.walk import is_long, twin
from ..layout.strided import Strided
from ..memory.block import Memory
from ..memory.buffer import COUNTS
from ..memory.snapshots import Snapshot
from ..operands import tracing
from ..operands.convert import computed
from ..operands.nodes import unwrapped
from ..runtime.counting import evaluations
from .recomputed import Recomputed, outlined

#: Operations up to which an updated expression stays lazy.
_SHORT = 32

#: Nodes from which a lazy operand is computed before more is built on it.  What is small costs
#: little to keep, and kernels of loops that build on their own results seconds to compile; what is
#: large stays together: a hillshade, as long a formula as people write at once, has 144.
_FEW, _LONG = 32, 160

#: Bytes up to which a result is small, and up to which it stays in a cache.
_SMALL, _CACHED = 1 << 15, 1 << 20

#: Bytes up to which a result is computed before it is viewed, in a loop: where so many like it were
#: viewed.  What is larger, and stays in a cache, has so many nodes then, and is seen almost whole.
_WHOLE, _BRIEF, _OFTEN = 1 << 17, 12, 8

#: Bytes of a result that are kept however little it reads.
_LITTLE = 1 << 16

#: When what has values was used: before any evaluation.
_ALWAYS = -1

#: Members from which those that are gone are looked for.
_MANY = 16


class Owning:
    """What a handle has to do with writing; see the module docstring.

    Attributes
    ----------
    memory : XContainer or None
        What the handle stands for since it was written.
    values : tuple or None
        The values, if they were computed, behind the operands that they are of; nobody writes them.
    copy : tuple or None
        A copy of them that views read, behind the operands that they are of.
    root : XExpression or None
        The result that the handle is a view of.
    origin : tuple of int
        Shape of the result that the first of the views was of, whoever holds it.
    path : tuple of (Transform, shape or part)
        The views that lead from there to it: under another index, of another shape, or a part
        of complex elements.
    begin : int
        How many of them lead to ``root``.
    family : list of weak references
        The result and its views.
    """

    __slots__ = ("begin", "copy", "family", "memory", "origin", "path", "root", "values")

    def __init__(self) -> None:
        self.memory: Any = None
        self.values: Any = None
        self.copy: Any = None
        self.root: Any = None
        self.origin: tuple[int, ...] = ()
        self.path: tuple[Any, ...] = ()
        self.begin = 0
        self.family: list[weakref.ref[Any]] = []

    def source(self) -> Any:
        """Return the result that the handle is a view of, if others hold it or a view of it."""
        root = self.root
        if root is not None and COUNTS and sys.getrefcount(root) <= OWNED + 1:
            del root  # which only this view holds
            if len(self.members()) <= 2:  # the two of them
                self.root = None
        return self.root

    def place(self) -> Strided:
        """Return where a view's elements would lie in the memory of its family."""
        place = Strided.row_major(self.origin)
        for step in self.path:
            if isinstance(step, int):
                place = Strided(place.shape, tuple([2 * stride for stride in place.strides]))
            elif isinstance(step, Transform):
                place = place.apply(step)
            else:
                place = place.reshape(step) or Strided.row_major(step)
        return place

    def members(self) -> list[Any]:
        """Return the handles of the family that are alive."""
        found = [member() for member in self.family]
        return [member for member in found if member is not None]


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
    root = _source(e, mine)
    if mine.memory is None and root is not None and memory(root) is None:
        memory_of(root)  # which gives its views theirs
    if mine.memory is not None:
        return mine.memory
    made = values_of(e)
    _stand_for(e, made)
    for member in mine.members():
        its = owning(member)
        if its.source() is e:
            view = made
            for step in its.path[its.begin :]:
                view = _viewed(view, step)
            if hasattr(view, "buffer"):  # else it is a copy in NumPy too
                _stand_for(member, view)
    return made


def values_of(e: Any) -> Any:
    """Return the container of a lazy result's values, which is kept where they are its own."""
    operands = e._operands
    known = owning(e).values
    if known is not None and known[0] is operands:
        return known[1]
    made = None if e._kind is NODE else results.evaluate(e)
    if made is None:
        made = computed(e, "eval")
    if e._kind is not NODE and e._operands is operands:  # it reads nothing late, and is the same
        owning(e).values, e._used = (operands, made), _ALWAYS
    return made


def used(plain: type[Any], x: object) -> Any:
    """Return what stands behind an operand of which no view is made.

    Parameters
    ----------
    plain : type
        The class of lazy results that are nothing more.
    x : object
        The operand.
    """
    x = unwrapped(x)
    if x.__class__ is plain:
        return kept(x)
    return x._still() if isinstance(x, plain._container) else x


def kept(e: Any) -> Any:
    """Return an operand; its values if its use is noted, and it was used before an evaluation."""
    used = getattr(e, "_used", None)
    if (used is None and not e._kind.noted) or e._kind is NODE or tracing.is_active():
        return e
    if used == _ALWAYS:
        copy = owning(e).copy
        return values_of(e) if copy is None or copy[0] is not e._operands else copy[1]
    now = evaluations.value
    e._used = now
    if used is None or used == now:
        return e
    nbytes = e.size * e._kind.itemsize
    if nbytes > _LITTLE and not e._kind.expensive:
        return e
    reads = {item.address: item.nbytes for item in e._operands if isinstance(item, Memory)}
    if nbytes > max(_LITTLE, 2 * sum(reads.values())):
        return e  # as where much is stretched, to be folded
    try:
        return values_of(e)
    except Exception:
        return e  # whoever evaluates it is told what is wrong


def _viewed(of: Any, step: Any) -> Any:
    if isinstance(step, Transform):
        return of._view(step)
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
    return memory_of(e) if weight > most else e


def to_view(e: Any, shape: tuple[int, ...]) -> Any:
    """Return a lazy result of which a view of a shape is made; its values in a loop.

    There a result of some length would be planned and computed for each of its views, and each
    view of a small one takes longer to plan than all of it to compute.
    """
    kind = e._kind
    if kind.weight <= 1 or kind is NODE or tracing.is_active():
        return e
    size = e.size
    nbytes = size * kind.itemsize
    if nbytes > _WHOLE and (kind.weight <= _BRIEF or 2 * prod(shape) < size or nbytes > _CACHED):
        return e
    if kind.viewed == _OFTEN:
        return _copied(e)
    kind.viewed += 1
    return e


def _copied(e: Any) -> Any:
    """Return an expression of a copy of a result's values, which are in rows; else the result."""
    mine, operands = owning(e), e._operands
    if mine.copy is not None and mine.copy[0] is operands:
        return mine.copy[1]
    part = e._kind, e._shape, outlined(e._kind, operands)
    values = results.evaluate(e)
    if values is None or values._kind is NODE or values._kind.strides is not None:
        return e
    made = object.__new__(e.__class__)
    told = Recomputed(part, lambda node: node, e._kind.dtype)
    made._kind, made._shape = values._kind, e._shape
    made._operands = (Snapshot.of_values(values._buffer, told), values._start)
    mine.copy, e._used = (operands, made), _ALWAYS
    return made


def _stand_for(e: Any, container: Any) -> None:
    """Have a handle stand for a container: it has no kind of its own and no snapshot."""
    mine = owning(e)
    mine.memory, mine.values = container, None
    e._kind, e._operands, e._node = NODE, (), None


def assign_shape(e: Any, shape: Any) -> None:
    """Have a handle stand for its values under another shape of the same size.

    Raises
    ------
    ShapeError
        If the sizes differ.
    AttributeError
        If the values do not lie so that strides could say it.
    """
    target = infer_extent(shape, e.size)
    made = memory_of(e)._reshaped(target)
    if not hasattr(made, "buffer"):
        raise AttributeError(f"shape: {e.summary()} is no view under {target}; use reshape")
    _stand_for(e, made)
    e._shape = target


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
    """Tell whether an updated handle may stand for the lazy result."""
    if tracing.is_active():
        return True
    known = getattr(e, "_owning", None)
    if known is not None and (
        known.memory is not None or known.source() is not None or len(known.members()) > 1
    ):
        return False
    return result._kind is not NODE and result._kind.weight <= _SHORT


def become(e: Any, result: Any) -> None:
    """Have a handle stand for another expression of its shape and dtype."""
    if hasattr(e, "_used"):
        owning(e).values = None
        del e._used
    e._kind, e._operands = result._kind, result._operands
    if e._kind is NODE:
        e._node = twin(result.node)  # two handles of one node would take it for their own
