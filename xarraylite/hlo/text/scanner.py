"""A place in an HLO text, and the patterns of what may stand there.

The text is read once, from left to right, by regular expressions whose quantifiers give nothing
back, so time is linear in its length.  Brackets are counted in loops, never by recursion.

Quoted strings and comments of HLO text, and pieces of regular expressions for them.

A string is a sequence of bytes.  Those that are no printable ASCII are written as C does, an octal
number of three digits each, so text that is not ASCII survives as UTF-8.
"""

from __future__ import annotations

import re
from typing import Final, NoReturn

from ..._errors import HloError, XarrayliteError
from ...layout.text import MAX_LENGTH
from ...xla.spec import ArraySpec

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
    >>> from xarraylite.hlo.text.scanner import unescape
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
    >>> from xarraylite.hlo.text.scanner import escape
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


_SKIP = re.compile(SKIP)
_NAME = re.compile(rf"{SKIP}%?({NAME})")
# An array with its layout; a brace behind it may also begin a computation.
ARRAY: Final = rf"[a-z][a-z0-9]*+{SKIP}\[[^\[\](){{}}\"']*+\](?:{SKIP}\{{{SKIP}[0-9:][^{{}}]*+\}})?"
_ARRAY = re.compile(rf"{SKIP}({ARRAY})")
_TUPLE_PART = re.compile(rf"{SKIP}(?:{ARRAY}|b\(|[(),])")
_PLAIN_VALUE = re.compile(rf"{SKIP}([^\s,{{}}()\[\]\"'/]++)(?=[\s,)}}]|\Z)")
_BRACED_VALUE = re.compile(
    rf"{SKIP}(\{{(?:[^{{}}()\[\]\"'/]++|\"(?:[^\"\\]++|\\.)*+\")*+\}})(?=[\s,)}}]|\Z)", re.DOTALL
)
_PIECE = re.compile(
    rf"[^(){{}}\[\]\"'/,\s]++|[(\[{{]|[)\]}}]|,|\s++|{STRING}|/\*(?:[^*]++|\*(?!/))*+\*/|//[^\n\r]*+|.",
    re.DOTALL,
)
_QUOTES: Final = frozenset("\"'")
_CLOSING: Final = {")": "(", "]": "[", "}": "{"}
_MESH_AXES = re.compile(
    r"(?:, *+device_ids=\((?:[0-9, ]*+|\[[0-9, ]++\](?:T\([0-9, ]++\))?)\))?[ \t]*+\{[^{}]*+\}"
)


