"""The text of ``metadata={...}``."""

from __future__ import annotations

import re
from dataclasses import fields
from operator import attrgetter

from ..values import OpMetadata
from .quoting import NAME, STRING, escape, unescape

_FIELD = re.compile(
    rf"[\s,]*({NAME})\s*=\s*(?:({STRING})|(-?[0-9]{{1,19}})|\{{([^{{}}]*)\}})", re.DOTALL
)
# In the order in which they are printed.
_DEFAULTS = {field.name: field.default for field in fields(OpMetadata)}
# A note alone is not worth a metadata entry.
_shown = attrgetter("op_type", "op_name", "source_file", "scheduling_name", "stack_frame_id")
_values = attrgetter(*_DEFAULTS)


def read_metadata(text: str) -> OpMetadata:
    """Read metadata between braces.

    Raises
    ------
    ValueError
        If the text is malformed.

    Examples
    --------
    >>> from xarraylite.hlo.text.metadata import read_metadata
    >>> read_metadata('{op_name="jit(f)/mul" source_line=3}').op_name
    'jit(f)/mul'
    """
    stripped = text.strip()
    end = len(stripped) - 1
    if end < 1 or stripped[0] != "{" or stripped[end] != "}":
        raise ValueError('expected metadata such as {op_name="f" source_line=3}')
    given: dict[str, object] = {}
    at = 1
    while stripped[at:end].strip(" \t\r\n,") if at < end else "":
        match = _FIELD.match(stripped, at, end)
        if match is None:
            raise ValueError('expected fields such as op_name="f" or source_line=3')
        at = match.end()
        name, quoted, number, listed = match.groups()
        default = _DEFAULTS.get(name)
        if quoted is not None:
            value: object = unescape(quoted[1:-1])
        elif number is not None:
            value = int(number)
            if not -(2**31) <= value < 2**31:
                raise ValueError(f"{name}={number} is no integer of 32 bits")
        else:
            value = tuple([int(word) for word in listed.split(",") if word.strip()])
        if name in given or default is None or type(value) is not type(default):
            known = " ".join(_DEFAULTS)
            raise ValueError(f"{name} is no field of metadata, given twice or wrong: {known}")
        given[name] = value
    return OpMetadata(**given)  # type: ignore[arg-type]  # types compared above


def print_metadata(metadata: OpMetadata) -> str:
    """Return the text between the braces; an empty one where XLA writes none."""
    if not any(_shown(metadata)):
        return ""
    texts = []
    for name, value in zip(_DEFAULTS, _values(metadata), strict=True):
        if not value:
            continue
        if isinstance(value, str):
            texts.append(f'{name}="{escape(value)}"')
        elif isinstance(value, tuple):
            texts.append(f"{name}={{{','.join(map(str, value))}}}")
        else:
            texts.append(f"{name}={value}")
    return " ".join(texts)
