"""A view under another shape, where strides cannot say it."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..arrays.container import XContainer
from ..arrays.expression import XExpression
from ..assignment import elements
from ..assignment.assign import fit, write
from ..dtypes.names import NumpyArray
from ..index.transform import Transform
from ..ir import build
from ..ir.node import Node
from ..layout.strided import Strided
from .items import Positions
from .picked import XIndexView, XPicked, places


class XReshapeView(XPicked):
    """A container's elements in row-major order under a shape that its strides cannot say.

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

    __slots__ = ()
    _title: ClassVar[str] = "XReshapeView"

    @classmethod
    def of(cls, base: XContainer, shape: tuple[int, ...]) -> XReshapeView:
        """Return the view of a container under a shape of the same size."""
        return cls._over(base, shape)

    def gathered(self) -> Node:
        """Return the elements as the kernel that reads them takes them."""
        return build.reshape(self.base.node, self._shape)

    def positions(self) -> Positions:
        """Return where each element stands in the row-major order of the base's elements."""
        return np.arange(self.size, dtype=np.int64).reshape(self._shape)

    def _fill(self, out: NumpyArray) -> None:
        out.reshape(self._base.shape)[...] = elements.array_of(self._base)

    def _scatter(self, values: NumpyArray) -> None:
        shape = self._base.shape
        elements.array_of(self._base)[...] = np.broadcast_to(values, self._shape).reshape(shape)

    def _view(self, step: Transform) -> XExpression:
        return XIndexView.of(self.base, places(Strided.row_major(self._shape).apply(step)))

    def _reshaped(self, shape: tuple[int, ...]) -> XExpression:
        return self.base._reshaped(shape) if shape == self.base.shape else self.of(self.base, shape)

    def _write(self, node: Node, value: object, held: bool) -> None:
        fitted = fit(node, self)
        write(self.base, build.reshape(fitted, self.base.shape), value, held, False)
