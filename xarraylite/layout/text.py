"""The text of array specs and layouts: a strict reader and a printer.

The grammar, with blanks, ``//`` and ``/* */`` comments allowed between tokens::

    spec     = array | "(" [spec {"," spec}] ")" | "b" "(" array ")" | "token[]" | "opaque[]"
    array    = type "[" [dim {"," dim}] "]" [layout]          dim = int | "<=" int | "?"
    layout   = "{" int {"," int} [":" property*] "}" | "{" ":" property* "}"
    property = D(level,..)  T(size,..)..  L(int)  #(type)  *(type)  E(int)  S(int)
               SC(int:int,..)..  P(spec)  M(int)              each at most once, in this order

Reading is one pass of one regular expression that makes tokens, then one walk over them that
never goes back, so time is linear in the length.  Tokens carry no positions: the column of an
error is found by making the tokens again.  Length, depth, rank and digits are bounded.

Element types may be written in capitals and ``*`` as U+2217, as XLA's pages do; its reader takes
neither.  XLA's own reader lets some malformed texts through (a missing parenthesis before a brace,
empty tiles, numbers that wrap around); here they are errors.  Canonical text has no blanks but one
after the commas of a tuple, where every fifth element is announced by a comment with its number.

This module knows neither `Layout` nor `ArraySpec`: both are made by functions it is given, because
the classes read their own text.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, NoReturn, TypeVar

from .._errors import LayoutParseError, XarrayliteError
from ..dtypes.element_types import ARRAY_TYPES, ELEMENT_TYPES, ElementType
from .fields import COMBINE, LIMIT, MAX_RANK, SplitConfig, Tile

#: Most characters of a text.
MAX_LENGTH: Final = 1 << 20
#: Deepest nesting of tuples.
MAX_DEPTH: Final = 32
#: Most digits of a number: as many as the largest 64-bit integer has.
MAX_DIGITS: Final = 19
#: The size of a dimension without a bound, ``?``.
UNBOUNDED: Final = -LIMIT

MakeLayout = Callable[[tuple[int, ...], Mapping[str, Any]], Any]
MakeSpec = Callable[[ElementType, tuple[int, ...], Any, tuple[bool, ...], tuple[Any, ...]], Any]
T = TypeVar("T")

_TOKEN = re.compile(r"-?[0-9]+|[A-Za-z_][A-Za-z0-9_.\-]*|<=|[^ \t\n\r]")
# An unterminated comment extends to the end, in one match: no later start is tried.
_COMMENT = re.compile(r"//[^\n\r]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
#: Property -> the field of a layout it says, and the value that is not printed.
_FIELDS: Final[dict[str, tuple[str, object]]] = {
    "T": ("tiles", ()),
    "L": ("tail_padding_alignment_in_elements", 1),
    "#": ("index_primitive_type", None),
    "*": ("pointer_primitive_type", None),
    "E": ("element_size_in_bits", 0),
    "S": ("memory_space", 0),
    "SC": ("split_configs", ()),
    "P": ("physical_shape", None),
    "M": ("dynamic_shape_metadata_prefix_bytes", 0),
}
_BOUNDS = {"L": (1, LIMIT - 1), "S": (0, 127)}
_ORDER = {name: k for k, name in enumerate(["D", *_FIELDS])}
_SEVERAL = frozenset(("T", "SC"))
_LEVELS = frozenset("DCSH")
_NO_OPTIONS: Mapping[str, Any] = {}


class ShapeText(NamedTuple):
    """What stands inside ``P(...)``: the fields of an array spec, without its methods."""

    element_type: ElementType
    dimensions: tuple[int, ...]
    layout: Any
    dynamic: tuple[bool, ...]
    tuple_shapes: tuple[Any, ...]

    def __str__(self) -> str:
        return print_spec(self)


def parse_layout(text: str, make_layout: MakeLayout) -> Any:
    """Return the layout that ``text`` describes, made by ``make_layout``.

    Raises
    ------
    LayoutParseError
        If the text is malformed.
    """
    reader = _Reader(text, make_layout, ShapeText, "Layout.parse")
    reader.expect("{", "a layout begins with '{'")
    return reader.finish(reader.layout(None))


def parse_spec(
    text: str, make_layout: MakeLayout, make_spec: MakeSpec, check: Callable[[Any], None]
) -> Any:
    """Return the array spec that ``text`` describes, made by ``make_spec``.

    XLA reads an array that stands alone as it is written, and validates the elements of tuples;
    ``check`` does so.

    Raises
    ------
    LayoutParseError
        If the text is malformed.
    """
    reader = _Reader(text, make_layout, make_spec, "ArraySpec.parse", check)
    return reader.finish(reader.spec(0))


def _without_comments(text: str, operation: str) -> str:
    """Return the text with its comments blanked out, every other character in its place."""
    if not isinstance(text, str):
        raise LayoutParseError(f"{operation}: {type(text).__name__} given, not text", repr(text))
    if len(text) > MAX_LENGTH:
        raise LayoutParseError(
            f"{operation}: {len(text)} characters; at most {MAX_LENGTH} are read", text, MAX_LENGTH
        )
    code = text
    if "/" in text:
        for comment in _COMMENT.finditer(text):
            shown = comment[0]
            if shown[1] == "*" and (len(shown) < 4 or not shown.endswith("*/")):
                at = comment.start() + 1
                raise LayoutParseError(f"{operation}: comment without an end", text, at)
        code = _COMMENT.sub(lambda comment: " " * len(comment[0]), text)
    if "\u2217" in code:  # the asterisk operator, with which XLA's page writes what it combines
        code = code.replace("\u2217", "*")
    if not code.isascii():
        at = next(k for k, char in enumerate(code) if char > "\x7f")
        raise LayoutParseError(f"{operation}: unexpected {code[at]!r}", text, at + 1)
    return code


def _array_type(name: str) -> ElementType | None:
    """Return an element type by its name, which XLA's pages also write in capitals: ``F32``."""
    return ARRAY_TYPES.get(name) or (ARRAY_TYPES.get(name.lower()) if name.isupper() else None)


