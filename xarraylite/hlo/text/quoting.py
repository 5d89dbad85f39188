"""Quoted strings and comments of HLO text, and pieces of regular expressions for them.

A string is a sequence of bytes.  Those that are no printable ASCII are written as C does, an octal
number of three digits each, so text that is not ASCII survives as UTF-8.
"""

from __future__ import annotations

import re
from typing import Final

# Possessive quantifiers: no part of a text is looked at twice.
STRING: Final = r""""(?:[^"\\]++|\\.)*+"|'(?:[^'\\]++|\\.)*+'"""
_COMMENT = r"/\*(?:[^*]++|\*(?!/))*+\*/|//[^\n\r]*+"
SKIP: Final = rf"(?:[ \t\r\n]++|{_COMMENT})*+"
NAME: Final = r"[A-Za-z_][A-Za-z0-9_.\-]*+"

_STRING_OR_COMMENT = re.compile(rf"({STRING})|{_COMMENT}", re.DOTALL)
_STRING_OR_PIECE = re.compile(r'"(?:[^"\\]++|\\.)*+"|[(){}\[\],]', re.DOTALL)
_ESCAPE = re.compile(rb"\\(?:([0-7]{1,3})|[xX]([0-9a-fA-F]+)|(.))", re.DOTALL)
_SIMPLE = {b"n": 10, b"r": 13, b"t": 9, b"a": 7, b"b": 8, b"f": 12, b"v": 11}
_ESCAPED: Final = {
    10: "\\n",
    13: "\\r",
    9: "\\t",
    34: '\\"',
    39: "\\'",
    92: "\\\\",
}
_PLAIN = re.compile(r"[ !#-&(-\[\]-~]*+")


def without_comments(text: str) -> str:
    """Return a text with its comments blanked out, strings left as they are."""
    if "/" not in text:
        return text
    return _STRING_OR_COMMENT.sub(lambda match: match[1] or " " * len(match[0]), text)


def outer_parts(text: str, brackets: str = "(){}[]") -> list[str]:
    """Divide a text at the commas that stand in no brackets and no string."""
    parts, depth, start = [], 0, 0
    for match in _STRING_OR_PIECE.finditer(text):
        char = match[0]
        if char in brackets:
            depth += 1 if brackets.index(char) % 2 == 0 else -1
        elif char == "," and not depth:
            parts.append(text[start : match.start()])
            start = match.end()
    last = text[start:]
    return [*parts, last] if parts or last.strip() else []


def unescape(text: str) -> str:
    """Return the contents of a string between quotes.

    Bytes that are no UTF-8 become surrogates, as Python does for file names.

    Raises
    ------
    ValueError
        If an escape is none of C's.

    Examples
    --------
    >>> from xarraylite.hlo.text.quoting import unescape
    >>> unescape(r"caf\\303\\251")
    'café'
    """
    if "\\" not in text:
        return text
    raw = _ESCAPE.sub(_escaped_byte, text.encode("utf-8", "surrogateescape"))
    return raw.decode("utf-8", "surrogateescape")


def _escaped_byte(match: re.Match[bytes]) -> bytes:
    octal, digits, char = match.groups()
    if octal or digits:
        value = int(octal, 8) if octal else int(digits, 16)
        if value > 255:
            raise ValueError(f"the escape {match[0].decode()} is more than a byte")
        return bytes([value])
    if char in _SIMPLE:
        return bytes([_SIMPLE[char]])
    if char in b"\\'\"?`":
        return bytes(char)
    raise ValueError(f"there is no escape {match[0]!r}")


def escape(text: str) -> str:
    """Return a string as it stands between quotes.

    Examples
    --------
    >>> from xarraylite.hlo.text.quoting import escape
    >>> print(escape('a "café"'))
    a \\"caf\\303\\251\\"
    """
    if _PLAIN.fullmatch(text):
        return text
    return "".join(
        [
            _ESCAPED.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}")
            for byte in text.encode("utf-8", "surrogateescape")
        ]
    )


_BRACES = re.compile(r'[^{}"]++|"(?:[^"\\]++|\\.)*+"|[{}"]', re.DOTALL)


def is_dictionary(text: str) -> bool:
    """Whether a text is one pair of braces, those within strings not counted."""
    stripped = text.strip(" \t\r\n")
    return stripped.startswith("{") and end_of_braces(stripped, 0) == len(stripped)


def end_of_braces(text: str, start: int) -> int:
    """Return where a pair of braces ends, those within strings not counted.

    0 where it is never closed; where a string has no end, less: the place of that, negated.
    """
    depth = 0
    for match in _BRACES.finditer(text, start):
        piece = match[0]
        if piece == '"':
            return -match.start()
        if piece in "{}":
            depth += 1 if piece == "{" else -1
            if not depth:
                return match.end()
    return 0
