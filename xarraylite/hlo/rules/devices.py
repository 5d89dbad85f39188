"""Shapes of operations between devices, of asynchronous ones, and of tokens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from ...xla.spec import ArraySpec
from ..opcodes import by_opcode
from .call import Call, Rule, array, first_operand, one_or_tuple, scalar, with_dimensions
from .windows import reducer

_U32: Final = array("u32", ())


def _groups(call: Call) -> int:
    """Check groups of replicas; return their size, or 0 where it is not known."""
    groups = call.attributes.get("replica_groups")
    rows = groups.expanded() if groups is not None else ()
    listed = [number for row in rows for number in row]
    call.require(len(set(listed)) == len(listed), "a replica is in one group of replica_groups")
    call.require(
        all(rows)
        and (call.opcode == "collective-broadcast" or max(listed, default=-1) < len(listed)),
        "replica_groups name every replica, and none is empty",
    )
    call.require(
        not call.attributes.get("use_global_device_ids")
        or (bool(rows) and "channel_id" in call.attributes),
        "use_global_device_ids goes with replica_groups and a channel_id",
    )
    sizes = {len(row) for row in rows}
    call.require(len(sizes) < 2 or call.opcode.startswith("all-reduce"), "groups have one size")
    return sizes.pop() if len(sizes) == 1 else 0


def _collective_broadcast(call: Call) -> ArraySpec:
    _groups(call)
    return one_or_tuple(call.shapes)


def _all_reduce(call: Call) -> ArraySpec:
    _groups(call)
    # One scalar reducer serves operands of every type; it is checked against the first.
    reducer(call, [scalar(call.shapes[0])])
    return one_or_tuple(call.shapes)


def _gathered(call: Call, factor: int, divide: bool) -> ArraySpec | None:
    """Arrays whose one dimension is multiplied, or divided, by the size of a group."""
    axes = call.ints("dimensions")
    call.require(len(axes) == 1, "dimensions names one of them")
    made = []
    for shape in call.shapes:
        call.require(0 <= axes[0] < shape.rank, f"dimension {axes[0]} is one of the operands'")
        if not factor:
            return None
        size = shape.dimensions[axes[0]]
        call.require(not divide or size % factor == 0, f"groups of {factor} divide {size}")
        sizes = list(shape.dimensions)
        sizes[axes[0]] = size // factor if divide else size * factor
        made.append(with_dimensions(shape, sizes))
    return one_or_tuple(made)


def _all_gather(call: Call) -> ArraySpec | None:
    return _gathered(call, _groups(call), divide=False) or call.result


def _all_gather_start(call: Call) -> ArraySpec | None:
    gathered = _all_gather(call)
    if gathered is None or (call.result is not None and not _groups(call)):
        return call.result
    return ArraySpec.tuple([one_or_tuple(call.shapes), gathered])


def _reduce_scatter(call: Call) -> ArraySpec | None:
    reducer(call, [scalar(call.shapes[0])])
    return _gathered(call, _groups(call), divide=True) or call.result


def _all_to_all(call: Call) -> ArraySpec:
    size = _groups(call)
    if "dimensions" not in call.attributes:
        call.require(
            not size or size == len(call.shapes), "takes one operand for each member of a group"
        )
        return ArraySpec.tuple(call.shapes)
    return one_or_tuple(call.shapes)


def _collective_permute(call: Call) -> ArraySpec | None:
    pairs = call.get("source_target_pairs")
    call.require(all([len(pair) == 2 for pair in pairs]), "source_target_pairs are pairs")
    in_place, often = "slice_sizes" in call.attributes, 1
    if in_place and len(call.shapes) == 4:  # a place, or some, in each of the operands
        places = call.shapes[2:3] if call.shapes[0].is_array else call.shapes[2].tuple_shapes[:1]
        often = sum([len(place.tuple_shapes) for place in places])
    for chosen in zip(*pairs, strict=True):
        most = max(Counter(chosen).values())
        call.require(most <= often, f"a device sends and receives at most {often} times")
    if in_place:
        return call.shapes[1] if len(call.shapes) == 4 else call.result
    return one_or_tuple(call.shapes)


def _collective_permute_start(call: Call) -> ArraySpec | None:
    moved, result = _collective_permute(call), call.result
    if moved is not None and result is not None and "slice_sizes" not in call.attributes:
        parts = result.tuple_shapes
        fits = len(parts) >= 2 and all([part.compatible(moved) for part in parts[:2]])
        call.require(fits, "gives (operand, result, ...)")
    return result


def _ragged_all_to_all(call: Call) -> ArraySpec:
    call.count(6)
    lengths = {(shape.element_type.is_integral, shape.dimensions) for shape in call.shapes[2:]}
    call.require(
        len(lengths) == 1 and all([whole and len(sizes) == 1 for whole, sizes in lengths]),
        "offsets and sizes are vectors of integers, all of one length",
    )
    _groups(call)
    return call.shapes[1]


def _done(place: int) -> Rule:
    """The end of something that was started: a place of the tuple that stands for it."""
    return lambda call: _started(call)[place]


def _started(call: Call) -> Sequence[ArraySpec]:
    """Return the parts of what was started."""
    name = call.opcode.removesuffix("-done")
    start = name if name in ("recv", "send") else f"{name}-start"
    call.require(len(call.shapes[0].tuple_shapes) >= 2, f"takes what {start} gives")
    return call.shapes[0].tuple_shapes


def _copy_start(call: Call) -> ArraySpec:
    result = call.said()
    (operand,) = call.shapes
    call.require(
        result.is_tuple
        and len(result.tuple_shapes) == 3
        and all([shape.compatible(operand) for shape in result.tuple_shapes[:2]]),
        "gives (copy, operand, context)",
    )
    return result


def _async_start(call: Call) -> ArraySpec:
    result = call.said()
    call.require(
        result.is_tuple and len(result.tuple_shapes) >= 2 and result.tuple_shapes[0].is_tuple,
        "gives ((operands), result, ...)",
    )
    call.require(
        ArraySpec.tuple(call.shapes).compatible(result.tuple_shapes[0]),
        "the first element is the tuple of the operands",
    )
    call.signature(0, call.shapes, result.tuple_shapes[1], "the computation")
    return result


def _add_dependency(call: Call) -> ArraySpec:
    call.require(call.shapes[1].is_token, "the second operand is a token")
    return call.shapes[0]


def _infeed(call: Call) -> ArraySpec | None:
    call.require(call.shapes[0].is_token, "takes a token")
    result = call.result
    fits = result is None or (
        result.is_tuple and len(result.tuple_shapes) >= 2 and result.tuple_shapes[-1].is_token
    )
    call.require(fits, "gives a tuple that ends in a token")
    return result


def _ended(rule: Callable[[Call], object]) -> Rule:
    """What gives a token when it is done."""

    def ended(call: Call) -> ArraySpec:
        rule(call)
        return ArraySpec.token()

    return ended


#: Rules by operation.
RULES: Final[dict[str, Rule]] = {
    **by_opcode(_add_dependency, _all_gather, _all_gather_start, _all_reduce, _all_to_all),
    **by_opcode(_async_start, _collective_broadcast, _collective_permute, _copy_start, _infeed),
    **by_opcode(_collective_permute_start, _ragged_all_to_all, _reduce_scatter),
    **dict.fromkeys(("all-reduce-done", "async-update", "domain"), first_operand),
    **dict.fromkeys(("all-gather-done", "async-done", "collective-permute-done"), _done(1)),
    **dict.fromkeys(("partition-id", "replica-id"), lambda call: _U32),
    "after-all": lambda call: ArraySpec.token(),
    "all-reduce-start": _all_reduce,
    "copy-done": _done(0),
    "outfeed": _ended(_add_dependency),
    "recv": _infeed,
    "recv-done": lambda call: ArraySpec.tuple([_started(call)[0], ArraySpec.token()]),
    "send": lambda call: ArraySpec.tuple([_add_dependency(call), _U32, ArraySpec.token()]),
    "send-done": _ended(_started),
}