class _Reader:
    """A place in the tokens of one text, and the rules of the grammar as methods.

    Each method reads its part from the current token on, moves behind it and returns it.
    """

    __slots__ = ("at", "check", "code", "make_layout", "make_spec", "operation", "text", "tokens")

    def __init__(
        self,
        text: str,
        make_layout: MakeLayout,
        make_spec: MakeSpec,
        operation: str,
        check: Callable[[Any], None] | None = None,
    ) -> None:
        self.text = text
        self.code = _without_comments(text, operation)
        self.tokens: list[str] = _TOKEN.findall(self.code)
        self.tokens.append("")  # the end, which equals no token
        self.at = 0
        self.make_layout = make_layout
        self.make_spec = make_spec
        self.operation = operation
        self.check = check

    def fail(self, rule: str, at: int | None = None) -> NoReturn:
        """Raise for the token ``at``, the current one by default."""
        index = self.at if at is None else at
        found = self.tokens[index][:40]
        self.fail_at(index, f"{rule}, found {found!r}" if found else f"{rule}, found the end")

    def fail_at(self, index: int, problem: str) -> NoReturn:
        """Raise for the token ``index``, whose column is found by making the tokens again."""
        column = len(self.text) + 1
        if self.tokens[index]:
            matches = itertools.islice(_TOKEN.finditer(self.code), index, None)
            column = next(matches).start() + 1
        raise LayoutParseError(f"{self.operation}: {problem}", self.text, column)

    def expect(self, token: str, rule: str) -> None:
        """Step over a token that must come here."""
        if self.tokens[self.at] != token:
            self.fail(rule)
        self.at += 1

    def finish(self, result: T) -> T:
        """Return what was read, if the text ends here."""
        if self.tokens[self.at]:
            self.fail("expected nothing more")
        return result

    def spec(self, depth: int) -> Any:
        """A spec of any kind."""
        name = self.tokens[self.at]
        kind = _array_type(name)
        if kind is not None:
            self.at += 1
            return self.array(kind)
        following = self.tokens[self.at + 1] if name else ""
        if name == "(":
            return self.group(depth)
        if name == "b" and following == "(":
            return self.buffer()
        if name in ("token", "opaque"):
            self.at += 1
            self.expect("[", f"expected '[' after {name}")
            self.expect("]", f"expected ']', for {name} has no dimensions")
            return self.make_spec(ELEMENT_TYPES[name], (), None, (), ())
        return self.fail("expected an element type, such as f32, or '('")

    def group(self, depth: int) -> Any:
        """Specs between parentheses."""
        if depth == MAX_DEPTH:
            self.fail(f"tuples nest at most {MAX_DEPTH} deep")
        self.at += 1
        empty = self.tokens[self.at] == ")"
        shapes = [] if empty else self.listed(lambda: self.element(depth + 1))
        self.expect(")", "expected ',' or ')'")
        return self.make_spec(ELEMENT_TYPES["tuple"], (), None, (), tuple(shapes))

    def element(self, depth: int) -> Any:
        """One spec of a tuple."""
        start = self.at
        shape = self.spec(depth)
        if self.check is not None:
            try:
                self.check(shape)
            except XarrayliteError as error:
                self.fail_at(start, f"an element of a tuple is not valid ({error})")
        return shape

    def buffer(self) -> Any:
        """One array between ``b(`` and ``)``."""
        self.at += 2
        kind = _array_type(self.tokens[self.at])
        if kind is None:
            self.fail("a buffer holds one array: expected its element type")
        self.at += 1
        inner = self.array(kind)
        self.expect(")", "expected ')' after the buffer's array")
        return self.make_spec(ELEMENT_TYPES["buffer"], (), None, (), (inner,))

    def array(self, kind: ElementType) -> Any:
        """Dimensions and layout of an array."""
        self.expect("[", f"expected '[' after {kind.name}")
        dimensions, dynamic = self.dimensions()
        if self.tokens[self.at] == "{":
            self.at += 1
            layout = self.layout(len(dimensions))
        else:
            rank = len(dimensions)
            layout = self.make_layout(tuple(range(rank - 1, -1, -1)), _NO_OPTIONS)
        return self.make_spec(kind, dimensions, layout, dynamic, ())

    def dimensions(self) -> tuple[tuple[int, ...], tuple[bool, ...]]:
        """Sizes up to ``]``, and which of them are dynamic."""
        start = self.at
        pairs = [] if self.tokens[start] == "]" else self.listed(self.dimension)
        self.expect("]", "expected ',' or ']'")
        if len(pairs) > MAX_RANK:
            self.fail(f"an array has at most {MAX_RANK} dimensions", start)
        return tuple([size for size, _ in pairs]), tuple([dynamic for _, dynamic in pairs])

    def dimension(self) -> tuple[int, bool]:
        """One size, and whether it is dynamic."""
        token = self.tokens[self.at]
        dynamic = token in ("?", "<=")
        self.at += dynamic
        return UNBOUNDED if token == "?" else self.integer("expected a size, '<=' or '?'"), dynamic

    def integer(self, rule: str, low: int = 0, high: int = LIMIT - 1) -> int:
        """An integer between two bounds."""
        token = self.tokens[self.at]
        if not token.isdigit():
            self.fail(rule)
        if len(token) > MAX_DIGITS:
            self.fail(f"a number has at most {MAX_DIGITS} digits")
        value = int(token)
        if not low <= value <= high:
            self.fail(f"expected a number from {low} to {high}")
        self.at += 1
        return value

    def layout(self, rank: int | None) -> Any:
        """A layout behind its ``{``, of an array of ``rank`` dimensions; None for any."""
        tokens = self.tokens
        start = self.at
        order: tuple[int, ...] = ()
        token = tokens[start]
        if token != ":" and not (token == "}" and rank is None):
            order = tuple(self.integers("expected a dimension number or ':'"))
        if rank is not None and sorted(order) != list(range(rank)):
            self.blame_order(order, rank, start)
        elif len(order) > MAX_RANK:
            self.fail(f"a layout has at most {MAX_RANK} dimensions", start)
        options = _NO_OPTIONS
        if tokens[self.at] == ":":
            self.at += 1
            options = self.properties(rank)
        self.expect("}", "expected ',' or ':' or '}'" if options is _NO_OPTIONS else "expected '}'")
        return self.make_layout(order, options)

    def blame_order(self, order: tuple[int, ...], rank: int, start: int) -> NoReturn:
        """Raise for a ``minor_to_major`` that is no permutation, where it goes wrong."""
        if len(order) != rank:
            self.fail(f"minor_to_major has {len(order)} entries for {rank} dimensions", start)
        wrong = next(k for k, d in enumerate(order) if d >= rank or d in order[:k])
        rule = f"minor_to_major names each of the dimensions 0 to {rank - 1} once"
        self.fail(rule, start + 2 * wrong)

    def integers(self, rule: str) -> list[int]:
        """One or more integers between commas."""
        return self.listed(lambda: self.integer(rule))

    def listed(self, read: Callable[[], T]) -> list[T]:
        """One or more of something between commas."""
        values = [read()]
        while self.tokens[self.at] == ",":
            self.at += 1
            values.append(read())
        return values

    def properties(self, rank: int | None) -> dict[str, Any]:
        """What follows the colon of a layout, up to ``}``."""
        options: dict[str, Any] = {}
        previous = -1
        while (name := self.tokens[self.at]) != "}":
            place = _ORDER.get(name, -1)
            if place < 0:
                self.fail(f"expected '}}' or one of the properties {' '.join(_ORDER)}")
            if place <= previous:
                self.fail(f"properties come once each, in the order {' '.join(_ORDER)}")
            previous = place
            self.at += 1
            self.expect("(", f"expected '(' after {name}")
            values = [self.value(name, rank)]
            while name in _SEVERAL and self.tokens[self.at] == "(":
                self.at += 1
                values.append(self.value(name, rank))
            if name in _FIELDS:
                options[_FIELDS[name][0]] = tuple(values) if name in _SEVERAL else values[0]
        return options

    def value(self, name: str, rank: int | None) -> Any:
        """What stands between the parentheses of a property, and the one that ends it."""
        found = _PROPERTIES[name](self, name, rank)
        self.expect(")", "expected ')'")
        return found

    def tile(self, _name: str, _rank: int | None) -> Tile:
        """``8,128`` of ``T(8,128)(2,1)``."""
        sizes = self.listed(self.tile_size)
        if sizes[-1] == COMBINE:
            self.fail("'*' merges a dimension into the next one, and the tile ends")
        return Tile._trusted(tuple(sizes))

    def tile_size(self) -> int:
        """One size of a tile."""
        # The number is what XLA writes for the marker where it writes numbers.
        if self.tokens[self.at] in ("*", "-9223372036854775808"):
            self.at += 1
            return COMBINE
        return self.integer("expected a tile size or '*'", 1)

    def number(self, name: str, _rank: int | None) -> int:
        """``8`` of ``L(8)``, ``E(4)``, ``S(1)``, ``M(8)``."""
        return self.integer("expected a number", *_BOUNDS.get(name, (0, LIMIT - 1)))

    def index_type(self, _name: str, _rank: int | None) -> ElementType:
        """``u32`` of ``#(u32)``, ``*(u32)``."""
        kind = _array_type(self.tokens[self.at])
        if kind is None or not kind.is_integral:
            self.fail("expected an integer type")
        self.at += 1
        return kind

    def split(self, _name: str, rank: int | None) -> SplitConfig:
        """``0:2,4`` of ``SC(0:2,4)(1:3)``."""
        most = MAX_RANK if rank is None else rank
        dimension = self.integer("expected a physical dimension", 0, most - 1)
        self.expect(":", "expected ':' after the dimension")
        indices = self.integers("expected an index, for a split has at least one")
        return SplitConfig(dimension, tuple(indices))

    def levels(self, _name: str, rank: int | None) -> None:
        """``D+,C~`` of ``D(D+,C~)``: how sparse arrays stored each dimension; read and dropped."""
        start = self.at - 2
        count = len(self.listed(self.level))
        if rank is not None and count != rank:
            self.fail(f"{count} dimension levels for {rank} dimensions", start)

    def level(self) -> None:
        """How one dimension was stored."""
        if self.tokens[self.at] not in _LEVELS:
            self.fail("expected a dimension level: D, C, S or H")
        self.at += 1
        self.at += self.tokens[self.at] == "+"
        self.at += self.tokens[self.at] == "~"

    def physical_shape(self, _name: str, rank: int | None) -> Any:
        """``f32[2]`` of ``P(f32[2])``: only a layout that stands alone may have one."""
        if rank is not None:
            self.fail("only sparse arrays had a physical shape P(...)", self.at - 2)
        return self.spec(0)


