"""The buffer protocol of a class written in Python, where C looks for it.

C asks an object for its memory by a function in a slot of its class (PEP 3118).  From Python 3.12
on a class that has ``__buffer__`` has one there (PEP 688); under 3.11 `offer` puts it there.
Machine code takes the slot over where it is loaded (`transforms.natives`).
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from ..runtime.launch import can_launch, from_python, keep_forever, word_at

#: Where a class has the address of its part for buffers, whose first word is the slot.
_PART = 160

_fill = from_python(
    "PyObject_GetBuffer", ctypes.c_int, ctypes.py_object, ctypes.c_void_p, ctypes.c_int
)


def put(cls: type, function: int) -> int:
    """Put the address of a function, which lives forever, into the slot; return what was there."""
    slot = ctypes.c_int64.from_address(word_at(id(cls) + _PART))
    before, slot.value = slot.value, function
    return before


def offer(cls: type, check: Callable[[FrameType], None]) -> None:
    """Have C find ``__buffer__`` of a class, and of those that are derived from it later.

    ``check`` is given the frame that asks first.  What raises is a refusal, but no exception gets
    through a callback of `ctypes`: Python says SystemError where NumPy goes on to ask otherwise.
    """
    if sys.version_info >= (3, 12) or not can_launch():
        return

    def ask(thing: Any, view: int, flags: int) -> int:
        try:
            check(sys._getframe(1))
            return int(_fill(thing.__buffer__(flags), view, flags))
        except BaseException:
            return -1

    function = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p, ctypes.c_int)(ask)
    keep_forever(function)
    put(cls, ctypes.cast(function, ctypes.c_void_p).value or 0)
