"""A view under another shape, where strides cannot say it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..arrays.container import XContainer
from ..arrays.expression import XExpression
from ..assignment import elements
from ..assignment.assign import fit, write
from ..dtypes.names import NumpyArray
from ..index import transform as steps
from ..ir import build
from ..ir.node import Node
from .items import Positions
from .picked import XPicked


class XReshapeView(XPicked):
    """A container's elements in row-major order under a shape that its strides cannot say.

    Its dimensions may be in any order, so that it is also what `reshape_view` makes in column-major
    order.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.zeros((2, 4))
    >>> v = xl.reshape_view(a[:, :2], 4)
    >>> v[...] = [1, 2, 3, 4]
    >>> a
    XArray([[1., 2., 0., 0.],
            [3., 4., 0., 0.]])
    """

    __slots__ = ("_axes",)

    _axes: tuple[int, ...]

    @classmethod
    def of(
        cls, base: XContainer, shape: tuple[int, ...], axes: tuple[int, ...] | None = None
    ) -> XReshapeView:
        """Return the view of a container under a shape of the same size, in an order of axes."""
        order = tuple(range(len(shape))) if axes is None else axes
        self = cls._over(base, tuple([shape[k] for k in order]))
        self._axes = order
        return self

    def _back(self) -> tuple[int, ...]:
        """Return where in the view each dimension of the shape is."""
        axes = self._axes
        return axes if len(axes) == 1 else tuple(sorted(range(len(axes)), key=axes.__getitem__))

    def _whole(self) -> tuple[int, ...]:
        """Return the shape, its dimensions in their own order."""
        return tuple([self._shape[k] for k in self._back()])

    def over(self, base: XContainer) -> XReshapeView:
        """Return the view of the same elements of another container of the base's shape."""
        made = self._over(base, self._shape)
        made._axes = self._axes
        return made

    def gathered(self) -> Node:
        """Return the elements as the kernel that reads them takes them."""
        return _permuted(build.reshape(self.base.node, self._whole()), self._axes)

    def positions(self) -> Positions:
        """Return where each element stands in the row-major order of the base's elements."""
        return np.arange(self.size, dtype=np.int64).reshape(self._whole()).transpose(self._axes)

    def _at(self, index: tuple[int, ...]) -> Any:
        place = 0
        for k in self._back():
            range(self._shape[k])[index[k]]  # which says whether it is in range
            place = place * self._shape[k] + index[k] % self._shape[k]
        return elements.array_of(self._base)[np.unravel_index(place, self._base.shape)]

    def _numbers(self) -> Iterable[Any]:
        return elements.array_of(self._base).flat

    def _fill(self, out: NumpyArray) -> None:
        values = elements.array_of(self._base)
        out[...] = values.reshape(self._whole()).transpose(self._axes)

    def _scatter(self, values: NumpyArray) -> None:
        if not np.ndim(values):
            elements.array_of(self._base)[...] = values
            return
        back = np.broadcast_to(values, self._shape).transpose(self._back())
        elements.array_of(self._base)[...] = back.reshape(self._base.shape)

    def _view(self, step: steps.Transform) -> XExpression:
        goes = [axis for _, _, axis in step.maps]
        if sorted(goes) == list(range(len(step.shape))):
            order = tuple([goes.index(k) for k in range(len(goes))])
            if step == steps.permute(self._shape, order):
                axes = tuple([self._axes[k] for k in order])
                return self.of(self.base, self._whole(), axes)
        return super()._view(step)

    def _reshaped(self, shape: tuple[int, ...]) -> XExpression:
        if self._axes != tuple(range(len(self._axes))):
            return super()._reshaped(shape)
        return self.base._reshaped(shape) if shape == self.base.shape else self.of(self.base, shape)

    def _write(self, node: Node, value: object, held: bool) -> None:
        fitted = _permuted(fit(node, self), self._back())
        write(self.base, build.reshape(fitted, self.base.shape), value, held, False)


def _permuted(node: Node, axes: tuple[int, ...]) -> Node:
    own = tuple(range(len(axes)))
    return node if axes == own else build.view(node, steps.permute(node.shape, axes))
