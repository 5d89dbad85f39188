"""Elements in memory and values in registers, for every kind of storage.

A storage is named as `tokens` does: ``f64``, ``i8``, ``b1`` (a byte that is 0 or not), ``c64``
(two parts side by side), ``packed1`` to ``packed4`` (codes of so many bits that share a byte, the
first in the lowest bits) and ``truth1`` (the same of one bit, as bools).

Where elements share bytes, addresses and indices count elements.  A store reads the byte, so
elements of one byte must be written by one thread.
"""

from __future__ import annotations

from .builder import Builder, Value
from .routine import LLVM


def fetch(b: Builder, storage: str, address: Value, index: Value | int, scope: str) -> Value:
    """Emit the load of element ``index`` from an address."""
    if storage == "b1":
        byte = b.load("i8", address, index, scope)
        return b.make("i1", f"icmp ne i8 {byte.text}, 0")
    if storage.startswith(("packed", "truth")):
        return _fetch_packed(b, storage, address, index, scope)
    kind = LLVM[storage]
    if storage.startswith("c"):
        part = "float" if storage == "c64" else "double"
        real = b.load(part, address, index * 2, scope)
        imag = b.load(part, address, index * 2 + 1, scope)
        half = b.make(kind, f"insertvalue {kind} poison, {part} {real.text}, 0")
        return b.make(kind, f"insertvalue {kind} {half.text}, {part} {imag.text}, 1")
    return b.load(kind, address, index, scope)


def keep(
    b: Builder, storage: str, value: Value, address: Value, index: Value | int, scope: str
) -> None:
    """Emit the store of element ``index`` from an address."""
    if storage == "b1":
        b.store(b.make("i8", f"zext i1 {value.text} to i8"), address, index, scope)
    elif storage.startswith(("packed", "truth")):
        _keep_packed(b, storage, value, address, index, scope)
    elif storage.startswith("c"):
        part = "float" if storage == "c64" else "double"
        for k in range(2):
            one = b.make(part, f"extractvalue {value.type} {value.text}, {k}")
            b.store(one, address, index * 2 + k, scope)
    else:
        b.store(value, address, index, scope)


def _byte_of(b: Builder, storage: str, address: Value, index: Value | int) -> tuple[Value, Value]:
    """Return the address of the byte that holds an element, and by how many bits to shift it."""
    bits = int(storage[-1])
    at = address + index
    number = at & (8 // bits - 1)
    shift = b.make("i8", f"trunc i64 {(number * bits).text} to i8")
    return at // (8 // bits), shift


def _fetch_packed(
    b: Builder, storage: str, address: Value, index: Value | int, scope: str
) -> Value:
    byte, shift = _byte_of(b, storage, address, index)
    held = b.load("i8", byte, 0, scope)
    code = b.make("i8", f"lshr i8 {held.text}, {shift.text}") & ((1 << int(storage[-1])) - 1)
    if storage.startswith("packed"):
        return code
    return b.make("i1", f"icmp ne i8 {code.text}, 0")


def _keep_packed(
    b: Builder, storage: str, value: Value, address: Value, index: Value | int, scope: str
) -> None:
    byte, shift = _byte_of(b, storage, address, index)
    mask = (1 << int(storage[-1])) - 1
    if storage.startswith("packed"):
        code = value & mask
    else:
        code = b.make("i8", f"zext i1 {value.text} to i8")
    taken = b.make("i8", f"shl i8 {mask}, {shift.text}")
    hole = b.make("i8", f"xor i8 {taken.text}, -1")
    kept = b.load("i8", byte, 0, scope) & hole
    b.store(kept | b.make("i8", f"shl i8 {code.text}, {shift.text}"), byte, 0, scope)


def stream_line(b: Builder, destination: Value, source: Value) -> None:
    """Move 64 aligned bytes past the caches: a full line is written without being read first."""
    line = b.load("<8 x i64>", source, 0, "tmp", align=64)
    b.store(line, destination, 0, "dst", align=64, streamed=True)
