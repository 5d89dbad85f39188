"""XLA's operations: one row each, from which the reader, the printer and the verifier work.

A row says how many operands an operation takes, which attributes it has, in the order in which XLA
prints them, and which computations it calls, under which attribute names.  ``!`` marks what must be
there.  Attributes that every instruction may have (sharding, metadata, ...) are no part of a row.

The names are those of XLA's text.  Three of them wrap another operation, which text may put in
their place: ``all-gather-start`` has a row of its own, while ``negate-start`` is an
``async-start`` of a computation that only negates.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Any, Final, TypeVar

from .._records import record

F = TypeVar("F", bound=Callable[..., Any])


@record(frozen=True, slots=True, eq=False)
class Opcode:
    """One operation of XLA.

    Attributes
    ----------
    name : str
        As in text: ``"get-tuple-element"``.
    arity : int or None
        Number of operands; None where there may be any number of them from ``least`` on.
    attributes : tuple of str
        Names of its attributes, in printing order.
    required : tuple of str
        Attributes and called computations that must be given.
    calls : tuple of str
        Attribute names of the computations it calls, in the order of
        ``HloInstruction.called_computations``.
    elements : str
        What the elements of its operands are, where it works element by element on operands like
        its result (a kind of `rules.elementwise`).
    work : {"plain", "function", ""}
        What an element of its result counts as: an operation, or an elementary function.
    least : int
        How many operands there are at least, where there may be any number.
    """

    name: str
    arity: int | None
    attributes: tuple[str, ...]
    required: tuple[str, ...]
    calls: tuple[str, ...]
    elements: str = ""
    work: str = ""
    least: int = 1


# operands | kind of their elements (`rules.elementwise`) | what an element counts as | names
_ELEMENTWISE = """
1|inexact|function|acos acosh asin asinh atanh cosine cosh exponential exponential-minus-one
1|inexact|function|log log-plus-one logistic rsqrt sine sinh sqrt tan tanh
1|float|function|cbrt erf
1|float|plain|ceil floor round-nearest-afz round-nearest-even
1|number|plain|negate
1|signed|plain|sign
1|bits|plain|not
1|int|plain|count-leading-zeros popcnt
2|any|plain|add maximum minimum multiply
2|number|plain|divide subtract
2|number|function|power
2|real|plain|remainder
2|inexact|function|atan2
2|bits|plain|and or xor
2|int|plain|mulhi shift-left shift-right-arithmetic shift-right-logical
1||plain|abs convert is-finite
2||plain|stochastic-convert
3||plain|clamp select
1||none|all-gather-done all-reduce-done bitcast bitcast-convert collective-permute-done copy
1||none|copy-done imag opt-barrier real
2||none|add-dependency complex
"""
_GROUPS = "channel_id replica_groups constrain_layout"
_DOT = "lhs_batch_dims lhs_contracting_dims rhs_batch_dims rhs_contracting_dims"
_TRANSFER = "channel_id is_host_transfer"

# name | operands, 1 or more unless it is said | attributes in printing order | attributes that name
# computations | counts as
_ROWS = f"""
after-all|0+|
all-gather||{_GROUPS} dimensions! use_global_device_ids
all-gather-start||{_GROUPS} dimensions! use_global_device_ids
all-reduce||{_GROUPS} use_global_device_ids|to_apply!
all-reduce-start||{_GROUPS} use_global_device_ids|to_apply!
all-to-all||{_GROUPS} dimensions
async-done|1|async_execution_thread|calls
async-start|0+|async_execution_thread output_to_operand_aliasing|calls!
async-update|1|async_execution_thread|calls
batch-norm-grad|5|epsilon! feature_index!
batch-norm-inference|5|epsilon! feature_index!
batch-norm-training|3|epsilon! feature_index!
broadcast|1|dimensions!
call|0+|is_composite|to_apply!
cholesky|1|lower
collective-broadcast||channel_id replica_groups
collective-permute||channel_id source_target_pairs! slice_sizes
collective-permute-start||channel_id source_target_pairs! slice_sizes
compare|2|direction! type||plain
concatenate||dimensions!
conditional|||true_computation false_computation branch_computations
constant||literal!
convolution|2|window dim_labels! feature_group_count batch_group_count convolution_kind \
operand_precision sparsity_config
copy-start|1|cross_program_prefetch_index
custom-call||window dim_labels feature_group_count batch_group_count operand_precision \
padding_type custom_call_target! operand_layout_constraints custom_call_has_side_effect literal \
output_to_operand_aliasing schedule api_version|called_computations to_apply
domain|1|domain!
dot|2|{_DOT} operand_precision algorithm
dynamic-reshape||
dynamic-slice||dynamic_slice_sizes!
dynamic-update-slice|2+|
fft|1|fft_type! fft_length!
fusion|0+|kind! output_to_operand_aliasing|calls!
gather|2|offset_dims! collapsed_slice_dims! start_index_map! operand_batching_dims \
start_indices_batching_dims index_vector_dim! slice_sizes! indices_are_sorted
get-dimension-size|1|dimensions!
get-tuple-element|1|index!
infeed|1|infeed_config
iota|0|iota_dimension!
map||dimensions|to_apply!
outfeed|2|outfeed_shape outfeed_config
pad|2|padding!
parameter||parameter_number! parameter_replication
partition-id|0|
ragged-all-to-all||channel_id replica_groups
ragged-dot|3|{_DOT} lhs_ragged_dims rhs_group_dims operand_precision
recv|1|{_TRANSFER}
recv-done|1|{_TRANSFER}
reduce||dimensions!|to_apply!
reduce-precision|1|exponent_bits! mantissa_bits!||plain
reduce-scatter||{_GROUPS} use_global_device_ids dimensions!|to_apply!
reduce-window||window|to_apply!
replica-id|0|
reshape|1|inferred_dimension
reverse|1|dimensions!
rng||distribution!
rng-bit-generator||algorithm!
rng-get-and-update-state|0|delta!
scaled-dot|4|{_DOT} operand_precision algorithm
scan|0+|dimensions! num_carries! is_reverse is_associative|to_apply!
scatter|3+|update_window_dims! inserted_window_dims! scatter_dims_to_operand_dims! \
input_batching_dims scatter_indices_batching_dims index_vector_dim! indices_are_sorted \
unique_indices|to_apply!
select-and-scatter|3|window|select! scatter!
send|2|{_TRANSFER}
send-done|1|{_TRANSFER}
set-dimension-size|2|dimensions!
slice|1|slice!
sort||dimensions! is_stable|to_apply!
topk|1|k! largest
transpose|1|dimensions!
triangular-solve|2|left_side lower unit_diagonal transpose_a
tuple|0+|
while|1||body! condition!
"""


def _elementwise(line: str) -> list[Opcode]:
    arity, kind, work, names = line.split("|")
    return [
        Opcode(name, int(arity), (), (), (), kind, "" if work == "none" else work)
        for name in names.split()
    ]


def _read(line: str) -> Opcode:
    name, arity, names, calls, work, *_ = [*line.split("|"), "", ""]
    listed = [*names.split(), *calls.split()]
    return Opcode(
        name,
        int(arity) if arity.isdigit() else None,
        tuple([attribute.rstrip("!") for attribute in names.split()]),
        tuple([attribute.rstrip("!") for attribute in listed if attribute.endswith("!")]),
        tuple([attribute.rstrip("!") for attribute in calls.split()]),
        work=work,
        least=int(arity[:1] or 1),
    )


#: Every operation by its name.
OPCODES: Final = MappingProxyType(
    {
        row.name: row
        for row in [
            *[row for line in _ELEMENTWISE.split("\n") if line for row in _elementwise(line)],
            *[_read(line) for line in _ROWS.split("\n") if line],
        ]
    }
)

#: Operations that normalise batches.
BATCH_NORMS: Final = ("batch-norm-grad", "batch-norm-inference", "batch-norm-training")

#: Operations whose error may be bounded by the attribute ``result_accuracy``.
ACCURATE: Final = frozenset(
    [row.name for row in OPCODES.values() if row.arity == 1 and row.work == "function"]
)


def by_opcode(*functions: F) -> dict[str, F]:
    """Return functions by the operations that they are named after.

    Examples
    --------
    >>> from xarraylite.hlo.opcodes import by_opcode
    >>> def _dynamic_slice(): ...
    >>> list(by_opcode(_dynamic_slice))
    ['dynamic-slice']
    """
    return {function.__name__.strip("_").replace("_", "-"): function for function in functions}
