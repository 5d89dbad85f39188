"""The one table of evaluators, by opcode."""

from __future__ import annotations

from typing import Final

from .collectives import COLLECTIVES
from .control import CONTROL
from .custom_calls import CUSTOM
from .elementwise import ELEMENTWISE
from .indexing import INDEXING
from .linear_algebra import LINEAR_ALGEBRA
from .moves import HEAVY, VIEWS
from .ordering import ORDERING
from .products import PRODUCTS
from .random_bits import RANDOM
from .reductions import FOLDS
from .values import Evaluator
from .windows import WINDOWS

EVALUATORS: Final[dict[str, Evaluator]] = {
    **ELEMENTWISE,
    **VIEWS,
    **HEAVY,
    **FOLDS,
    **WINDOWS,
    **PRODUCTS,
    **INDEXING,
    **ORDERING,
    **CONTROL,
    **CUSTOM,
    **LINEAR_ALGEBRA,
    **RANDOM,
    **COLLECTIVES,
}
"""What each operation computes."""
