"""Instructions as they are written: names, shapes that follow, operators.

A `Term` is an instruction of the computation that a `Writer` writes.  Operators on terms write the
instructions that they name, and Python numbers become constants of the other operand's type, so a
formula reads as one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from ...arrays.expression import XExpression
from ...dtypes.info import finfo
from ...dtypes.names import DType, bool_, float8_e8m0fnu, float32, kind, uint4
from ...xla.spec import ArraySpec
from ..instruction import HloComputation, HloInstruction, parameter
from ..text.literals import HloLiteral

_INT32 = np.dtype(np.int32)
#: Integers as wide as numbers of so many bits.
_WORDS = {bits: np.dtype(f"uint{bits}") for bits in (8, 16, 32, 64)} | {4: np.dtype(uint4)}


#: Returns the spec of a row-major array.
default_spec = ArraySpec.make_shape


def _is_misread(values: np.ndarray[Any, Any]) -> bool:
    """Whether XLA, and so the reader here, takes what is printed of numbers for others.

    The negative zero is printed as the integer ``-0``, and the least number of ``f8e8m0fnu`` with
    two digits, which are rounded up to the next number.
    """
    if kind(values.dtype) != "f":
        return False
    if values.dtype == float8_e8m0fnu:
        return not values.view(np.uint8).all()
    zeros = values[values == 0]
    return bool(np.signbit(zeros.astype(np.float32)).any())


class Writer:
    """Writes one module: its entry computation, and the regions that it needs.

    Parameters
    ----------
    prefix : str, default ""
        What names of instructions begin with.

    Attributes
    ----------
    instructions : list of HloInstruction
        Of the entry computation so far.
    regions : dict
        Computations of two scalars by operation and dtype.
    """

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix
        self.instructions: list[HloInstruction] = []
        self.regions: dict[tuple[str, DType], HloComputation] = {}
        self.constants: dict[tuple[DType, bytes], HloInstruction] = {}

    def add(
        self,
        opcode: str,
        spec: ArraySpec,
        operands: Sequence[HloInstruction] = (),
        called: Sequence[HloComputation] = (),
        **attributes: Any,
    ) -> HloInstruction:
        """Write an instruction."""
        made = HloInstruction(
            f"{self.prefix}{opcode}.{len(self.instructions) + 1}",
            opcode,
            spec,
            tuple(operands),
            MappingProxyType(attributes),
            tuple(called),
        )
        self.instructions.append(made)
        return made

    def term(
        self, opcode: str, dtype: DType, shape: Sequence[int], *operands: Term, **attributes: Any
    ) -> Term:
        """Write an instruction whose result is a row-major array."""
        given = [operand.instruction for operand in operands]
        return Term(self, self.add(opcode, default_spec(dtype, shape), given, **attributes))

    def constant(self, values: np.ndarray[Any, Any]) -> Term:
        """Write a constant, a scalar once, so that its text is read as the same values."""
        if values.dtype.kind == "c" and (_is_misread(values.real) or _is_misread(values.imag)):
            return self.constant(values.real).apply("complex", values.imag, dtype=values.dtype)
        if _is_misread(values):
            words = _WORDS.get(finfo(values.dtype).bits)
            if words is None:
                return self.constant(values.astype(np.float32)).cast(values.dtype)
            return self.constant(values.view(words)).apply("bitcast-convert", dtype=values.dtype)
        frozen = np.array(values)
        frozen.flags.writeable = False
        key = frozen.dtype, frozen.tobytes()
        found = self.constants.get(key) if not frozen.ndim else None
        if found is None:
            spec = default_spec(frozen.dtype, frozen.shape)
            found = self.add("constant", spec, literal=HloLiteral(spec, frozen))
            if not frozen.ndim:
                self.constants[key] = found
        return Term(self, found)

    def fold(
        self, name: str, opcode: str, shape: Sequence[int], *operands: Term, **attributes: Any
    ) -> Term:
        """Write an instruction that folds elements of one dtype by an operation."""
        dtype, given = operands[0].dtype, [operand.instruction for operand in operands]
        region = self.region(opcode, dtype)
        return Term(self, self.add(name, default_spec(dtype, shape), given, [region], **attributes))

    def region(self, opcode: str, dtype: DType) -> HloComputation:
        """Return the computation that applies an operation to two scalars."""
        known = self.regions.get((opcode, dtype))
        if known is None:
            spec = default_spec(dtype, ())
            name = f"{opcode}_{spec.element_type.name}"
            pair = tuple([parameter(f"{name}.{side}", spec, k) for k, side in enumerate("xy")])
            root = HloInstruction(f"{name}.{opcode}", opcode, spec, pair)
            known = self.regions[opcode, dtype] = HloComputation(name, (*pair, root))
        return known


def _operator(opcode: str) -> Callable[..., Term]:
    """Return the operator that writes an elementwise operation."""
    return lambda term, *others: term.apply(opcode, *others)


def _comparison(direction: str) -> Callable[..., Term]:
    """Return the operator that writes a comparison."""
    return lambda term, other: term.compare(direction, other)


class Term:
    """A value of the computation that is being written.

    Parameters
    ----------
    writer : Writer
        Who writes it.
    instruction : HloInstruction
        What has been written.
    """

    __slots__ = ("dtype", "instruction", "shape", "writer")

    def __init__(self, writer: Writer, instruction: HloInstruction) -> None:
        self.writer, self.instruction = writer, instruction
        self.dtype: DType = np.dtype(instruction.shape.dtype)
        self.shape = instruction.shape.dimensions

    @property
    def kind(self) -> str:
        """The kind of the dtype: ``b i u f c``."""
        return kind(self.dtype)

    @property
    def bits(self) -> int:
        """Bits of an element."""
        return self.instruction.shape.element_type.bits

    def like(self, value: object) -> Term:
        """Return a number as an array of this one's type and shape."""
        if isinstance(value, Term):
            return value
        return self.writer.constant(np.asarray(value).astype(self.dtype)).stretched(self.shape)

    def stretched(self, shape: Sequence[int]) -> Term:
        """Return an array stretched to a shape by NumPy's rule."""
        wanted = tuple(shape)
        if self.shape == wanted:
            return self
        skip = len(wanted) - len(self.shape)
        kept = [k for k, size in enumerate(self.shape) if size == wanted[skip + k]]
        sizes = tuple([self.shape[k] for k in kept])
        plain = self.reshaped(sizes)
        axes = tuple([skip + k for k in kept])
        return self.writer.term("broadcast", self.dtype, wanted, plain, dimensions=axes)

    def reshaped(self, shape: Sequence[int]) -> Term:
        """Return the same elements in another shape."""
        wanted = tuple(shape)
        if wanted == self.shape:
            return self
        return self.writer.term("reshape", self.dtype, wanted, self)

    def apply(self, opcode: str, *others: object, dtype: DType | None = None) -> Term:
        """Return an elementwise operation of this and others."""
        operands = [self, *[self.like(other) for other in others]]
        return self.writer.term(opcode, dtype or self.dtype, self.shape, *operands)

    def compare(self, direction: str, other: object) -> Term:
        """Return a comparison; scales are compared as float32, since XLA would not round them."""
        operands = [self, self.like(other)]
        if self.dtype == float8_e8m0fnu:
            operands = [x.cast(float32) for x in operands]
        return self.writer.term("compare", bool_, self.shape, *operands, direction=direction)

    def where(self, yes: Term, no: object) -> Term:
        """Return one or the other value, by this one's truth."""
        return yes.writer.term("select", yes.dtype, yes.shape, self, yes, yes.like(no))

    def cast(self, dtype: DType) -> Term:
        """Return elements as another type, by the package's rules where XLA's are others."""
        if dtype == self.dtype:
            return self
        if kind(dtype) == "b":
            return self != 0
        source = self.real if self.kind == "c" and kind(dtype) != "c" else self
        if self.kind == "b" and kind(dtype) in "fc":
            # XLA takes a product with a truth value for a choice between it and 0: 0 * inf was 0.
            source = self.apply("convert", dtype=np.dtype("uint8"))
        return source if source.dtype == dtype else source.apply("convert", dtype=dtype)

    @property
    def real(self) -> Term:
        """The real part."""
        return self.apply("real", dtype=self.part) if self.kind == "c" else self

    @property
    def imag(self) -> Term:
        """The imaginary part."""
        return self.apply("imag", dtype=self.part) if self.kind == "c" else self.like(0)

    @property
    def part(self) -> DType:
        """Dtype of the parts of complex numbers."""
        return np.dtype("float32" if self.dtype.itemsize == 8 else "float64")

    __add__ = _operator("add")
    __mul__ = _operator("multiply")
    __truediv__ = _operator("divide")
    __abs__ = _operator("abs")
    __neg__ = _operator("negate")
    __invert__ = _operator("not")
    __and__ = _operator("and")
    __or__ = _operator("or")
    __xor__ = _operator("xor")
    __lt__ = _comparison("LT")
    __gt__ = _comparison("GT")
    __le__ = _comparison("LE")
    __ge__ = _comparison("GE")
    __eq__ = _comparison("EQ")  # type: ignore[assignment]
    __ne__ = _comparison("NE")  # type: ignore[assignment]
    __hash__ = object.__hash__

    def __sub__(self, other: object) -> Term:
        if self.kind == "b" and isinstance(other, Term):
            return self.cast(_INT32) - other.cast(_INT32)
        return self.apply("subtract", other)

    def __floordiv__(self, other: object) -> Term:
        """Quotient of integers, rounded down."""
        divisor = self.like(other)
        quotient = self / divisor
        if self.kind == "u":
            return quotient
        inexact = (quotient * divisor != self) & ((self < 0) ^ (divisor < 0))
        return inexact.where(quotient - 1, quotient)

    def __mod__(self, other: object) -> Term:
        return self - self // other * other


