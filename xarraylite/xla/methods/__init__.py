"""What can be asked of an array spec beyond its fields, as the methods of `ArraySpec`.

Names are XLA's in snake case; short names are this package's own and exact for every layout.
The methods say what they take and return, and call the functions of the folder above.
"""

from __future__ import annotations

from .bitcast import BitcastMethods
from .compare import CompareMethods
from .dims import DimensionMethods
from .edit import LayoutMethods
from .make import MakeMethods
from .position import PositionMethods
from .size import SizeMethods
from .tree import TreeMethods


class SpecMethods(
    PositionMethods,
    SizeMethods,
    BitcastMethods,
    DimensionMethods,
    LayoutMethods,
    CompareMethods,
    TreeMethods,
    MakeMethods,
):
    """Methods of `ArraySpec` that are computed from its fields."""

    __slots__ = ()
