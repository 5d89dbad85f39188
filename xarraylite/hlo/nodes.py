"""What instructions and computations are made of: the nodes of a program, but for their text.

The printer knows these, and the classes that users hold (`hlo.instruction`) know the printer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Any, Final, Generic, Self, TypeVar, cast

from .._errors import HloError
from .._records import record
from ..ir.walk import depth_first
from ..xla.spec import ArraySpec
from .text.attributes import DEFAULTS
from .text.literals import HloLiteral
from .values import OpMetadata, Signature

T = TypeVar("T")


def post_order(instructions: Iterable[Any]) -> tuple[Any, ...]:
    """Return instructions depth first, operands before users; see ``HloComputation.post_order``."""
    ends = [instruction for instruction in instructions if not instruction.users]
    return tuple(depth_first(ends, _before))


def _before(instruction: Any) -> Iterable[Any]:
    control = instruction.control_predecessors
    return (*control[::-1], *instruction.operands) if control else instruction.operands


def callees_first(starts: Iterable[T]) -> list[T]:
    """Return computations and what they call, directly or not, callees before callers."""
    return list(depth_first(starts, callees))


def callees(computation: Any) -> list[Any]:
    """Return what a computation calls itself, once for each call."""
    return [
        callee
        for instruction in computation.instructions
        for callee in instruction.called_computations
    ]


#: What an instruction or a module has that none are given.
NO_ATTRIBUTES: Final[Mapping[str, Any]] = MappingProxyType({})
_set = object.__setattr__

C = TypeVar("C", bound="ComputationNode[Any]")
N = TypeVar("N", bound="InstructionNode[Any]")


def signature_of(computation: Any) -> Signature:
    """Return the shapes of what a computation takes and gives."""
    return Signature(tuple([p.shape for p in computation.parameters]), computation.root.shape)


def named(name: str, things: Iterable[T], otherwise: str) -> T:
    """Return the thing of a name, with or without ``%``; say otherwise that there is none."""
    wanted = name.removeprefix("%")
    for thing in things:
        if getattr(thing, "name", None) == wanted:
            return thing
    raise KeyError(f"{otherwise} {wanted}")


@record(frozen=True, slots=True, eq=False)
class InstructionNode(Generic[C]):
    """The fields of an `HloInstruction`, and what follows from them."""

    name: str
    opcode: str
    shape: ArraySpec
    operands: tuple[Self, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=lambda: NO_ATTRIBUTES)
    called_computations: tuple[C, ...] = ()
    control_predecessors: tuple[Self, ...] = ()
    metadata: OpMetadata | None = None
    users: tuple[Self, ...] = field(default=(), repr=False)
    computation: C | None = field(default=None, repr=False)

    def get(self, name: str) -> Any:
        """Return an attribute, or the value that XLA takes for granted; None where there is none.

        Examples
        --------
        >>> import xarraylite as xl
        >>> root = xl.hlo.parse(
        ...     "r = f32[2,2] dot(f32[2,2] a, f32[2,2] b), "
        ...     "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
        ... ).entry.root
        >>> root.get("lhs_contracting_dims"), root.get("lhs_batch_dims")
        ((1,), ())
        """
        value = self.attributes.get(name)
        return DEFAULTS.get(name) if value is None else value

    @property
    def literal(self) -> HloLiteral:
        """Value of a constant.

        Raises
        ------
        KeyError
            If this is none.
        """
        value: HloLiteral = self.attributes["literal"]
        return value

    @property
    def parameter_number(self) -> int:
        """Which parameter of its computation a parameter is.

        Raises
        ------
        KeyError
            If this is none.
        """
        number: int = self.attributes["parameter_number"]
        return number

    @property
    def to_apply(self) -> C:
        """The one computation that is called.

        Raises
        ------
        HloError
            If none or several are.
        """
        if len(self.called_computations) != 1:
            raise HloError(
                f"{self.opcode} calls {len(self.called_computations)} computations, not one",
                instruction=self.name,
            )
        return self.called_computations[0]

    @property
    def is_root(self) -> bool:
        """Whether its result is that of its computation."""
        return self.computation is not None and self.computation.root is self


@record(frozen=True, slots=True, eq=False)
class ComputationNode(Generic[N]):
    """The fields of an `HloComputation`, and what follows from them."""

    name: str
    instructions: tuple[N, ...]
    root: N = cast("N", None)  # the last one
    execution_thread: str = "main"
    parameters: tuple[N, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        listed = tuple(self.instructions)
        _set(self, "instructions", listed)
        if not listed:
            raise HloError(f"computation {self.name} has no instructions")
        if cast("N | None", self.root) is None:
            _set(self, "root", listed[-1])
        users: dict[InstructionNode[Any], list[N]] = {}
        for instruction in listed:
            if instruction.computation is not None or instruction in users:
                raise HloError(
                    "belongs to a computation already; edit the module instead",
                    instruction=instruction.name,
                )
            for operand in (*instruction.operands, *instruction.control_predecessors):
                if operand not in users:
                    raise HloError(
                        f"operand {operand.name} does not stand before it in {self.name}",
                        instruction=instruction.name,
                    )
            for operand in instruction.operands:
                using = users[operand]
                if not using or using[-1] is not instruction:
                    using.append(instruction)
            users[instruction] = []
        if self.root not in users:
            raise HloError(f"the root {self.root.name} is no instruction of {self.name}")
        _set(self, "parameters", self._number_parameters())
        for used, using in users.items():
            _set(used, "users", tuple(using))
            _set(used, "computation", self)

    def _number_parameters(self) -> tuple[N, ...]:
        found = [instr for instr in self.instructions if instr.opcode == "parameter"]
        found.sort(key=lambda instr: instr.parameter_number)
        numbers = [instr.parameter_number for instr in found]
        if numbers != list(range(len(found))):
            raise HloError(
                f"the parameters of {self.name} have the numbers {numbers}; "
                f"expected 0 to {len(found) - 1}, each once"
            )
        return tuple(found)

    def __iter__(self) -> Iterator[N]:
        return iter(self.instructions)

    def __len__(self) -> int:
        return len(self.instructions)

    def post_order(self) -> tuple[N, ...]:
        """Return the instructions in the order in which XLA prints them.

        From each instruction without users, operands come before their users, the first operand
        first.

        Examples
        --------
        >>> import xarraylite as xl
        >>> f = xl.hlo.parse(
        ...     "f { a = f32[] parameter(0)  b = f32[] parameter(1)"
        ...     "  ROOT c = f32[] subtract(b, a) }"
        ... ).entry
        >>> [i.name for i in f.post_order()]
        ['b', 'a', 'c']
        """
        return post_order(self.instructions)

    def __getitem__(self, name: str) -> N:
        """Return the instruction of a name.

        Raises
        ------
        KeyError
            If there is none.
        """
        return named(name, self.instructions, f"computation {self.name} has no instruction")
