"""The wire format of protocol buffers, without a protobuf library.

A message is a row of fields.  Each begins with a tag, ``number << 3 | wire type``, and the wire
type says how to step over the value: a varint (seven bits a byte, low bits first), 4 or 8 fixed
bytes, a length and so many bytes, or a group that runs up to its closing tag.  Readers step over
numbers they do not know, which is how old and new programs understand each other.

`read_message` accepts what any protobuf reader does: fields in any order, repeated numbers packed
or not, the last of several values, a second occurrence of a message adding to the first.  These
are errors, because nobody writes them on purpose: a known field of another wire type, and numbers
of more than 64 bits.  It reads every byte once, keeps what the input can pay for, and nests as
deep as protobuf does; all failures are a `FormatError` with the offset.

Only what XLA's shapes need is here: whole numbers (64 bits, signed) and messages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from .._errors import FormatError

#: Longest input: far above any spec, and what it may cost in objects stays bounded.
MAX_BYTES: Final = 1 << 20
#: Deepest nesting of messages and groups, protobuf's own limit.
MAX_DEPTH: Final = 100

_VARINT, _FIXED64, _LENGTH, _GROUP, _GROUP_END, _FIXED32 = range(6)
_WIRE_NAMES: Final = ("a varint", "8 bytes", "a length", "a group", "a group's end", "4 bytes")
_FIXED_SIZE: Final = {_FIXED64: 8, _FIXED32: 4}


class Field(NamedTuple):
    """What is known of one field.

    Attributes
    ----------
    name : str
        The attribute that is written, and the key under which it is read.
    repeated : bool
        Whether there may be several values.
    message : str
        Kind of message it holds; empty for numbers.
    """

    name: str
    repeated: bool = False
    message: str = ""


#: The fields of each kind of message, by rising number.
Schemas: TypeAlias = Mapping[str, Mapping[int, Field]]


class Message(dict[str, Any]):
    """What has been read of one message, every field of its schema by name.

    A number (0 if absent), a message (None if absent), or a list of such.

    Attributes
    ----------
    start : int
        Offset at which it began.
    """

    def __init__(self, start: int, schema: Mapping[int, Field]) -> None:
        known = schema.values()
        super().__init__({f.name: [] if f.repeated else None if f.message else 0 for f in known})
        self.start = start


# --- writing ---------------------------------------------------------------------------------


def varint(value: int) -> bytes:
    """Encode a number; negative ones take ten bytes, as two's complement of 64 bits."""
    value &= 0xFFFF_FFFF_FFFF_FFFF
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def write_message(
    thing: Any, get: Callable[[Any, str], Any], kind: str, schemas: Schemas, depth: int = 1
) -> bytes:
    """Encode what ``get`` says of an object's fields, in the order of their numbers.

    What is 0, None or empty is left out; repeated numbers are packed.

    Raises
    ------
    FormatError
        If messages are nested deeper than readers follow.
    """
    if depth > MAX_DEPTH:
        raise FormatError(
            f"to_proto_bytes: the spec is nested more than {MAX_DEPTH} levels deep; protobuf "
            "readers stop there"
        )
    out = b""
    for number, field in schemas[kind].items():
        value = get(thing, field.name)
        if not value:
            continue
        if not (field.repeated or field.message):
            out += varint(number << 3 | _VARINT) + varint(value)
            continue
        if field.message:
            parts = value if field.repeated else [value]
            bodies = [write_message(x, get, field.message, schemas, depth + 1) for x in parts]
        else:
            bodies = [b"".join(map(varint, value))]
        for body in bodies:
            out += varint(number << 3 | _LENGTH) + varint(len(body)) + body
    return out


# --- reading ---------------------------------------------------------------------------------


def read_message(data: bytes | bytearray | memoryview, kind: str, schemas: Schemas) -> Message:
    """Read one message, all of the input.

    Parameters
    ----------
    data : bytes
        A serialized message.
    kind : str
        Which of `schemas` it is.
    schemas : mapping
        Fields of every kind of message.

    Raises
    ------
    FormatError
        If the bytes are no such message; it names the offset.
    TypeError
        If `data` is not bytes.
    """
    if not isinstance(data, bytes | bytearray | memoryview):
        raise TypeError(
            f"from_proto_bytes: {type(data).__name__} given; expected the bytes of a {kind}"
        )
    size = memoryview(data).nbytes
    if size > MAX_BYTES:
        raise wire_error("the input goes on", MAX_BYTES, f"a {kind} has at most {MAX_BYTES} bytes")
    message = Message(0, schemas[kind])
    _Reader(bytes(data), schemas).read(0, size, kind, message, 1)
    return message


