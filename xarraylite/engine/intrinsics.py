"""Machine operations of kernels: raw loads and stores, bit casts, stack scratch.

Addresses are plain int64 values.  Each access carries LLVM alias scopes, which replace the
run-time overlap checks that the vectoriser would otherwise need:

* ``load_*`` reads memory known not to overlap the destination (scope *src*);
* ``peek_*`` reads memory that may overlap the destination, ``store_*`` writes the destination
  (both scope *dst*);
* ``pull_*`` and ``push_*`` read and write stack scratch (scope *tmp*).

Accesses in different scopes never touch the same bytes; the planner is what makes that true.
Alignment is declared as 1: NumPy allows unaligned arrays, and on x86 and ARM an unaligned vector
access to aligned memory costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

_INT64 = ir.IntType(64)
_SCOPES = ("src", "dst", "tmp")

_REAL: dict[str, tuple[Any, Any]] = {
    "f32": (types.float32, ir.FloatType()),
    "f64": (types.float64, ir.DoubleType()),
    **{f"i{bits}": (getattr(types, f"int{bits}"), ir.IntType(bits)) for bits in (8, 16, 32, 64)},
    **{f"u{bits}": (getattr(types, f"uint{bits}"), ir.IntType(bits)) for bits in (8, 16, 32, 64)},
}
_COMPLEX: dict[str, tuple[Any, Any]] = {
    "c64": (types.complex64, ir.FloatType()),
    "c128": (types.complex128, ir.DoubleType()),
}


def _tag(builder: Any, instruction: Any, scope: str) -> Any:
    """Attach alias scopes; scopes named by strings stay equal across modules."""
    module = builder.module
    domain = module.add_metadata(["xarraylite"])
    lists = {name: module.add_metadata([f"xarraylite.{name}", domain]) for name in _SCOPES}
    instruction.set_metadata("alias.scope", module.add_metadata([lists[scope]]))
    others = [lists[name] for name in _SCOPES if name != scope]
    instruction.set_metadata("noalias", module.add_metadata(others))
    return instruction


def _pointer(builder: Any, llvm_type: Any, address: Any, index: Any) -> Any:
    base = builder.inttoptr(address, llvm_type.as_pointer())
    return builder.gep(base, [index])


def _read(builder: Any, llvm_type: Any, address: Any, index: Any, scope: str) -> Any:
    value = builder.load(_pointer(builder, llvm_type, address, index))
    value.align = 1
    return _tag(builder, value, scope)


def _write(builder: Any, value: Any, address: Any, index: Any, scope: str) -> None:
    done = builder.store(value, _pointer(builder, value.type, address, index))
    done.align = 1
    _tag(builder, done, scope)


def _scalar_access(numba_type: Any, llvm_type: Any, scope: str) -> tuple[Any, Any]:
    def load(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _read(builder, llvm_type, args[0], args[1], scope)

    def store(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        _write(builder, args[2], args[0], args[1], scope)
        return context.get_dummy_value()

    return _typed(numba_type, load), _typed_store(numba_type, store)


def _bool_access(scope: str) -> tuple[Any, Any]:
    byte = ir.IntType(8)

    def load(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        value = _read(builder, byte, args[0], args[1], scope)
        return builder.icmp_unsigned("!=", value, ir.Constant(byte, 0))

    def store(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        _write(builder, builder.zext(args[2], byte), args[0], args[1], scope)
        return context.get_dummy_value()

    return _typed(types.boolean, load), _typed_store(types.boolean, store)


def _packed_access(bits: int, truth: bool, scope: str) -> tuple[Any, Any]:
    """Return access to elements that share bytes, the first in the lowest bits.

    Addresses count elements.  A store reads the byte, so elements of one byte must be written by
    one thread.
    """
    byte, per = ir.IntType(8), 8 // bits
    mask = ir.Constant(byte, (1 << bits) - 1)
    zero = ir.Constant(_INT64, 0)

    def place(builder: Any, args: Any) -> tuple[Any, Any]:
        at = builder.add(args[0], args[1])
        number = builder.and_(at, ir.Constant(_INT64, per - 1))
        shift = builder.mul(builder.trunc(number, byte), ir.Constant(byte, bits))
        return builder.lshr(at, ir.Constant(_INT64, per.bit_length() - 1)), shift

    def load(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address, shift = place(builder, args)
        code = builder.lshr(_read(builder, byte, address, zero, scope), shift)
        code = builder.and_(code, mask)
        return builder.icmp_unsigned("!=", code, ir.Constant(byte, 0)) if truth else code

    def store(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address, shift = place(builder, args)
        code = builder.zext(args[2], byte) if truth else builder.and_(args[2], mask)
        hole = builder.not_(builder.shl(mask, shift))
        kept = builder.and_(_read(builder, byte, address, zero, scope), hole)
        filled = builder.or_(kept, builder.shl(code, shift))
        _write(builder, filled, address, zero, scope)
        return context.get_dummy_value()

    kind = types.boolean if truth else types.uint8
    return _typed(kind, load), _typed_store(kind, store)


def _complex_access(numba_type: Any, part: Any, scope: str) -> tuple[Any, Any]:
    one = ir.Constant(_INT64, 1)

    def load(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        twice = builder.shl(args[1], one)
        value = context.make_complex(builder, numba_type)
        value.real = _read(builder, part, args[0], twice, scope)
        value.imag = _read(builder, part, args[0], builder.add(twice, one), scope)
        return value._getvalue()

    def store(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        twice = builder.shl(args[1], one)
        value = context.make_complex(builder, numba_type, value=args[2])
        _write(builder, value.real, args[0], twice, scope)
        _write(builder, value.imag, args[0], builder.add(twice, one), scope)
        return context.get_dummy_value()

    return _typed(numba_type, load), _typed_store(numba_type, store)


def _typed(result: Any, codegen: Callable[..., Any]) -> Any:
    @intrinsic  # type: ignore[untyped-decorator]
    def access(typing_context: Any, address: Any, index: Any) -> Any:
        return result(types.int64, types.int64), codegen

    return access


def _typed_store(value_type: Any, codegen: Callable[..., Any]) -> Any:
    @intrinsic  # type: ignore[untyped-decorator]
    def access(typing_context: Any, address: Any, index: Any, value: Any) -> Any:
        return types.void(types.int64, types.int64, value_type), codegen

    return access


def _bit_cast(source: Any, result: Any, llvm_type: Any) -> Any:
    @intrinsic  # type: ignore[untyped-decorator]
    def bit_cast(typing_context: Any, value: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.bitcast(args[0], llvm_type)

        return result(source), codegen

    return bit_cast


@intrinsic  # type: ignore[untyped-decorator]
def scratch(typing_context: Any, size: Any) -> Any:
    """Return the address of ``size`` (a literal) bytes of 64-byte aligned stack memory."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        count = signature.args[0].literal_value
        with builder.goto_entry_block():
            place = builder.alloca(ir.ArrayType(ir.IntType(8), count))
            place.align = 64
        return builder.ptrtoint(place, _INT64)

    if not isinstance(size, types.IntegerLiteral):
        return None
    return types.int64(size), codegen


