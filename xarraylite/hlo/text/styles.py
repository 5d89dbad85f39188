"""Styles of HLO text: sets of XLA's printing options."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from ..._errors import HloError
from ..._records import record


@record(frozen=True, slots=True)
class PrintOptions:
    """What is printed, and how.

    The names are those of XLA's ``HloPrintOptions``, but for ``print_made_up_constants``.

    Attributes
    ----------
    canonicalize_computations : bool
        Whether computations are printed in definition order, not as they are called.
    canonicalize_instruction_names : bool
        Whether instructions are called ``tmp_0``, ``tmp_1``, ... in each computation.
    compact_operands : bool
        Whether only the first four operands are shown.
    include_layout_in_shapes : bool
        Whether shapes of instructions have layouts.
    indent_amount : int
        How many levels, of two blanks each, the text is indented.
    is_in_nested_computation : bool
        Whether an instruction is printed as part of a computation, and that without its name.
    print_backend_config, print_control_dependencies, print_extra_attributes, \
    print_frontend_attributes, print_original_value : bool
        Whether these attributes are shown; extra ones are those of the operation itself.
    print_full_replica_group_list : bool
        Whether groups of replicas are listed instead of described.
    print_ids : bool
        Whether the numbers of names, and the names of modules and computations, are shown.
    print_large_constants : bool
        Whether constants of more than ten elements are written out.
    print_made_up_constants : bool
        Whether constants that a text left out are written with the numbers that XLA makes up for
        them, where constants are written out.
    print_metadata : bool
        Whether metadata and the tables of stack frames are shown.
    print_metadata_only_op_name : bool
        Whether metadata is shown as the name in the framework's program alone.
    print_only_essential_constants : bool
        Whether constants other than 0, 1 and integers are left out.
    print_operand_index_annotation_interval : int
        After how many operands a comment counts them; 0 for never.
    print_operand_names, print_operand_shape, print_percent : bool
        How operands are shown.
    print_program_shape, print_result_shape : bool
        Whether the parameters of computations, and the shapes of results, are shown.
    print_subcomputation_mode : {"name_only", "full_bodies", "non_sequential_bodies", "off"}
        How computations that are called are shown: by name, by what they contain, the latter but
        not those of calls, conditionals and loops, or not at all.
    syntax_sugar_async_ops : bool
        Whether asynchronous operations are shown as what they wrap: ``negate-start``.
    """

    canonicalize_computations: bool = False
    canonicalize_instruction_names: bool = False
    compact_operands: bool = False
    include_layout_in_shapes: bool = True
    indent_amount: int = 0
    is_in_nested_computation: bool = False
    print_backend_config: bool = True
    print_control_dependencies: bool = True
    print_extra_attributes: bool = True
    print_frontend_attributes: bool = True
    print_full_replica_group_list: bool = False
    print_ids: bool = True
    print_large_constants: bool = False
    print_made_up_constants: bool = True
    print_metadata: bool = True
    print_metadata_only_op_name: bool = False
    print_only_essential_constants: bool = False
    print_operand_index_annotation_interval: int = 5
    print_operand_names: bool = True
    print_operand_shape: bool = False
    print_original_value: bool = True
    print_percent: bool = True
    print_program_shape: bool = True
    print_result_shape: bool = True
    print_subcomputation_mode: str = "name_only"
    syntax_sugar_async_ops: bool = True


_SHORT: Final = PrintOptions(
    print_control_dependencies=False,
    print_large_constants=True,
    print_metadata=False,
    print_operand_index_annotation_interval=0,
    print_percent=False,
    print_program_shape=False,
)
_CANONICAL: Final = replace(
    _SHORT,
    canonicalize_instruction_names=True,
    print_backend_config=False,
    print_large_constants=False,
    print_operand_names=False,
    print_operand_shape=True,
    print_subcomputation_mode="full_bodies",
)
#: Sets of options by name.
STYLES: Final = {
    "default": PrintOptions(),
    "short_parsable": _SHORT,
    "canonical": _CANONICAL,
    "fingerprint": replace(
        _CANONICAL,
        canonicalize_computations=True,
        print_full_replica_group_list=True,
        print_ids=False,
        print_only_essential_constants=True,
    ),
}


def print_options(style: str, changes: dict[str, Any]) -> PrintOptions:
    """Return the options of a style, some of them changed.

    Raises
    ------
    HloError
        If there is no such style or option.
    """
    options = STYLES.get(style)
    if options is None:
        raise HloError(f"to_text: there is no style {style!r}; there are {' '.join(STYLES)}")
    try:
        return replace(options, **changes)
    except TypeError:
        known = " ".join(PrintOptions.__slots__)
        raise HloError(
            f"to_text: {' '.join(changes)} are not all options; there are {known}"
        ) from None
