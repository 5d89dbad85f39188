"""Instructions and computations: the nodes of a program and the functions they stand in.

A computation is a list of instructions in an order in which each comes behind its operands.  Both
are frozen.  An instruction belongs to one computation, which tells it who its users are; a change
makes new objects for the whole computation and for whoever calls it, and shares the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, cast

from .._errors import HloError
from .._records import record
from ..xla.spec import ArraySpec
from .order import post_order
from .text.attributes import DEFAULTS
from .text.printer import computation_text, instruction_text
from .text.styles import print_options
from .values import OpMetadata

if TYPE_CHECKING:
    from .text.literals import HloLiteral


_NONE: Final[Mapping[str, Any]] = MappingProxyType({})
_set = object.__setattr__


def unknown() -> Any:
    """What stands for the last instruction or computation until it is known."""
    return None


def no_attributes() -> Mapping[str, Any]:
    """What an instruction or a module has that none are given."""
    return _NONE


@record(frozen=True, slots=True, eq=False)
class HloInstruction:
    """One operation on the results of others.

    Attributes
    ----------
    name : str
        Unique in its module, without ``%``.
    opcode : str
        What it does: ``"add"``, ``"get-tuple-element"``, ...
    shape : ArraySpec
        Shape and layout of its result.
    operands : tuple of HloInstruction
        Whose results it takes.
    attributes : mapping
        Typed values by name, without those that are taken for granted; see `get`.
    called_computations : tuple of HloComputation
        Computations it applies, in the order of ``OPCODES[opcode].calls``; the branches of a
        conditional by number.
    control_predecessors : tuple of HloInstruction
        What must have run before it, though it takes no result of theirs.
    metadata : OpMetadata or None
        Where it comes from.
    users : tuple of HloInstruction
        Who takes its result, each once, in the order in which they stand.
    computation : HloComputation or None
        Where it stands.

    Examples
    --------
    >>> import xarraylite as xl
    >>> module = xl.hlo.parse(
    ...     "ENTRY e { p = f32[2,3] parameter(0)  t = f32[3,2] transpose(p), dimensions={1,0} }"
    ... )
    >>> root = module.entry.root
    >>> root.opcode, str(root.shape), root.operands[0].name, root.attributes["dimensions"]
    ('transpose', 'f32[3,2]{1,0}', 'p', (1, 0))
    """

    name: str
    opcode: str
    shape: ArraySpec
    operands: tuple[HloInstruction, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=no_attributes)
    called_computations: tuple[HloComputation, ...] = ()
    control_predecessors: tuple[HloInstruction, ...] = ()
    metadata: OpMetadata | None = None
    users: tuple[HloInstruction, ...] = field(default=(), repr=False)
    computation: HloComputation | None = field(default=None, repr=False)

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
    def to_apply(self) -> HloComputation:
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

    def to_text(self, style: str = "default", **options: Any) -> str:
        """Return the instruction's line as XLA prints it; see ``HloModule.to_text``.

        Raises
        ------
        HloError
            If there is no such style or option.
        """
        return instruction_text(self, print_options(style, options))

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        names = ", ".join([operand.name for operand in self.operands])
        return f"<HloInstruction {self.name} = {self.shape} {self.opcode}({names})>"


@record(frozen=True, slots=True, eq=False)
class HloComputation:
    """A function: instructions, parameters among them, one of which is the result.

    Attributes
    ----------
    name : str
        Unique in its module.
    instructions : tuple of HloInstruction
        In definition order: operands stand before their users.
    root : HloInstruction
        Whose result is returned; the last instruction unless another one is given.
    parameters : tuple of HloInstruction
        By number.
    execution_thread : str
        Where it runs; ``"main"`` as a rule.

    Raises
    ------
    HloError
        If an instruction stands behind a user, belongs to another computation, or the numbers of
        the parameters have a hole.

    Examples
    --------
    >>> import xarraylite as xl
    >>> module = xl.hlo.parse("f { a = f32[] parameter(0)  ROOT b = f32[] negate(a) }")
    >>> f = module.entry
    >>> [i.name for i in f.instructions], f.root.name, f.parameters[0].users == (f.root,)
    (['a', 'b'], 'b', True)
    """

    name: str
    instructions: tuple[HloInstruction, ...]
    root: HloInstruction = field(default_factory=unknown)
    execution_thread: str = "main"
    parameters: tuple[HloInstruction, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        listed = tuple(self.instructions)
        _set(self, "instructions", listed)
        if not listed:
            raise HloError(f"computation {self.name} has no instructions")
        if cast("HloInstruction | None", self.root) is None:
            _set(self, "root", listed[-1])
        users: dict[HloInstruction, list[HloInstruction]] = {}
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
        for instruction, using in users.items():
            _set(instruction, "users", tuple(using))
            _set(instruction, "computation", self)

    def _number_parameters(self) -> tuple[HloInstruction, ...]:
        found = [instr for instr in self.instructions if instr.opcode == "parameter"]
        found.sort(key=lambda instr: instr.parameter_number)
        numbers = [instr.parameter_number for instr in found]
        if numbers != list(range(len(found))):
            raise HloError(
                f"the parameters of {self.name} have the numbers {numbers}; "
                f"expected 0 to {len(found) - 1}, each once"
            )
        return tuple(found)

    def __iter__(self) -> Iterator[HloInstruction]:
        return iter(self.instructions)

    def __len__(self) -> int:
        return len(self.instructions)

    def post_order(self) -> tuple[HloInstruction, ...]:
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

    def __getitem__(self, name: str) -> HloInstruction:
        """Return the instruction of a name.

        Raises
        ------
        KeyError
            If there is none.
        """
        for instruction in self.instructions:
            if instruction.name == name:
                return instruction
        raise KeyError(name)

    def to_text(self, style: str = "default", **options: Any) -> str:
        """Return the text of the computation as XLA prints it; see ``HloModule.to_text``.

        Raises
        ------
        HloError
            If there is no such style or option.
        """
        return computation_text(self, print_options(style, options))

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"<HloComputation {self.name}: {len(self.instructions)} instructions>"