@intrinsic  # type: ignore[untyped-decorator]
def stream_line(typing_context: Any, destination: Any, source: Any) -> Any:
    """Move 64 aligned bytes past the caches: a full line is written without being read first."""
    vector = ir.VectorType(_INT64, 8)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        value = builder.load(builder.inttoptr(args[1], vector.as_pointer()))
        value.align = 64
        _tag(builder, value, "tmp")
        done = builder.store(value, builder.inttoptr(args[0], vector.as_pointer()))
        done.align = 64
        _tag(builder, done, "dst")
        one = builder.module.add_metadata([ir.Constant(ir.IntType(32), 1)])
        done.set_metadata("nontemporal", one)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def fence(typing_context: Any) -> Any:
    """Order all stores before whatever tells another thread about them."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.fence("seq_cst")
        return context.get_dummy_value()

    return types.void(), codegen


@cache
def _can_fuse() -> bool:
    """Tell whether the CPU has a fused multiply-add (all 64-bit ARM ones do)."""
    features = llvm.get_host_cpu_features()
    return bool(features.get("fma", "aarch64" in llvm.get_process_triple()))


@intrinsic  # type: ignore[untyped-decorator]
def muladd(typing_context: Any, a: Any, b: Any, c: Any) -> Any:
    """Return ``a * b + c``, rounded once where the CPU can."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if _can_fuse():
            return builder.fma(*args)
        return builder.fadd(builder.fmul(args[0], args[1]), args[2])

    return a(a, a, a), codegen


#: Values that `_lanes` folds at once; `emit.segments` counts on it.
_LANES = 32


