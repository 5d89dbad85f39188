"""Scalar routines to LLVM IR, by Numba.

This is the one module that imports Numba.  It is imported when a routine is neither in the archive
that the package comes with nor on the disk: a user's function, or a body that was edited.

Numba types and lowers the routine's expression with the scalar functions it calls; a wrapper makes
of it a function of plain values (a bool is one bit, a complex number a pair) that is inlined
wherever it is called.  It is optimised lightly, without the vectorisers: those belong to the loop
around it.  What is kept is the text, without names and attributes, so that the same body gives the
same text everywhere.
"""

from __future__ import annotations

import re
from functools import cache
from types import FunctionType, ModuleType
from typing import Any

import llvmlite.binding as llvm
import numba
import numpy as np
from llvmlite import ir
from numba.core import compiler, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.extending import intrinsic

from .._errors import DTypeError, XarrayliteError
from ..dtypes import bits, narrow
from ..ops.bodies import library as bodies
from ..ops.user import global_names
from .cpython import api, library, outside
from .emit.routine import LLVM, Routine
from .machine import run_passes

#: Numba's types of registers, and the NumPy constructors that expressions call by their names.
TYPES: dict[str, Any] = {
    "b1": types.boolean,
    "f32": types.float32,
    "f64": types.float64,
    **{f"i{n}": getattr(types, f"int{n}") for n in (8, 16, 32, 64)},
    **{f"u{n}": getattr(types, f"uint{n}") for n in (8, 16, 32, 64)},
    "c64": types.complex64,
    "c128": types.complex128,
}
CASTS: dict[str, Any] = {
    "b1": bool,
    **{name: getattr(np, str(kind)) for name, kind in TYPES.items() if name != "b1"},
}


