"""Attributes: one table from names to kinds, and from kinds to what reads and prints a value.

A reader gets the text behind the equals sign, without comments, and raises ValueError with what it
expected.  A printer gets the value.  Values that XLA takes for granted are not kept: whoever asks
for one gets the default from `DEFAULTS`.  Attributes with names that nobody knows are kept as text.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from ...xla.spec import ArraySpec
from ..values import ReplicaGroups, ResultAccuracy
from . import kinds_basic, kinds_structured, kinds_windows

#: Readers and printers by kind.
KINDS: Final = MappingProxyType(
    {
        **kinds_basic.KINDS,
        **kinds_windows.KINDS,
        **kinds_structured.KINDS,
    }
)

# Kinds that several attributes have, or that some operations give an attribute; any other kind is
# named after the one attribute that has it.
_SHARED: Final = {
    "bool": """
        alias_passthrough_params constrain_layout custom_call_has_side_effect indices_are_sorted
        is_associative is_composite is_host_transfer is_reverse is_scheduled is_stable largest
        left_side lower unique_indices unit_diagonal use_global_device_ids
    """,
    "bools": """
        allow_spmd_sharding_propagation_to_output allow_spmd_sharding_propagation_to_parameters
    """,
    "int": """
        batch_group_count channel_id cross_program_prefetch_index delta exponent_bits
        feature_group_count feature_index index index_vector_dim inferred_dimension iota_dimension
        k mantissa_bits num_carries num_partitions parameter_number replica_count
    """,
    "ints": """
        collapsed_slice_dims dimensions dynamic_slice_sizes fft_length input_batching_dims
        inserted_window_dims lhs_batch_dims lhs_contracting_dims lhs_ragged_dims offset_dims
        operand_batching_dims rhs_batch_dims rhs_contracting_dims rhs_group_dims
        scatter_dims_to_operand_dims scatter_indices_batching_dims slice_sizes
        start_index_map start_indices_batching_dims update_window_dims
    """,
    "string": """
        async_execution_thread custom_call_target execution_thread infeed_config outfeed_config
    """,
    **dict.fromkeys(("generator", "lists", "metadata", "mode", "text"), ""),
}
_KIND_OF: Final = MappingProxyType(
    {
        **{kind: kind for kind in KINDS if kind not in _SHARED},
        **{name: kind for kind, names in _SHARED.items() for name in names.split()},
    }
)

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
_EMPTY: Final = """
    buffer_donor input_batching_dims input_output_alias lhs_batch_dims lhs_ragged_dims
    operand_batching_dims operand_precision output_to_operand_aliasing rhs_batch_dims
    rhs_group_dims scatter_indices_batching_dims start_indices_batching_dims statistics window
"""
_ONE: Final = ("batch_group_count", "feature_group_count", "num_partitions", "replica_count")
_BLANK: Final = ("backend_config", "infeed_config", "outfeed_config", "origin_recovery_table")
#: Values that XLA takes for granted, by attribute.
DEFAULTS: Final = MappingProxyType(
    {
        "api_version": "API_VERSION_ORIGINAL",
        "async_execution_thread": "main",
        "algorithm": "unset",
        "convolution_kind": "unset",
        "inferred_dimension": -1,
        "padding_type": "PADDING_INVALID",
        "result_accuracy": ResultAccuracy(),
        "schedule": "SCHEDULE_NONE",
        "sparsity_config": "{}",
        "transpose_a": "TRANSPOSE_INVALID",
        "frontend_attributes": _NOTHING,
        **dict.fromkeys(_ONE, 1),
        **dict.fromkeys(_BLANK, ""),
        **dict.fromkeys(_SHARED["bool"].split(), False),
        **dict.fromkeys(_SHARED["bools"].split(), (False,)),
        **dict.fromkeys(_EMPTY.split(), ()),
    }
)

# Operations that may say what their groups are of; XLA reads it, and prints it nowhere.
_GROUPED: Final = frozenset(("all-reduce", "all-reduce-start", "reduce-scatter"))
_WITH_GROUPS: Final = """
    all-gather all-gather-start all-reduce all-reduce-start all-to-all collective-broadcast
    ragged-all-to-all reduce-scatter
"""
_SUMS: Final = ("dot", "ragged-dot", "scaled-dot")
#: Values that are written although they are taken for granted, by opcode.
WRITTEN: Final[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
    {
        **{name: {"replica_groups": ReplicaGroups()} for name in _WITH_GROUPS.split()},
        **{name: {"lhs_contracting_dims": (), "rhs_contracting_dims": ()} for name in _SUMS},
        "broadcast": {"dimensions": ()},
        "scan": {"is_associative": False},
        "topk": {"largest": True},
    }
)


def kind_of(opcode: str, name: str) -> str:
    """Return the kind of an attribute, ``"text"`` for one that is not known.

    Examples
    --------
    >>> from xarraylite.hlo.text.attributes import kind_of
    >>> kind_of("transpose", "dimensions"), kind_of("add", "flavour")
    ('ints', 'text')
    """
    if name == "slice_sizes" and opcode.startswith("collective-permute"):
        return "lists"
    if name == "algorithm" and opcode == "rng-bit-generator":
        return "generator"
    if name == "mode" and opcode in _GROUPED:
        return "mode"
    return _KIND_OF.get(name, "text")


def read_attribute(kind: str, text: str) -> Any:
    """Return the value of a kind that a text gives.

    Raises
    ------
    ValueError
        If the text gives none; it says what was expected.

    Examples
    --------
    >>> from xarraylite.hlo.text.attributes import read_attribute
    >>> read_attribute("slice", "{[0:8:2]}")
    (SliceDimension(start=0, limit=8, stride=2),)
    """
    return KINDS[kind].read(text)


def print_attribute(opcode: str, name: str, value: Any) -> str:
    """Return the text of a value.

    Examples
    --------
    >>> from xarraylite.hlo.text.attributes import print_attribute
    >>> print_attribute("transpose", "dimensions", (1, 0))
    '{1,0}'
    """
    return KINDS[kind_of(opcode, name)].show(value)


def canonical(opcode: str, given: dict[str, Any], first: ArraySpec | None) -> dict[str, Any]:
    """Return attributes without what is taken for granted, and with what is always written.

    Parameters
    ----------
    opcode : str
        The operation.
    given : dict
        Values by name; changed in place.
    first : ArraySpec or None
        Shape of the first operand.
    """
    written = WRITTEN.get(opcode, _NOTHING)
    for name, value in written.items():
        given.setdefault(name, value)
    for name in [name for name in given if name in DEFAULTS and name not in written]:
        if given[name] == DEFAULTS[name]:
            del given[name]
    if set(given.get("operand_precision", ())) == {"default"}:
        del given["operand_precision"]
    if "type" in given and opcode == "compare" and given["type"] == comparison_type(first):
        del given["type"]
    if opcode == "ragged-all-to-all":
        given.pop("dimensions", None)
    elif opcode in _GROUPED:
        given.pop("mode", None)
    elif opcode == "outfeed" and first is not None:
        given.setdefault("outfeed_shape", first)
    return given


def comparison_type(shape: ArraySpec | None) -> str:
    """Return how operands of a shape are compared unless an instruction says otherwise."""
    if shape is None:
        return ""
    kind = shape.element_type
    if kind.is_floating or kind.is_complex:
        return "FLOAT"
    return "UNSIGNED" if kind.is_unsigned or kind.name == "pred" else "SIGNED"