def _lanes(numba_type: Any, llvm_type: Any, fold: Callable[[Any, Any, Any], Any]) -> Any:
    """Return a fold by halving of the first ``count`` of `_LANES` values in stack scratch.

    All are read; the identity ``rest`` stands for the others.
    """

    @intrinsic  # type: ignore[untyped-decorator]
    def lanes(typing_context: Any, address: Any, count: Any, rest: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            def everywhere(value: Any) -> Any:
                one = ir.VectorType(value.type, _LANES)
                first = builder.insert_element(ir.Constant(one, ir.Undefined), value, zero)
                return builder.shuffle_vector(first, ir.Constant(one, ir.Undefined), places(0, 0))

            def places(start: int, step: int = 1, width: int = _LANES) -> Any:
                numbers = [start + k * step for k in range(width)]
                return ir.Constant(ir.VectorType(ir.IntType(32), width), numbers)

            zero = ir.Constant(ir.IntType(32), 0)
            values = _read(builder, ir.VectorType(llvm_type, _LANES), args[0], zero, "tmp")
            numbers = ir.Constant(ir.VectorType(_INT64, _LANES), list(range(_LANES)))
            inside = builder.icmp_signed("<", numbers, everywhere(args[1]))
            values = builder.select(inside, values, everywhere(args[2]))
            width = _LANES
            while width > 1:
                width //= 2
                none = ir.Constant(values.type, ir.Undefined)
                low = builder.shuffle_vector(values, none, places(0, 1, width))
                high = builder.shuffle_vector(values, none, places(width, 1, width))
                values = fold(builder, low, high)
            return builder.extract_element(values, zero)

        return numba_type(types.int64, types.int64, numba_type), codegen

    return lanes


def _plain_fold(method: str) -> Callable[[Any, Any, Any], Any]:
    return lambda builder, a, b: getattr(builder, method)(a, b)


def _extreme_fold(kind: str, sign: str) -> Callable[[Any, Any, Any], Any]:
    """Return the fold that keeps the greater or smaller value, as `scalars_float.maximum_f`."""

    def fold(builder: Any, a: Any, b: Any) -> Any:
        if kind == "f":
            first = builder.fcmp_ordered(sign, a, b)
            first = builder.or_(first, builder.fcmp_unordered("uno", a, a))
        else:
            compare = builder.icmp_signed if kind == "i" else builder.icmp_unsigned
            first = compare(sign, a, b)
        return builder.select(first, a, b)

    return fold


#: Folds by lanes, for each kind of register.
_FOLDS: dict[str, dict[str, Callable[[Any, Any, Any], Any]]] = {
    "add": {"f": _plain_fold("fadd"), "i": _plain_fold("add"), "u": _plain_fold("add")},
    "multiply": {"f": _plain_fold("fmul"), "i": _plain_fold("mul"), "u": _plain_fold("mul")},
    "maximum": {kind: _extreme_fold(kind, ">") for kind in "fiu"},
    "minimum": {kind: _extreme_fold(kind, "<") for kind in "fiu"},
}


def library() -> dict[str, Any]:
    """Return every intrinsic by the name kernels use."""
    names: dict[str, Any] = {
        "scratch": scratch,
        "stream_line": stream_line,
        "fence": fence,
        "muladd": muladd,
        "bits_f32": _bit_cast(types.float32, types.int32, ir.IntType(32)),
        "float_f32": _bit_cast(types.int32, types.float32, ir.FloatType()),
        "bits_f64": _bit_cast(types.float64, types.int64, ir.IntType(64)),
        "float_f64": _bit_cast(types.int64, types.float64, ir.DoubleType()),
    }
    for name, folds in _FOLDS.items():
        for kind in ("f32", "f64", "i32", "i64", "u32", "u64"):
            names[f"lanes_{name}_{kind}"] = _lanes(*_REAL[kind], folds[kind[0]])
    for scope, (load, store) in {
        "src": ("load", None),
        "dst": ("peek", "store"),
        "tmp": ("pull", "push"),
    }.items():
        makers = {
            **{t: _scalar_access(a, b, scope) for t, (a, b) in _REAL.items()},
            **{t: _complex_access(a, b, scope) for t, (a, b) in _COMPLEX.items()},
            "b1": _bool_access(scope),
            "truth1": _packed_access(1, True, scope),
            **{f"packed{bits}": _packed_access(bits, False, scope) for bits in (1, 2, 4)},
        }
        for token, (reader, writer) in makers.items():
            names[f"{load}_{token}"] = reader
            if store is not None:
                names[f"{store}_{token}"] = writer
    return names