def _bit_cast(source: Any, result: Any, llvm_type: Any) -> Any:
    @intrinsic  # type: ignore[untyped-decorator]
    def bit_cast(typing_context: Any, value: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.bitcast(args[0], llvm_type)

        return result(source), codegen

    return bit_cast


def _product_and_sum(name: str) -> Any:
    """``a * b + c``: which instructions that is, is decided for the machine of the kernel."""

    @intrinsic  # type: ignore[untyped-decorator]
    def product_and_sum(typing_context: Any, a: Any, b: Any, c: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kind = args[0].type
            shape = ir.FunctionType(kind, [kind] * 3)
            return builder.call(builder.module.declare_intrinsic(name, [kind], shape), args)

        return a(a, a, a), codegen

    return product_and_sum


#: What scalar functions call of `dtypes.bits`.
INTRINSICS: dict[str, Any] = {
    "muladd": _product_and_sum("llvm.fmuladd"),
    "fma": _product_and_sum("llvm.fma"),
    "bits_f32": _bit_cast(types.float32, types.int32, ir.IntType(32)),
    "float_f32": _bit_cast(types.int32, types.float32, ir.FloatType()),
    "bits_f64": _bit_cast(types.float64, types.int64, ir.IntType(64)),
    "float_f64": _bit_cast(types.int64, types.float64, ir.DoubleType()),
}

_WORD = ir.IntType(64)

# Numba links what it compiles, though it is never called here: an address for a name of ours.
llvm.add_symbol(outside.STATE, 8)


def _memory(arity: int, codegen: Any, result: Any = types.int64) -> Any:
    """Return an intrinsic of words that are addresses or numbers.

    Functions that use one are called, as long as none says that they are to be inlined: the text
    would be five times as long.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if "alwaysinline" not in builder.function.attributes:
            builder.function.attributes.add("noinline")
        return codegen(builder, *args)

    signature = result(*[types.int64] * arity)
    if arity == 2:
        return intrinsic(lambda typing_context, a, b: (signature, generate))
    if arity == 1:
        return intrinsic(lambda typing_context, a: (signature, generate))
    return intrinsic(lambda typing_context: (signature, generate))


def _at(builder: Any, address: Any, kind: Any = _WORD) -> Any:
    return builder.inttoptr(address, kind.as_pointer())


def _loaded_double(builder: Any, address: Any) -> Any:
    return builder.load(_at(builder, address, ir.DoubleType()))


def _loaded_byte(builder: Any, address: Any) -> Any:
    return builder.zext(builder.load(_at(builder, address, ir.IntType(8))), _WORD)


def _loaded_float(builder: Any, address: Any) -> Any:
    short = builder.fptrunc(_loaded_double(builder, address), ir.FloatType())
    return builder.zext(builder.bitcast(short, ir.IntType(32)), _WORD)


def _stored(builder: Any, address: Any, value: Any) -> Any:
    builder.store(value, _at(builder, address))
    return value


def _added(builder: Any, address: Any, value: Any) -> Any:
    return builder.atomic_rmw("add", _at(builder, address), value, "seq_cst")


def _status(builder: Any, kernel: Any, block: Any) -> Any:
    kind = ir.FunctionType(ir.IntType(32), [_WORD])
    return builder.sext(builder.call(_at(builder, kernel, kind), [block]), _WORD)


def _called(builder: Any, function: Any, place: Any) -> Any:
    args = [builder.add(place, ir.Constant(_WORD, 8 * k)) for k in range(8)]
    kind = ir.FunctionType(_WORD, [_WORD] * len(args))
    return builder.call(_at(builder, function, kind), [builder.load(_at(builder, a)) for a in args])


def _scratch(builder: Any) -> Any:
    with builder.goto_entry_block():
        room = builder.alloca(ir.ArrayType(_WORD, api.SCRATCH))
    return builder.ptrtoint(room, _WORD)


def _found(builder: Any, number: Any) -> Any:
    words = builder.module.globals.get(outside.STATE)
    if words is None:
        words = ir.GlobalVariable(builder.module, ir.ArrayType(_WORD, 0), outside.STATE)
    zero = ir.Constant(_WORD, 0)
    return builder.load(builder.gep(words, [zero, number]))


#: What functions over Python's objects call of `cpython.api`.
MEMORY: dict[str, Any] = {
    "load": _memory(1, lambda builder, address: builder.load(_at(builder, address))),
    "load_byte": _memory(1, _loaded_byte),
    "load_double": _memory(1, _loaded_double, types.float64),
    "load_float": _memory(1, _loaded_float),
    "add_to": _memory(2, _added),
    "call_at": _memory(2, _called),
    "run": _memory(2, _status),
    "store": _memory(2, _stored),
    "scratch": _memory(0, _scratch),
    "word": _memory(1, _found),
}

#: Functions that do more than compute.
_NAMES_OUTSIDE = {found.name for found in outside.functions().values()}

_OUTSIDE = {"p": types.int64, "i": types.int32, "d": types.float64, "v": types.void}


@cache
def _outside_module() -> ModuleType:
    """Return the module `cpython.outside` as Numba knows its functions."""
    made = ModuleType("outside")
    for name, found in outside.functions().items():
        result, *args = [_OUTSIDE[letter] for letter in found.types]
        setattr(made, name, types.ExternalFunction(found.name, result(*args)))
    return made


@cache
def scalar_library() -> dict[str, FunctionType]:
    """Return the scalar functions that bodies may call, by name."""
    return {**narrow.library(), **bodies.others(), **bodies.elementary(), **library.library()}


@cache
def _module(module: ModuleType) -> ModuleType:
    """Return a module of such functions as Numba knows them."""
    made, known = ModuleType(module.__name__), scalar_library()
    for name, value in vars(module).items():
        mine = name in known and known[name] is value
        setattr(made, name, scalar(name) if mine else value)
    return made


@cache
def scalar(name: str) -> Any:
    """Return the compiled form of one scalar function, which callers inline."""
    function = scalar_library()[name]
    return _jitted(function, name in library.INLINE or name not in library.library())


def _jitted(function: FunctionType, inline: bool = True) -> Any:
    namespace = dict(function.__globals__)
    known = scalar_library()
    for name in global_names(function.__code__):
        if name in INTRINSICS and getattr(bits, name, None) is namespace.get(name):
            namespace[name] = INTRINSICS[name]
        elif name in MEMORY and getattr(api, name, None) is namespace.get(name):
            namespace[name] = MEMORY[name]
        elif namespace.get(name) is outside:
            namespace[name] = _outside_module()
        elif any([namespace.get(name) is module for module in library.MODULES]):
            namespace[name] = _module(namespace[name])
        elif name in known and namespace.get(name) is known[name]:
            namespace[name] = scalar(name)
    copy = FunctionType(
        function.__code__, namespace, function.__name__, function.__defaults__, function.__closure__
    )
    return numba.njit(error_model="numpy", forceinline=inline)(copy)


def routine_text(routine: Routine) -> str:
    """Return the IR of a routine, its function named ``@body``.

    Raises
    ------
    DTypeError
        If a user's function makes objects, which a kernel cannot.
    """
    with global_compiler_lock:
        if numba.config.DISABLE_JIT:
            raise XarrayliteError(
                "engine 'compiled' needs Numba's compiler, which NUMBA_DISABLE_JIT switches off; "
                "use engine 'auto' or 'reference'"
            )
        result = _compiled(routine)
        result.library.finalize()
        text = _plain(f"{result.library._final_module}", result.fndesc.llvm_func_name, routine)
    if "@NRT_" in text:
        assert routine.op is not None, routine
        raise DTypeError(
            f"vectorize: {routine.op.name}: a function of scalars that makes arrays, lists or "
            "strings cannot be part of a kernel; it may use numbers, math and NumPy's scalars"
        )
    return text


def _compiled(routine: Routine) -> Any:
    """Let Numba type, lower and optimise a routine's expression; no machine code is made."""
    arguments = ", ".join(f"a{k}" for k in range(len(routine.args)))
    source = f"def body({arguments}):\n    return {routine.text}\n"
    code = compile(source, "<routine>", "exec")
    namespace: dict[str, Any] = {"__name__": "xarraylite.routine", **CASTS, **MEMORY}
    known = scalar_library()
    namespace |= {name: scalar(name) for name in global_names(code) if name in known}
    if routine.op is not None:
        namespace["user"] = _jitted(routine.op.function)
    exec(code, namespace)  # an expression of our own tokens, see emit/routine.py
    flags = compiler.Flags()
    flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
    flags.nrt = True
    flags.error_model = "numpy"
    typing, target = cpu_target.typing_context, cpu_target.target_context
    typing.refresh()
    target.refresh()
    kinds = tuple([TYPES[kind] for kind in routine.args])
    return compiler.compile_extra(
        typing, target, namespace["body"], kinds, TYPES[routine.result], flags, {}
    )


def _wrapper(name: str, routine: Routine) -> str:
    """Return the IR of a function of plain values that calls one of Numba's convention.

    Numba passes a bool as a byte and a complex number as two arguments, returns through a pointer
    and gives a status, which is 0 but where the function raises an exception.
    """
    parts, lines = [], []
    for k, kind in enumerate(routine.args):
        if kind == "b1":
            lines.append(f"%b{k} = zext i1 %a{k} to i8")
            parts.append(f"i8 %b{k}")
        elif kind in ("c64", "c128"):
            part = "float" if kind == "c64" else "double"
            for side in range(2):
                lines.append(f"%p{k}.{side} = extractvalue {LLVM[kind]} %a{k}, {side}")
                parts.append(f"{part} %p{k}.{side}")
        else:
            parts.append(f"{LLVM[kind]} %a{k}")
    held = "i8" if routine.result == "b1" else LLVM[routine.result]
    lines += [f"%r = alloca {held}", "%e = alloca ptr"]
    lines.append(f'%s = call i32 @"{name}"({", ".join(["ptr %r", "ptr %e", *parts])})')
    if routine.result == "b1":
        lines += ["%h = load i8, ptr %r", "%v = icmp ne i8 %h, 0"]
    else:
        lines.append(f"%v = load {held}, ptr %r")
    value = LLVM[routine.result]
    if routine.may_fail:
        pair = routine.returns
        lines.append(f"%x = insertvalue {pair} poison, {value} %v, 0")
        lines.append(f"%y = insertvalue {pair} %x, i32 %s, 1")
        lines.append(f"ret {pair} %y")
    else:
        lines.append(f"ret {value} %v")
    body = "".join(f"  {line}\n" for line in lines)
    return f"define {routine.returns} @body({_parameters(routine, 'a')}) {{\n{body}}}\n"


def _parameters(routine: Routine, prefix: str = "") -> str:
    return ", ".join(f"{LLVM[kind]} %{prefix}{k}" for k, kind in enumerate(routine.args))


@cache
def _generic() -> Any:
    """Return a code generator for any CPU of this kind: a routine's text is for all of them."""
    return llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(
        cpu="generic", features="", opt=2
    )


def _plain(text: str, name: str, routine: Routine) -> str:
    """Inline a routine into its wrapper, optimise it, and return the text."""
    module = llvm.parse_assembly(text + _wrapper(name, routine), llvm.create_context())
    for function in module.functions:
        if not function.is_declaration and function.name != "body":
            function.linkage = "internal"
    for variable in module.global_variables:
        if not variable.is_declaration:
            variable.linkage = "internal"
    module.get_function(name).add_function_attribute("alwaysinline")
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = options.slp_vectorization = options.loop_unrolling = False
    run_passes(module, _generic(), options, "add_strip_symbols_pass")
    return _normalised(str(module), routine)


def _outside(declaration: str) -> str:
    """Return what LLVM may know of a function of the C library: it computes, and does no more.

    Nobody reads what it leaves in ``errno``.  LLVM knows its own functions, and one that takes a
    pointer may write there.
    """
    name = declaration.partition("@")[2].partition("(")[0]
    if name.startswith("llvm.") or name in _NAMES_OUTSIDE:
        return ""
    return " nounwind willreturn" + ("" if "ptr" in declaration else " memory(none)")


_SCOPE = r" *call void @llvm\.experimental\.noalias\.scope\.decl\("  # of metadata
_DROPPED = re.compile(rf"(;|source_filename|target |attributes |!|{_SCOPE}|$)")
_DEFINE = re.compile(r"define (?:[a-z_]+ )*?(.*?) ?@body\(.*\{$")
_NAME = re.compile(r'@(?:[\w.$]+|"[^"]*")')
_OWN = re.compile(r'^(?:define [^@]*)?(@(?!body\()(?:[\w.$]+|"[^"]*"))(?: = |\()', re.MULTILINE)
_ATTRIBUTES = re.compile(r" #\d+|, ![a-z.]+ ![0-9]+| (local_)?unnamed_addr")


def _normalised(text: str, routine: Routine) -> str:
    """Return a module's functions without attributes, metadata and the names of a machine."""
    lines: list[str] = []
    for line in text.splitlines():
        if _DROPPED.match(line):
            continue
        if _DEFINE.match(line):
            head = f"define internal {routine.returns} @body({_parameters(routine)})"
            lines.append(f"{head} alwaysinline nounwind mustprogress {{")
        else:
            code, _, _ = line.partition(" ;")
            code = _ATTRIBUTES.sub("", code).rstrip()
            lines.append(code + _outside(code) if code.startswith("declare ") else code)
    plain = "\n".join(lines) + "\n"
    plain = plain.replace("@llvm.fmuladd.", "@xl.muladd.").replace("@llvm.fma.", "@xl.fused.")
    found = [name for name in _OWN.findall(plain) if name != f"@{outside.STATE}"]
    own = {name: f"@body.{k}" for k, name in enumerate(dict.fromkeys(found))}
    return _NAME.sub(lambda found: own.get(found[0], found[0]), plain)
