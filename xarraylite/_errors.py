"""Every error this package raises on purpose.

Each class also inherits the builtin that NumPy users would catch, so ``except ValueError``
keeps working.  A message names the operation, what it received (shapes, dtypes, layouts) and
the rule that was broken, in that order.
"""

from __future__ import annotations

import os
import sys
import warnings

import numpy as np


class XarrayliteError(Exception):
    """Base class of all errors raised on purpose by this package."""


class InputError(XarrayliteError, ValueError):
    """A command cannot do what it was asked; the message is for its user."""


class ShapeError(XarrayliteError, ValueError):
    """A shape, rank or size does not fit the operation."""


class BroadcastError(ShapeError):
    """Shapes cannot be broadcast together, or into the destination."""


class AxisError(ShapeError, np.exceptions.AxisError):
    """An axis is out of range or named twice."""


class AxisTypeError(AxisError, TypeError):
    """An axis is no integer."""


class ExtentTypeError(ShapeError, TypeError):
    """An extent is no integer."""


class SizeError(ShapeError, OverflowError):
    """A size, stride or offset does not fit the address space or the configured limit."""


class DTypeError(XarrayliteError, TypeError):
    """A dtype is unsupported, or not allowed by the operation."""


class DTypeValueError(DTypeError, ValueError):
    """A dtype is asked for what others have."""


class CastError(DTypeError):
    """A cast is not allowed by the casting rule of the operation."""


class LayoutError(XarrayliteError, ValueError):
    """Strides or a layout do not fit the container or the buffer."""


class LayoutParseError(LayoutError):
    """The text of a layout or an array spec is malformed.

    Attributes
    ----------
    text : str
        What was parsed, shortened if it is long.
    column : int
        Where it went wrong, counted from 1.
    """

    def __init__(self, message: str, text: str = "", column: int = 1) -> None:
        super().__init__(f"{message} at column {column} of {_excerpt(text)}")
        self.text = text
        self.column = column
        self._message = message

    def __reduce__(self) -> tuple[type[LayoutParseError], tuple[str, str, int]]:
        return LayoutParseError, (self._message, self.text, self.column)


class IndexRangeError(XarrayliteError, IndexError):
    """An index is out of range, or of a kind that is not supported."""


class SliceTypeError(IndexRangeError, TypeError):
    """A bound or the step of a slice is no integer."""


class SliceStepError(IndexRangeError, ValueError):
    """The step of a slice is zero."""


class BoundsError(ShapeError, IndexRangeError):
    """An index or a box lies outside the shape it is applied to."""


class ReadOnlyError(XarrayliteError, ValueError):
    """The destination's memory is read-only."""


class NotWritableError(XarrayliteError, TypeError):
    """The destination is a lazy expression, which owns no memory to write to."""


class OverlapError(XarrayliteError, ValueError):
    """A destination addresses one element of memory more than once."""


class NoAliasError(XarrayliteError, RuntimeError):
    """``noalias`` was promised for operands that do alias the destination."""


class StaleOperandError(XarrayliteError, RuntimeError):
    """An operand was overwritten after the expression was written."""


class TracedValueError(XarrayliteError, TypeError):
    """A function traced by ``xl.jit`` asked one of its arguments for a value."""


class FormatError(XarrayliteError, ValueError):
    """A file is truncated, oversized, hostile or of an unsupported kind."""


class HloError(XarrayliteError, ValueError):
    """An HLO text is malformed, or a module breaks one of HLO's rules.

    Attributes
    ----------
    line, column : int
        Where in the text, counted from 1; 0 for a module that is no text.
    instruction : str
        Name of the instruction that is wrong, or an empty text.
    expected : str
        What was expected instead.
    """

    def __init__(
        self, expected: str, line: int = 0, column: int = 0, instruction: str = "", shown: str = ""
    ) -> None:
        where = f"line {line}, column {column}: " if line else ""
        who = f"{instruction}: " if instruction else ""
        quoted = f" in {_excerpt(shown)}" if shown else ""
        super().__init__(f"{where}{who}{expected}{quoted}")
        self.expected = expected
        self.line = line
        self.column = column
        self.instruction = instruction
        self._shown = shown

    def __reduce__(self) -> tuple[type[HloError], tuple[str, int, int, str, str]]:
        given = (self.expected, self.line, self.column, self.instruction, self._shown)
        return HloError, given


class StorageError(XarrayliteError, OSError):
    """An array that is kept elsewhere cannot be opened, read, written or resumed."""


class CacheWarning(UserWarning):
    """The on-disk kernel cache cannot be used; kernels stay in memory."""


def _excerpt(text: str, limit: int = 200) -> str:
    """Return a text as it is quoted in a message; long ones lose their middle."""
    if len(text) > limit:
        text = f"{text[: limit // 2]}...{text[-limit // 2 :]}"
    return repr(text)


_PACKAGE = os.path.join(os.path.dirname(__file__), "")


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn at the first line below on the stack that is not this package's own.

    How many calls lie between differs from route to route; Python counts them itself only from
    3.12 on (``skip_file_prefixes``).

    Parameters
    ----------
    message : str
        Text of the warning.
    category : type
        Its class.
    """
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
