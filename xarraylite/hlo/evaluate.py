"""Running a module: arguments in, results out, in the layouts of its entry.

Each computation becomes a `Program` once; see ``evaluation.program`` for what is fused.  Arguments
are arrays of any layout; results lie as the entry's signature says, in memory of their own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple, Protocol

import numpy as np

from .._errors import HloError
from ..arrays.container import XContainer
from ..arrays.expression import XExpression
from ..arrays.xarray import XArray
from ..dtypes.names import NumpyArray
from ..ir.kind import NODE
from ..layout.layout import Layout
from ..layout.strided import Strided
from ..layout.tiled import TiledMap
from ..memory.buffer import Buffer
from ..xla.spec import ArraySpec
from .evaluation.batched import batched, part_of
from .evaluation.devices import Meeting, Seat
from .evaluation.loops import Ahead, Lined, ahead
from .evaluation.program import Program
from .evaluation.sites import flatten
from .evaluation.values import TOKEN, Value, container, fits, stored
from .instruction import HloComputation, HloInstruction
from .order import callees_first
from .rules.verify import verify_instruction
from .values import Signature


class Module(Protocol):
    """What is asked of a module."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def entry(self) -> HloComputation:
        """Where it begins."""

    @property
    def signature(self) -> Signature:
        """Shapes of parameters and result."""

    @property
    def attributes(self) -> Any:
        """What its header says."""


class _Run:
    """One evaluation on one device."""

    def __init__(self, module: str, devices: Seat) -> None:
        self.module, self.devices = module, devices
        self._random: np.random.Generator | None = None
        self._state = 1

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
def _trip(loop: HloInstruction) -> tuple[Program, list[Ahead | Lined]]:
    flat, products = ahead(loop)
    return Program(flat), products


class _Alone(NamedTuple):
    """A computation as a program."""

    name: str
    entry: HloComputation
    signature: Signature
    attributes: dict[str, Any]


def evaluate(module: Module | HloComputation, *arrays: Any, replicas: int = 1) -> Any:
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
        element type without a dtype.

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
    if isinstance(module, HloComputation):
        specs = tuple([parameter.shape for parameter in module.parameters])
        module = _Alone(module.name, module, Signature(specs, module.root.shape), {})
    partitions = int(module.attributes.get("num_partitions", 1))
    count = replicas * partitions
    if replicas < 1:
        raise HloError(f"evaluate: {replicas} replicas of {module.name}; at least one")
    if count == 1:
        return _on_device(module, _only_seat(), arrays)
    for number, argument in enumerate(arrays):
        if len(argument) != count:
            raise HloError(
                f"evaluate: parameter {number} of {module.name} has {len(argument)} arguments "
                f"for {count} devices"
            )
    return _on_devices(module, replicas, partitions, arrays)


@cache
def _only_seat() -> Seat:
    """Return the device that meets nobody."""
    return Seat(Meeting(1, 1), 0)


def _on_devices(
    module: Module, replicas: int, partitions: int, arrays: Sequence[Sequence[Any]]
) -> list[Any]:
    meeting = Meeting(replicas, partitions)
    results: list[Any] = [None] * meeting.count
    failures: list[BaseException] = []

    def work(device: int) -> None:
        try:
            given = [argument[device] for argument in arrays]
            results[device] = _on_device(module, Seat(meeting, device), given)
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


def _on_device(module: Module, seat: Seat, arrays: Sequence[Any]) -> Any:
    parameters = module.entry.parameters
    if len(arrays) != len(parameters):
        raise HloError(
            f"evaluate: {module.name} takes {len(parameters)} arguments, got {len(arrays)}"
        )
    arguments = [
        container(value)
        if value.__class__ is np.ndarray and value.dtype == dtype and value.shape == sizes
        else _argument(value, parameter.shape, parameter.name)
        for value, parameter, (dtype, sizes) in zip(
            arrays, parameters, _expected(module.entry), strict=True
        )
    ]
    borrowed = [leaf._buffer for argument in arguments for leaf in _leaves(argument)]
    found = stored(_Run(module.name, seat).call(module.entry, arguments))
    return _result(found, module.signature.result, borrowed)


@lru_cache(maxsize=1024)
def _expected(computation: HloComputation) -> list[tuple[Any, Any]]:
    """Return dtype and shape of each parameter, nothing where there is more to ask.

    What runs has to keep the rules; that is looked at once.
    """
    for called in callees_first([computation]):
        for instruction in called.instructions:
            verify_instruction(instruction)
    specs = [parameter.shape for parameter in computation.parameters]
    return [
        (None, None)
        if not spec.is_array or any(spec.dynamic) or spec.element_type.dtype is None
        else (np.dtype(spec.element_type.dtype), spec.dimensions)
        for spec in specs
    ]


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
    elif isinstance(value, np.ndarray | np.generic):
        made = container(value)
    else:
        made = (
            XArray(value, dtype)
            if not hasattr(value, "__array__")
            else container(np.asarray(value))
        )
    if made.dtype != dtype or not fits(made.shape, spec):
        got = f"{made.dtype}{list(made.shape)}"
        raise HloError(f"the argument is {got}, expected {spec}", instruction=name)
    return made


def _leaves(value: Value) -> list[XContainer]:
    if isinstance(value, tuple):
        return [leaf for part in value for leaf in _leaves(part)]
    return [value]


def _result(value: Value, spec: ArraySpec, taken: list[Buffer]) -> Any:
    """Return results in memory of their own and in the layout of the signature."""
    if isinstance(value, tuple):
        parts = zip(value, spec.tuple_shapes, strict=True) if spec.is_tuple else ()
        return tuple([_result(part, inner, taken) for part, inner in parts])
    layout = _unusual(spec)
    made, buffer = value, value._buffer
    if layout is not None:
        same = isinstance(made, XArray) and isinstance(made.map, TiledMap)
        own = same and made.layout == layout
    elif made._kind is NODE:
        own = isinstance(made.map, Strided) and made.map.is_row_major() and not made.readonly
    else:
        own = made._kind.strides is None and not buffer.readonly
    if not own or any([_overlap(buffer, other) for other in taken]):
        made = XArray(made, layout=layout)
    taken.append(made._buffer)
    return made


@lru_cache(maxsize=1024)
def _unusual(spec: ArraySpec) -> Layout | None:
    """Return a result's layout, if it is another one than row-major."""
    layout = spec.layout
    return None if layout is None or layout == Layout.row_major(spec.rank) else layout


def _overlap(one: Buffer, other: Buffer) -> bool:
    first, second = one.address, other.address
    return first < second + other.nbytes and second < first + one.nbytes