_PROPERTIES: dict[str, Callable[[_Reader, str, int | None], Any]] = {
    "D": _Reader.levels,
    "T": _Reader.tile,
    "SC": _Reader.split,
    "P": _Reader.physical_shape,
    **dict.fromkeys("LESM", _Reader.number),
    **dict.fromkeys("#*", _Reader.index_type),
}


def print_layout(layout: Any) -> str:
    """Return the canonical text of a layout."""
    order = ",".join(map(str, layout.minor_to_major))
    parts: list[str] = []
    for name, (field, unset) in _FIELDS.items():
        value = getattr(layout, field)
        if value != unset:
            shown = map(str, value) if isinstance(unset, tuple) else [f"({value})"]
            parts += [name, *shown]
    return f"{{{order}:{''.join(parts)}}}" if parts else f"{{{order}}}"


def print_spec(spec: Any, *, layouts: bool = True) -> str:
    """Return the canonical text of an array spec, with or without its layouts."""
    kind = spec.element_type.name
    if kind == "tuple":
        shapes = [print_spec(shape, layouts=layouts) for shape in spec.tuple_shapes]
        for k in range(5, len(shapes), 5):
            shapes[k] = f"/*index={k}*/{shapes[k]}"
        return f"({', '.join(shapes)})"
    if kind == "buffer":
        return f"b({print_spec(spec.tuple_shapes[0], layouts=layouts)})"
    sizes = [
        "?" if size == UNBOUNDED else f"<={size}" if dynamic else str(size)
        for size, dynamic in zip(spec.dimensions, spec.dynamic, strict=True)
    ]
    text = f"{kind}[{','.join(sizes)}]"
    if layouts and spec.layout is not None:
        braces = print_layout(spec.layout)
        if braces != "{}":
            text += braces
    return text
