"""HLO text: reading, printing and verifying an instruction, beside jaxlib where it is installed."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from time import process_time
from typing import Any, TypeVar

import xarraylite as xl

from . import ROUNDS, size

_LINES = (
    "  %{name} = f32[8,128]{{1,0:T(8,128)}} add(%{last}, %{last})",
    "  %{name} = f32[128,8]{{0,1:T(8,128)}} transpose(%{last}), dimensions={{1,0}}",
    "  %{name} = f32[8,128]{{1,0:T(8,128)}} transpose(%{last}), dimensions={{1,0}}",
    "  %{name} = f32[8,128]{{1,0:T(8,128)}} multiply(f32[8,128] %{last}, f32[8,128] %p.0)",
    "  %{name} = f32[] constant({number}.5)",
    "  %{name} = f32[8,128]{{1,0:T(8,128)}} broadcast(%{last}), dimensions={{}}",
)


def program(instructions: int) -> str:
    """A program of so many instructions, most of which say where they come from."""
    lines = ["HloModule big", "", "ENTRY main {", "  p.0 = f32[8,128]{1,0:T(8,128)} parameter(0)"]
    last = "p.0"
    for number in range(instructions):
        name = f"op.{number}"
        line = _LINES[number % len(_LINES)].format(name=name, last=last, number=number)
        lines.append(f'{line}, metadata={{op_name="jit(f)/layer_{number}/op"}}')
        last = name
    return "\n".join([*lines, "}", ""])


def microseconds(call: Callable[[], object], instructions: int) -> float:
    """CPU time per instruction, the best of several rounds."""
    best = float("inf")
    for _ in range(min(ROUNDS, 5)):
        start = process_time()
        call()
        best = min(best, process_time() - start)
    return 1e6 * best / instructions


Track = TypeVar("Track", bound=Callable[..., float])


def per_instruction(track: Track) -> Track:
    """Say in which unit a number is."""
    track.unit = "us/instruction"  # type: ignore[attr-defined]
    return track


class Text:
    """A program of 20,000 instructions; each of ours costs at most 50 µs to read."""

    def setup(self) -> None:
        self.instructions = size(20_000, 60)
        self.text = program(self.instructions)
        self.module = xl.hlo.parse(self.text)

    @per_instruction
    def track_parse(self) -> float:
        """Reading."""
        return microseconds(lambda: xl.hlo.parse(self.text), self.instructions)

    @per_instruction
    def track_print(self) -> float:
        """Printing as dumps do."""
        return microseconds(self.module.to_text, self.instructions)

    @per_instruction
    def track_canonical(self) -> float:
        """Printing in canonical form."""
        return microseconds(lambda: self.module.to_text("canonical"), self.instructions)

    @per_instruction
    def track_verify(self) -> float:
        """Checking every rule."""
        return microseconds(self.module.verify, self.instructions)

    def peakmem_parse(self) -> object:
        """Memory of a process that reads it."""
        return xl.hlo.parse(self.text)


class JaxlibText(Text):
    """The same by jaxlib, whose reader and printer are C++."""

    def setup(self) -> None:
        try:
            self.hlo: Any = importlib.import_module("jaxlib._hlo")
        except ImportError:
            raise NotImplementedError("jaxlib is not installed") from None
        super().setup()
        self.theirs = self.hlo.hlo_module_from_text(self.text)
        assert self.theirs.to_string() == str(self.module)

    @per_instruction
    def track_parse(self) -> float:
        """Reading."""
        return microseconds(lambda: self.hlo.hlo_module_from_text(self.text), self.instructions)

    @per_instruction
    def track_print(self) -> float:
        """Printing as dumps do."""
        return microseconds(self.theirs.to_string, self.instructions)

    @per_instruction
    def track_canonical(self) -> float:
        """Printing in canonical form."""
        options = self.hlo.HloPrintOptions.canonical()
        return microseconds(lambda: self.theirs.to_string(options), self.instructions)

    track_verify = None  # jaxlib's verifier cannot be called
    peakmem_parse = None
