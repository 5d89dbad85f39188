"""A hundred thousand random and mutated texts: each is a spec, or a `LayoutParseError`."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from tests.cases import together
from xarraylite._errors import LayoutParseError
from xarraylite.layout.layout import Layout
from xarraylite.xla.spec import ArraySpec

SEEDS = [
    "bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)}",
    "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}",
    "(f32[2]{0:T(128)S(1)}, (bf16[2,2]{0,1}, token[]), b(s8[<=3,?]{0,1}), opaque[])",
    "s4[3]{0:D(D+)T(128)L(8)#(u32)*(u8)E(4)S(5)SC(0:1,2)M(16)}",
    "f32[]{:T(128)(2,1)}/* c */",
    "(s8[], s8[], s8[], s8[], s8[], /*index=5*/s8[])",
]
LAYOUTS = ["{1,0:T(8,128)(2,1)}", "{2,0,1:L(8)E(4)P(f32[2,3]{1,0:T(2,2)})M(4)}", "{:S(1)}", "{}"]
CHARACTERS = "()[]{},:*#?+~-/<= \n\t\"'%.;_xT0129\x00\x0b\u00e9\u0662"
WORDS = "<= // /* */ SC( T( L( E( S( M( D( P( f32 token[] b( -1 00 9223372036854775808"
PIECES = [*CHARACTERS, *WORDS.split(), "9" * 25, "1," * 70, "(" * 40]
TOKEN = re.compile(r"[0-9]+|[A-Za-z_]+[0-9]*|.", re.DOTALL)


def mutated(random: random.Random, seed: str) -> str:
    """One to four tokens or characters dropped, doubled, swapped, replaced or put in."""
    parts = TOKEN.findall(seed) if random.random() < 0.7 else list(seed)
    for _ in range(random.randint(1, 4)):
        k, j = random.randrange(len(parts) + 1), random.randrange(len(parts) + 1)
        piece = random.choice(PIECES)
        parts[k : k + random.randint(0, 1)] = random.choice([[], [piece], parts[j : j + 3]])
    return "".join(parts)


def noise(random: random.Random) -> str:
    return "".join(random.choices(PIECES, k=random.randint(0, 12)))


def column_of_error(parse: Callable[[str], object], text: str) -> int | None:
    """Where the text is refused; None if it is read, and then what it prints reads the same."""
    try:
        found = parse(text)
    except LayoutParseError as error:
        return error.column
    printed = str(found)
    assert parse(printed) == found, text
    assert str(parse(printed)) == printed, text
    return None


@together("seed", range(4))
def test_nothing_else_escapes(seed: int) -> None:
    source = random.Random(seed)
    accepted = 0
    for k in range(5_000):
        if k % 5 == 0:
            text = noise(source)
        else:
            text = mutated(source, source.choice(SEEDS if k % 5 < 4 else LAYOUTS))
        column = column_of_error(Layout.parse if k % 5 == 4 else ArraySpec.parse, text)
        assert column is None or 1 <= column <= len(text) + 1, text
        accepted += column is None
    assert 250 < accepted < 4_750