class Export(Protocol):
    """Who writes a module."""

    writer: Writer

    def gathered(self, term: Term, axis: int, numbers: Term) -> Term:
        """Read one dimension through an array of numbers."""

    def term(self, value: object) -> Term:
        """Write an expression."""

    def result(self, term: Term) -> XExpression:
        """Return the expression that stands for what was written."""


def signbit(x: Term) -> Term:
    """Return the sign of bits: of NaN and zero too."""
    if x.dtype == float8_e8m0fnu:  # which has none, and no zero to compare with
        return x.cast(float32) < 0
    return x.apply("bitcast-convert", dtype=np.dtype(f"int{x.bits}")) < 0


def copysign(x: Term, y: Term) -> Term:
    """Return the size of one float with the sign of another."""
    size = abs(x)
    return signbit(y).where(-size, size)


_Labels = tuple[str, ...]


def contracted(x: Term, ours: _Labels, y: Term, theirs: _Labels, kept: _Labels) -> Term:
    """Return the product of two terms, summed over the labels that both have and nobody keeps.

    Parameters
    ----------
    x, y : Term
        Of one dtype, in which products are added up.
    ours, theirs : tuple of str
        A label for each of their dimensions.
    kept : tuple of str
        Labels of the result, in their order.
    """
    if x.kind == "b":
        wide = np.dtype("int32")
        return contracted(x.cast(wide), ours, y.cast(wide), theirs, kept).cast(x.dtype)
    batch = [k for k in ours if k in theirs and k in kept]
    summed = [k for k in ours if k in theirs and k not in kept]
    free = [[k for k in labels if k not in batch and k not in summed] for labels in (ours, theirs)]
    order = [*batch, *free[0], *free[1]]
    sizes = dict(zip(ours, x.shape, strict=True)) | dict(zip(theirs, y.shape, strict=True))
    numbers = {
        f"{side}_{word}_dims": tuple([labels.index(k) for k in chosen])
        for side, labels in (("lhs", ours), ("rhs", theirs))
        for word, chosen in (("batch", batch), ("contracting", summed))
        if chosen
    }
    made = x.writer.term("dot", x.dtype, [sizes[k] for k in order], x, y, **numbers)
    places = tuple([order.index(k) for k in kept])
    if places == tuple(range(len(places))):
        return made
    turned = [sizes[k] for k in kept]
    return x.writer.term("transpose", x.dtype, turned, made, dimensions=places)
