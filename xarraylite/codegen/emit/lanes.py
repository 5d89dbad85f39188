"""Folds of many values at once, in vector registers.

Up to `LANES` values in stack scratch are loaded as one vector, those beyond the last one replaced
by the identity, and folded by halving.  The order is fixed, so the result does not depend on the
width of the machine's registers.
"""

from __future__ import annotations

from .builder import Builder, Pace, Value
from .routine import LLVM

#: Values that are folded at once.
LANES = 32

#: Sums that NumPy has side by side, and values that it adds so before it divides them in halves.
SIDES, PAIRWISE = 8, 128

#: Bytes of the values that are folded side by side: eight of the largest registers.
ROW_BYTES = 512

#: What folds two vectors, by operation and kind of register; ``{0}`` is the type.
_PLAIN = {
    "add": {"f": "fadd", "i": "add", "u": "add"},
    "multiply": {"f": "fmul", "i": "mul", "u": "mul"},
}
#: Those of which one changes nothing if it is folded twice: instructions that compare.
ORDER = {
    "maximum": {"f": "ogt", "i": "sgt", "u": "ugt"},
    "minimum": {"f": "olt", "i": "slt", "u": "ult"},
    "fmax": {"f": "ogt"},
    "fmin": {"f": "olt"},
    "larger": {"f": "ogt"},
    "smaller": {"f": "olt"},
}

#: Those that lose NaNs, as `floats.fmax_f` does.
_KNOWN = ("fmax", "fmin")

#: Folds that there are, by name of the operation and of the register type.
LANED = {
    (op, value)
    for op, kinds in {**_PLAIN, **ORDER}.items()
    for value in ("f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
    if value[0] in kinds
}


def fold_lanes(b: Builder, op: str, kind: str, address: Value, count: Value, rest: Value) -> Value:
    """Emit the fold of the first ``count`` values in scratch, ``rest`` standing for the others."""
    element = LLVM[kind]
    many = f"<{LANES} x {element}>"
    values = b.load(many, address, 0, "tmp")
    numbers = ", ".join(f"i64 {k}" for k in range(LANES))
    limit = everywhere(b, count, LANES)
    inside = b.make(f"<{LANES} x i1>", f"icmp slt <{LANES} x i64> <{numbers}>, {limit.text}")
    other = everywhere(b, rest, LANES)
    values = b.make(
        many,
        f"select <{LANES} x i1> {inside.text}, {many} {values.text}, {many} {other.text}",
    )
    return narrowed(b, op, kind, values, LANES)


def fold_as_numpy(b: Builder, op: str, kind: str, address: Value, count: Value) -> Value:
    """Emit the sum or product of up to `PAIRWISE` floats in scratch in the order of NumPy's.

    So a short sum has NumPy's bits: values go to eight sums in turn, neighbours among these are
    added, then what is left beyond whole eights, one by one.  Products are made one by one.
    """
    element, size = LLVM[kind], int(kind[1:]) // 8
    many, whole = f"<{SIDES} x {element}>", count - count % SIDES
    total = b.local(Value(b, element, "0.0"))
    if op == "add":
        with b.when(count > SIDES - 1):
            sides = b.local(b.load(many, address, 0, "tmp"))
            with b.loop(SIDES, whole, SIDES, Pace.SLOW) as j:
                more = b.load(many, address + j * size, 0, "tmp")
                sides.set(fold_vectors(b, op, kind, sides.get(), more, SIDES))
            values, width = sides.get(), SIDES
            while width > 1:
                width //= 2
                even = _picked(b, element, values, range(0, 2 * width, 2))
                odd = _picked(b, element, values, range(1, 2 * width, 2))
                values = fold_vectors(b, op, kind, even, odd, width)
            total.set(_only(b, element, values))
    else:
        whole = b.integer(0)
        total.set(Value(b, element, "1.0"))
    with b.loop(whole, count, 1, Pace.SLOW) as j:
        value = b.load(element, address + j * size, 0, "tmp")
        total.set(fold_vectors(b, op, kind, total.get(), value, 1))
    return total.get()


def narrowed(b: Builder, op: str, kind: str, values: Value, width: int) -> Value:
    """Emit the fold of one vector of ``width`` values, a power of 2."""
    element = LLVM[kind]
    while width > 1:
        width //= 2
        low = _picked(b, element, values, range(width))
        high = _picked(b, element, values, range(width, 2 * width))
        values = fold_vectors(b, op, kind, low, high, width)
    return _only(b, element, values)


def _only(b: Builder, element: str, values: Value) -> Value:
    return b.make(element, f"extractelement <1 x {element}> {values.text}, i32 0")


def everywhere(b: Builder, value: Value, width: int) -> Value:
    """Emit a vector of equal values."""
    many = f"<{width} x {value.type}>"
    first = b.make(many, f"insertelement {many} poison, {value.type} {value.text}, i32 0")
    return b.make(
        many, f"shufflevector {many} {first.text}, {many} poison, <{width} x i32> zeroinitializer"
    )


def _picked(b: Builder, element: str, values: Value, numbers: range) -> Value:
    places = ", ".join(f"i32 {k}" for k in numbers)
    both = f"{values.type} {values.text}, {values.type} poison"
    width = len(numbers)
    return b.make(f"<{width} x {element}>", f"shufflevector {both}, <{width} x i32> <{places}>")


def fold_vectors(b: Builder, op: str, kind: str, low: Value, high: Value, width: int) -> Value:
    """Emit one fold of two vectors; extremes as `floats.maximum_f` has them.

    ``larger`` and ``smaller`` are extremes as users write them, which lose NaNs.
    """
    many = low.type
    if op in _PLAIN:
        return b.make(many, f"{_PLAIN[op][kind[0]]} {many} {low.text}, {high.text}")
    if op in _KNOWN:  # what is NaN gives way to the other
        chosen = _chosen(b, op, kind, high, low, width)
        return _where_missing(b, low, high, chosen, width)
    chosen = _chosen(b, op, kind, low, high, width)
    if kind[0] != "f" or op in ("larger", "smaller"):
        return chosen
    return _where_missing(b, low, low, chosen, width)


def _chosen(b: Builder, op: str, kind: str, one: Value, other: Value, width: int) -> Value:
    """Emit one instruction of x86: the first where it is more extreme, else the other."""
    compare, truth = "fcmp" if kind[0] == "f" else "icmp", f"<{width} x i1>"
    first = b.make(truth, f"{compare} {ORDER[op][kind[0]]} {one.type} {one.text}, {other.text}")
    sides = f"{one.type} {one.text}, {other.type} {other.text}"
    return b.make(one.type, f"select {truth} {first.text}, {sides}")


def _where_missing(b: Builder, x: Value, instead: Value, other: Value, width: int) -> Value:
    """Emit one value where ``x`` is NaN, and another elsewhere."""
    truth = f"<{width} x i1>"
    missing = b.make(truth, f"fcmp uno {x.type} {x.text}, {x.text}")
    sides = f"{x.type} {instead.text}, {x.type} {other.text}"
    return b.make(x.type, f"select {truth} {missing.text}, {sides}")