class Scanner:
    """Reads one text.

    Parameters
    ----------
    text : str
        An HLO text.
    """

    __slots__ = ("_shapes", "at", "instruction", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.instruction = ""  # the one that is being read, for messages
        self._shapes: dict[str, ArraySpec] = {}

    def fail(self, expected: str, at: int | None = None) -> NoReturn:
        """Raise an error for a place, the current one by default."""
        place = self.skip() if at is None else at
        line = self.text.count("\n", 0, place) + 1
        begin = self.text.rfind("\n", 0, place) + 1
        end = self.text.find("\n", place)
        shown = self.text[begin : len(self.text) if end < 0 else end]
        raise HloError(expected, line, place - begin + 1, self.instruction, shown.strip()) from None

    def fail_found(self, expected: str) -> NoReturn:
        """Raise an error that shows what stands here instead."""
        place = self.skip()
        found = re.match(r"\S{0,30}", self.text[place : place + 30])
        shown = found[0] if found and found[0] else ""
        self.fail(f"expected {expected}, found {shown!r}" if shown else f"expected {expected}")

    def skip(self) -> int:
        """Move behind blanks and comments, and return the place."""
        match = _SKIP.match(self.text, self.at)
        if match is not None:
            self.at = match.end()
        return self.at

    def next_is(self, token: str) -> bool:
        """Whether a token stands next."""
        return self.text.startswith(token, self.skip())

    def take(self, token: str) -> bool:
        """Step over a token, if it stands next."""
        if self.text.startswith(token, self.skip()):
            self.at += len(token)
            return True
        return False

    def expect(self, token: str, reason: str) -> None:
        """Step over a token that must stand next."""
        if not self.take(token):
            self.fail_found(f"{token!r} {reason}")

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Step over a pattern, if it stands here; patterns skip blanks themselves."""
        match = pattern.match(self.text, self.at)
        if match is not None:
            self.at = match.end()
        return match

    def name(self, what: str) -> str:
        """Step over a name, with or without ``%``."""
        match = _NAME.match(self.text, self.at)
        if match is None:
            self.fail_found(what)
        self.at = match.end()
        return match[1]

    def shape(self) -> ArraySpec | None:
        """Step over a shape, if one stands next."""
        match = _ARRAY.match(self.text, self.at)
        if match is not None:
            text, start = match[1], match.start(1)
            self.at = match.end()
        else:
            start = self.skip()
            if not self.text.startswith(("(", "b("), start):
                return None
            text = self._tuple_text(start)
        return self.shape_of(text, start)

    def shape_of(self, text: str, start: int) -> ArraySpec:
        """Return the shape of a text that stands at a place."""
        found = self._shapes.get(text)
        if found is None:
            try:
                found = self._shapes[text] = ArraySpec.parse(text)
            except XarrayliteError as error:
                self.fail(f"this is no shape: {error}", start + getattr(error, "column", 1) - 1)
        return found

    def _tuple_text(self, start: int) -> str:
        """Step over a tuple of shapes."""
        depth = 0
        while True:
            match = _TUPLE_PART.match(self.text, self.at)
            if match is None:
                self.fail_found("a shape, ',' or ')'")
            self.at = match.end()
            if self.at - start > MAX_LENGTH:
                self.fail(f"a shape has at most {MAX_LENGTH} characters", start)
            char = self.text[self.at - 1]
            if char == "(":
                depth += 1
            elif char == ")":
                depth -= 1
                if not depth:
                    return self.text[start : self.at]
            elif not depth:
                self.fail_found("'('")

    def group(self) -> str:
        """Step over brackets behind their opening one, and return what is between them."""
        start = self.at
        end = self._end(start, listed=False)
        if end == len(self.text):
            self.fail("this '(' is never closed", start - 1)
        self._check_pair("(", end)
        self.at = end + 1
        return self.text[start:end]

    def _check_pair(self, opening: str, end: int) -> None:
        closing = self.text[end]
        if _CLOSING[closing] != opening:
            self.fail(f"{closing!r} closes {opening!r}", end)

    def _end(self, start: int, *, listed: bool) -> int:
        """Return where the bracket stands that closes one opened before a place.

        What is ``listed`` also ends at a comma or a blank that stands in no brackets.
        """
        stack: list[str] = []
        opened = start
        for match in _PIECE.finditer(self.text, start):
            piece = match[0]
            if piece in ("(", "[", "{"):
                opened = opened if stack else match.start()
                stack.append(piece)
            elif piece in _CLOSING and stack:
                self._check_pair(stack.pop(), match.start())
            elif piece in _CLOSING or (listed and not stack and (piece == "," or piece.isspace())):
                return match.start()
            elif piece in _QUOTES:
                self.fail("this string has no end", match.start())
        if stack:
            self.fail(f"this {stack[0]!r} is never closed", opened)
        return len(self.text)

    def value(self, raw: bool) -> tuple[str, int]:
        """Step over the value of an attribute, and return it and where it begins.

        Comments are blanked out, except in raw values.
        """
        match = _PLAIN_VALUE.match(self.text, self.at) or _BRACED_VALUE.match(self.text, self.at)
        if match is not None:
            self.at = match.end()
            start, text = match.start(1), match[1]
        else:
            start = self.skip()
            if raw and self.text.startswith("{", start):
                text = self._raw_braces(start)
            else:
                text = self._long_value(start)
        if text.startswith("mesh["):
            axes = self.match(_MESH_AXES)
            text += axes[0] if axes else ""
        return text, start

    def _raw_braces(self, start: int) -> str:
        """Braces that hold no program but a user's data: nothing but strings is known in them."""
        end = end_of_braces(self.text, start)
        if end <= 0:
            self.fail(
                "this string has no end" if end else "this '{' is never closed", -end or start
            )
        self.at = end
        return self.text[start:end]

    def _long_value(self, start: int) -> str:
        end = self._end(start, listed=True)
        if end == start:
            self.fail_found("a value")
        self.at = end
        return without_comments(self.text[start:end])
