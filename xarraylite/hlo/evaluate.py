"""Running a module: arguments in, results out, in the layouts of its entry.

Each computation becomes a `Program` once; see ``evaluation.program`` for what is fused.  Arguments
are arrays of any layout; results lie as the entry's signature says, in memory of their own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np

from .._errors import HloError
from ..arrays.container import XContainer
from ..arrays.expression import XExpression
from ..arrays.xarray import XArray
from ..dtypes.names import NumpyArray, as_dtype
from ..ir.kind import NODE, Kind, row_major
from ..layout.layout import Layout
from ..layout.strided import Strided
from ..layout.tiled import TiledMap
from ..memory.buffer import Buffer
from ..xla.spec import ArraySpec
from .evaluation.batched import batched, part_of
from .evaluation.devices import Meeting, Seat
from .evaluation.inlining import flatten
from .evaluation.loops import Ahead, ahead
from .evaluation.program import Program
from .evaluation.values import TOKEN, Value, container, fits, stored
from .instruction import HloComputation, HloInstruction
from .nodes import callees_first
from .rules.inference import verify_instruction


class _Run:
    """One evaluation on one device."""

    _random: np.random.Generator | None = None
    _state = 1

    def __init__(self, module: str, devices: Seat) -> None:
        self.module, self.devices = module, devices

    @property
    def random(self) -> np.random.Generator:
        if self._random is None:  # few programs ask
            self._random = np.random.default_rng(self.devices.device)
        return self._random

    def call(self, computation: HloComputation, arguments: list[Value]) -> Value:
        return _program(computation).run(self, arguments)

    def batched(self, computation: HloComputation) -> Callable[..., tuple[NumpyArray, ...]]:
        return batched(self, computation)

    def trip(self, loop: HloInstruction, state: Value) -> Callable[[list[Value]], Value]:
        program, products = _trip(loop)
        made = [product.value(self, state) for product in products]

        def run(arguments: list[Value]) -> Value:
            arguments += made
            return program.run(self, arguments)

        return run

    def part(self, root: HloInstruction, given: dict[int, NumpyArray]) -> NumpyArray:
        return part_of(self, root, given)

    def step_random(self, delta: int) -> int:
        before = self._state
        self._state = (before + delta) % 2**128
        return before


@lru_cache(maxsize=1024)
def _program(computation: HloComputation) -> Program:
    return Program(flatten(computation))


@lru_cache(maxsize=1024)
def _trip(loop: HloInstruction) -> tuple[Program, list[Ahead]]:
    flat, products = ahead(loop)
    return Program(flat), products


def evaluate(module: Any, *arrays: Any, replicas: int = 1) -> Any:
    """Run a module's entry computation, or another one of its computations.

    Parameters
    ----------
    module : HloModule or HloComputation
        The program.
    *arrays : array or nested sequence of arrays
        One for each parameter, with its dtype; lists and numbers are converted to it.  Where a
        dimension is dynamic, any size up to its bound will do.  With several devices, each is a
        sequence of one argument per device.
    replicas : int, default 1
        How many copies of the program run together.  Each has as many partitions as the module
        says (``num_partitions``); device ``replica * partitions + partition`` is a thread.

    Returns
    -------
    XArray or tuple
        The result, in the layout of the entry's signature; the empty tuple for a token.  With
        several devices, a list of theirs.

    Raises
    ------
    HloError
        If arguments do not fit, an instruction breaks a rule of `HloModule.verify`, or one cannot
        be evaluated: a custom call that nobody registered, a constant that the text left out, an
        element type without a dtype, or loops within loops hundreds deep.

    Examples
    --------
    >>> import numpy as np
    >>> import xarraylite as xl
    >>> module = xl.hlo.parse('''
    ... ENTRY main { x = s32[4] parameter(0)  y = s32[4] parameter(1)
    ...              ROOT z = s32[4] divide(x, y) }''')
    >>> xl.hlo.evaluate(module, np.int32([7, -7, 7, 1]), np.int32([2, 2, 0, -1]))
    XArray([ 3, -3, -1, -1], dtype=int32)
    """
    try:
        return _run(module, arrays, replicas)
    except RecursionError as error:
        raise HloError(
            f"evaluate: loops, branches and regions of {module.name} nest too deep to be run"
        ) from error


def _run(module: Any, arrays: Sequence[Any], replicas: int) -> Any:
    entry = _entry(module)
    count = replicas * entry.partitions
    if replicas < 1:
        raise HloError(f"evaluate: {replicas} replicas of {module.name}; at least one")
    if count == 1:
        return entry.run(_only_seat(), arrays)
    for number, argument in enumerate(arrays):
        if len(argument) != count:
            raise HloError(
                f"evaluate: parameter {number} of {module.name} has {len(argument)} arguments "
                f"for {count} devices"
            )
    return _on_devices(entry, Meeting(replicas, entry.partitions), arrays)


@cache
def _only_seat() -> Seat:
    """Return the device that meets nobody."""
    return Seat(Meeting(1, 1), 0)


def _on_devices(entry: _Entry, meeting: Meeting, arrays: Sequence[Sequence[Any]]) -> list[Any]:
    results: list[Any] = [None] * meeting.count
    failures: list[BaseException] = []

    def work(device: int) -> None:
        try:
            given = [argument[device] for argument in arrays]
            results[device] = entry.run(Seat(meeting, device), given)
            meeting.exchange(device, None, None)
        except threading.BrokenBarrierError:
            pass
        except BaseException as error:  # handed to the caller's thread
            failures.append(error)
            meeting.barrier.abort()

    threads = [
        threading.Thread(target=work, args=(device,), daemon=True)
        for device in range(meeting.count)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return results


class _Parameter(NamedTuple):
    """What a parameter takes.

    Attributes
    ----------
    dtype, sizes : numpy.dtype, tuple of int
        Of its arrays; None where there is more to ask.
    kind : Kind or None
        Of the containers that stand for them; None where arrays are read as they are.
    instruction : HloInstruction
        The parameter.
    """

    dtype: np.dtype[Any] | None
    sizes: tuple[int, ...] | None
    kind: Kind | None
    instruction: HloInstruction


class _Entry(NamedTuple):
    """A program's entry, ready to run.

    Attributes
    ----------
    name : str
        Of the program.
    parameters : tuple of _Parameter
        What it takes.
    program : Program
        What it does.
    result : Layout, None, or tuple
        How its results lie; None for row-major.
    partitions : int
        On how many devices a replica runs.
    """

    name: str
    parameters: tuple[_Parameter, ...]
    program: Program
    result: Any
    partitions: int

    def run(self, seat: Seat, arrays: Sequence[Any]) -> Any:
        """Return what it makes of arguments on one device."""
        name, parameters, program, result, _ = self
        if len(arrays) != len(parameters):
            raise HloError(f"evaluate: {name} takes {len(parameters)} arguments, got {len(arrays)}")
        arguments: list[Value] = []
        plain: list[NumpyArray] = []
        taken: list[Buffer] = []
        for value, (dtype, sizes, kind, instruction) in zip(arrays, parameters, strict=True):
            if value.__class__ is np.ndarray and value.dtype == dtype and value.shape == sizes:
                plain.append(value)
                arguments.append(value if kind is None else container(value, kind))
            else:
                arguments.append(_argument(value, instruction.shape, instruction.name))
                taken += [leaf._buffer for leaf in _leaves(arguments[-1])]
        found = program.run(_Run(name, seat), arguments)
        return _result(stored(found), result, taken, plain)


@lru_cache(maxsize=1024)
def _entry(module: Any) -> _Entry:
    """Return the entry of a module, or a computation that is run alone, ready to run.

    What runs has to keep the rules; that is looked at once.
    """
    if isinstance(module, HloComputation):
        entry, result, partitions = module, module.root.shape, 1
    else:
        entry, result = module.entry, module.signature.result
        partitions = int(module.attributes.get("num_partitions", 1))
    for called in callees_first([entry]):
        for instruction in called.instructions:
            verify_instruction(instruction)
    program = _program(entry)
    parameters = [
        _parameter(parameter, number in program.arrays)
        for number, parameter in enumerate(entry.parameters)
    ]
    return _Entry(module.name, tuple(parameters), program, _layouts(result), partitions)


def _parameter(instruction: HloInstruction, as_array: bool) -> _Parameter:
    spec = instruction.shape
    if not spec.is_array or any(spec.dynamic) or spec.element_type.dtype is None:
        return _Parameter(None, None, None, instruction)
    dtype = np.dtype(spec.element_type.dtype)
    kind = None if as_array else row_major(as_dtype(dtype), spec.rank)
    return _Parameter(dtype, spec.dimensions, kind, instruction)


def _argument(value: Any, spec: ArraySpec, name: str) -> Value:
    """Return an argument as a container, or a tuple of them."""
    if spec.is_tuple:
        if not isinstance(value, tuple | list) or len(value) != len(spec.tuple_shapes):
            raise HloError(f"the argument is no tuple of shape {spec}", instruction=name)
        pairs = zip(value, spec.tuple_shapes, strict=True)
        return tuple([_argument(part, inner, name) for part, inner in pairs])
    if not spec.is_array:
        return TOKEN
    if spec.element_type.dtype is None:
        raise HloError(f"there are no arrays of {spec.element_type.name}", instruction=name)
    dtype = np.dtype(spec.element_type.dtype)
    if isinstance(value, XExpression):
        made = stored(value)
    else:
        made = container(value) if hasattr(value, "__array__") else XArray(value, dtype)
    if made.dtype != dtype or not fits(made.shape, spec):
        got = f"{made.dtype}{list(made.shape)}"
        raise HloError(f"the argument is {got}, expected {spec}", instruction=name)
    return made


def _leaves(value: Value) -> list[XContainer]:
    if isinstance(value, tuple):
        return [leaf for part in value for leaf in _leaves(part)]
    return [value]


def _result(value: Value, layout: Any, taken: list[Buffer], plain: list[NumpyArray]) -> Any:
    """Return results in memory of their own and as they are to lie.

    Memory that is not their own is that of buffers, or of arrays that were taken as they are.
    """
    if isinstance(value, tuple):
        parts = zip(value, layout, strict=True) if layout else ()
        return tuple([_result(part, inner, taken, plain) for part, inner in parts])
    made, buffer = value, value._buffer
    if layout is not None:
        same = isinstance(made, XArray) and isinstance(made.map, TiledMap)
        own = same and made.layout == layout
    elif made._kind is NODE:
        own = isinstance(made.map, Strided) and made.map.is_row_major() and not made.readonly
    else:
        own = made._kind.strides is None and not buffer.readonly
    others = taken
    if buffer.shared:  # what was allocated for this run is not
        others = taken + [Buffer.borrow(array) for array in plain]
    if not own or (others and any([_overlap(buffer, other) for other in others])):
        made = XArray(made, layout=layout)
    taken.append(made._buffer)
    return made


def _layouts(spec: ArraySpec) -> Any:
    """Return the layout of a result, None for row-major; of a tuple, those of its elements."""
    if spec.is_tuple:
        return tuple([_layouts(part) for part in spec.tuple_shapes])
    layout = spec.layout if spec.is_array else None
    return None if layout is None or layout == Layout.row_major(spec.rank) else layout


def _overlap(one: Buffer, other: Buffer) -> bool:
    first, second = one.address, other.address
    return first < second + other.nbytes and second < first + one.nbytes