def wire_error(problem: str, at: int, rule: str) -> FormatError:
    """Return the error for bytes that break a rule."""
    return FormatError(f"from_proto_bytes: {problem} at byte {at}; {rule}")


class _Reader:
    """The input, and what its fields mean."""

    __slots__ = ("data", "schemas")

    def __init__(self, data: bytes, schemas: Schemas) -> None:
        self.data = data
        self.schemas = schemas

    def varint(self, at: int, end: int) -> tuple[int, int]:
        """Return the unsigned number at `at`, and where it ends."""
        value = shift = 0
        for k in range(at, min(end, at + 10)):
            byte = self.data[k]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                if value >> 64:
                    raise wire_error("a number of more than 64 bits", at, "numbers have at most 64")
                return value, k + 1
            shift += 7
        if end - at >= 10:
            raise wire_error("a varint of more than 10 bytes", at, "64 bits need no more")
        raise wire_error("a varint without end", at, f"its message ends at byte {end}")

    def int64(self, at: int, end: int) -> tuple[int, int]:
        value, at = self.varint(at, end)
        return value - (value >> 63 << 64), at

    def tag(self, at: int, end: int) -> tuple[int, int, int]:
        """Return the field number, the wire type, and where the value begins."""
        tag, after = self.varint(at, end)
        number, wire = tag >> 3, tag & 7
        if after - at > 5:
            raise wire_error("a tag of more than 5 bytes", at, "tags have 32 bits")
        if not 0 < number < 1 << 29:
            raise wire_error(f"field number {number}", at, "field numbers are 1 to 536870911")
        if wire >= len(_WIRE_NAMES):
            raise wire_error(f"wire type {wire} of field {number}", at, "wire types are 0 to 5")
        return number, wire, after

    def length(self, at: int, end: int) -> tuple[int, int]:
        """Return where the length-delimited value at `at` begins and ends."""
        length, begin = self.varint(at, end)
        if length > end - begin:
            raise wire_error(
                f"a length of {length}", at, f"{end - begin} bytes are left in its message"
            )
        return begin, begin + length

    def read(self, at: int, end: int, kind: str, message: Message, depth: int) -> None:
        """Add the fields between two offsets to `message`."""
        if depth > MAX_DEPTH:
            raise wire_error(
                "one more message inside another", at, f"{MAX_DEPTH} levels are the limit"
            )
        schema = self.schemas[kind]
        while at < end:
            number, wire, after = self.tag(at, end)
            known = schema.get(number)
            if known is None:
                at = self.skip(at, end, depth)
            elif wire == _LENGTH and known.message:
                begin, at = self.length(after, end)
                part = Message(begin, self.schemas[known.message])
                if known.repeated:
                    message[known.name].append(part)
                else:
                    part = message[known.name] = message[known.name] or part
                self.read(begin, at, known.message, part, depth + 1)
            elif wire == _VARINT and not known.message:
                value, at = self.int64(after, end)
                if known.repeated:
                    message[known.name].append(value)
                else:
                    message[known.name] = value
            elif wire == _LENGTH and known.repeated:
                begin, stop = self.length(after, end)
                at = begin
                while at < stop:
                    value, at = self.int64(at, stop)
                    message[known.name].append(value)
            else:
                expected = _WIRE_NAMES[_LENGTH if known.message else _VARINT]
                raise wire_error(
                    f"field {number} ({known.name}) of {kind} is {_WIRE_NAMES[wire]}",
                    at,
                    f"it must be {expected}",
                )

    def skip(self, at: int, end: int, depth: int) -> int:
        """Step over one unknown field, groups and what they hold included."""
        open_groups: list[int] = []
        while True:
            number, wire, after = self.tag(at, end)
            if wire == _VARINT:
                _, after = self.varint(after, end)
            elif wire == _LENGTH:
                _, after = self.length(after, end)
            elif wire == _GROUP:
                open_groups.append(number)
                if depth + len(open_groups) > MAX_DEPTH:
                    raise wire_error(
                        "one more group inside another", at, f"{MAX_DEPTH} is the limit"
                    )
            elif wire == _GROUP_END:
                if not open_groups or open_groups.pop() != number:
                    raise wire_error(f"the end of group {number}", at, "no such group is open here")
            else:
                after += _FIXED_SIZE[wire]
                if after > end:
                    raise wire_error(
                        f"field {number} is cut off", at, f"its message ends at byte {end}"
                    )
            at = after
            if not open_groups:
                return at
            if at >= end:
                raise wire_error(
                    f"group {open_groups[-1]} is still open", at, "its message ends there"
                )
