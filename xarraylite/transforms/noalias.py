"""`noalias`: the caller's word that the destination is not read in another order."""

from __future__ import annotations

from typing import Any

from .._config import settings
from .._errors import NotWritableError
from ..arrays import basic_indexing
from ..arrays.container import XContainer
from ..arrays.expression import XExpression, apply
from ..assignment import writes
from ..assignment.inplace import InPlace
from ..assignment.readers import HELD_SETITEM, called, is_held, own_of
from ..jagged.array import XJagged
from ..labels.labelled import XLabelled
from ..ops.op import Op
from ..xtensor_views.picked import XPicked


class NoAlias(InPlace):
    """A destination whose assignments make no alias analysis and no temporary for it.

    Attributes
    ----------
    target : XContainer or XJagged
        The destination.
    """

    __slots__ = ("target",)

    def __init__(self, target: XContainer | XJagged | XPicked) -> None:
        self.target = target

    def assign(self, value: object) -> XContainer | XPicked:
        """Assign by the container's rule, without alias analysis.

        Raises
        ------
        NotWritableError
            For a jagged destination, which never changes shape.
        """
        if isinstance(self.target, XJagged):
            raise NotWritableError(
                f"assign: {self.target.summary()} never changes shape; assign to [...]"
            )
        held = is_held(value, called.assign)
        self.target._assign(value, held, True)
        return self.target

    def __getitem__(self, key: Any) -> Any:
        """Return a part of the destination under the same promise; labels for a text."""
        part = self.target[key]
        return part if isinstance(part, XLabelled) else noalias(part)

    def __setitem__(self, key: Any, value: object) -> None:
        """Assign by the view rule, without alias analysis."""
        held = is_held(value, HELD_SETITEM)
        if value.__class__ is XExpression and isinstance(self.target, XContainer):
            still = self.target._still()
            to = still if key is Ellipsis else basic_indexing.part(still, key)
            if to is not None and writes.promised(to, value, held):
                return
        if not isinstance(value, NoAlias):  # the end of ``noalias(c)[key] += e``
            self.target._store(key, value, held, True)

    def __repr__(self) -> str:
        return f"noalias({self.target.summary()})"

    def _update(self, op: Op, value: object, held: bool) -> None:
        to: Any = self.target
        to = to._still() if isinstance(to, XContainer) else to
        plain = value.__class__ is XExpression or isinstance(value, XContainer)
        fast = plain and isinstance(to, XContainer) and not settings.check_noalias
        fast = fast and not (held and own_of(to._buffer, value))  # which expires
        if not fast or not writes.promised(to, apply(op, to, value), False):
            to._update(op, value, held, True)


def noalias(destination: object) -> NoAlias:
    """Promise that what is assigned does not read the destination in another order.

    Reading each element where it is written (``noalias(a)[...] = a + b``) keeps the promise.
    The assigned expression counts as used up: if it reads the destination it cannot be evaluated
    again.  If the promise is broken the values written are undefined, but no memory outside the
    destination is touched; under the ``check_noalias`` setting an error is raised instead.

    Parameters
    ----------
    destination : container or view
        The destination, or a view of it.

    Returns
    -------
    NoAlias
        Takes ``.assign(e)``, ``[key] = e`` and in-place operators.

    Raises
    ------
    NotWritableError
        If ``destination`` is no container.
    NoAliasError
        On assignment, under ``check_noalias``, if the promise is broken.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a, b = xl.ones(3), xl.asarray([1.0, 2.0, 3.0])
    >>> xl.noalias(a)[...] = b * 2
    >>> a
    XArray([2., 4., 6.])
    """
    return promised(destination)


def promised(destination: object) -> NoAlias:
    """Return a destination under the promise; see `noalias`."""
    if not isinstance(destination, XContainer | XJagged | XPicked):
        raise NotWritableError(
            f"noalias: the destination must be a container, got {type(destination).__name__}"
        )
    return NoAlias(destination)
