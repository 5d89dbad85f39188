"""Texts that are nearly HLO: mutations of programs that are.

Run as a script, it tries many: ``python -m tests.hlo.mutations 100000 seed``.
"""

from __future__ import annotations

import contextlib
import random
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import xarraylite as xl

DATA = Path(__file__).parent / "data"

_TOKEN = re.compile(r"[A-Za-z_][\w.\-]*|-?\d+(?:\.\d+)?|\s+|.", re.DOTALL)
_PIECES = [
    *[
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        ",",
        "=",
        ":",
        "%",
        "->",
        "/*",
        "*/",
        "//",
        '"',
        "'",
        "\\",
        "<=",
    ],
    *["ROOT ", "ENTRY ", "HloModule ", "f32[2,3]{1,0}", "(f32[], s32[2])", "nan", "inf", "-0"],
    *["99999999999999999999", "-1", "0", "token[]", "s4[3]{0:E(4)}", "to_apply=add", "{...}"],
    *["dimensions={0,0}", 'metadata={op_name="x"}', "sharding={devices=[2,2]<=[4]}", "calls={"],
    *["window={size=2x2}", "replica_groups=[2,2]<=[4]T(1,0)", "\x00", "é", "constant(", "tuple("],
    *["parameter(0)", "-start("],
]


def _characters(rng: random.Random, text: str) -> str:
    at = rng.randrange(len(text) + 1)
    end = min(len(text), at + rng.choice([0, 1, 1, 2, 5, 40]))
    return (
        text[:at] + rng.choice(["", rng.choice(_PIECES), chr(rng.randrange(1, 128))]) + text[end:]
    )


def _tokens(rng: random.Random, text: str) -> str:
    parts = _TOKEN.findall(text)
    first, second = rng.randrange(len(parts)), rng.randrange(len(parts))
    action = rng.randrange(4)
    if action == 0:
        parts[first], parts[second] = parts[second], parts[first]
    elif action == 1:
        parts[first] = parts[second]
    elif action == 2:
        parts[first] = rng.choice(_PIECES)
    else:
        del parts[first]
    return "".join(parts)


def _lines(rng: random.Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    first, second = rng.randrange(len(lines)), rng.randrange(len(lines))
    action = rng.randrange(3)
    if action == 0:
        lines[first], lines[second] = lines[second], lines[first]
    elif action == 1:
        lines.insert(first, lines[second])
    else:
        del lines[first]
    return "".join(lines)


def _numbers(rng: random.Random, text: str) -> str:
    found = list(re.finditer(r"\d+", text))
    if not found:
        return text
    match = rng.choice(found)
    new = rng.choice(["0", "1", "2", "3", "7", "128", "4294967296", "9223372036854775808", "-5"])
    return text[: match.start()] + new + text[match.end() :]


def _cut(rng: random.Random, text: str) -> str:
    return text[: rng.randrange(len(text) + 1)]


_MUTATIONS: Sequence[Callable[[random.Random, str], str]] = [
    _characters, _characters, _tokens, _tokens, _tokens, _lines, _numbers, _numbers, _cut,
]  # fmt: skip


def mutated(texts: Sequence[str], count: int, seed: int) -> Iterator[str]:
    """Yield texts with one to four mutations each."""
    rng = random.Random(seed)
    for _ in range(count):
        text = rng.choice(texts)
        for _ in range(rng.choice([1, 1, 1, 2, 4])):
            if text:
                text = rng.choice(_MUTATIONS)(rng, text)
        yield text


def check(text: str) -> bool:
    """Whether a text is read; then what is printed must be read as the same module again."""
    try:
        module = xl.hlo.parse(text)
    except xl.HloError:
        return False
    printed = module.to_text(print_large_constants=True)
    again = xl.hlo.parse(printed)
    assert again.to_text(print_large_constants=True) == printed or _reordered(again, printed)
    with contextlib.suppress(xl.HloError):
        module.verify()
    return True


def _reordered(module: xl.hlo.HloModule, printed: str) -> bool:
    """Whether a second print differs in nothing but order and stack frames.

    XLA's order begins with the first instruction without users, so where several have none,
    printing what was printed may change the order once more.  And it keeps the callers of a stack
    frame whose own place is not there, until nobody names them.
    """
    text = module.to_text(print_large_constants=True)
    return sorted(_anonymous(text)) == sorted(_anonymous(printed))


def _anonymous(text: str) -> list[str]:
    varying = re.compile(r"%[\w.\-]+|(?<=[(, ])[\w.\-]+(?=: )|_id=\d+")
    lines = varying.sub("", text).splitlines()
    return [line for line in lines if re.match(r"\d+ |F|StackFrames|$", line) is None]


def seeds() -> list[str]:
    """Programs of moderate size."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(DATA.glob("*.hlo.txt"))]
    return [text for text in texts if len(text) < 12_000]


def main(count: int, seed: int) -> None:
    """Try many mutations; print what fails and how long the slowest took."""
    good, slowest, worst = 0, 0.0, ""
    for text in mutated(seeds(), count, seed):
        start = time.process_time()
        try:
            good += check(text)
        except BaseException as error:  # whatever it is, the text is what matters
            print(f"{type(error).__name__}: {error}", repr(text[:3000]), sep="\n", flush=True)
        taken = time.process_time() - start
        if taken > slowest:
            slowest, worst = taken, text
    print(f"{count} texts, {good} read, slowest {slowest:.3f} s: {worst[:200]!r}")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
