"""Blocks that are transposed in registers, compiled and run."""

from __future__ import annotations

import numpy as np
import pytest

from xarraylite.codegen import machine, routines
from xarraylite.codegen.emit.builder import Builder
from xarraylite.codegen.emit.transpose import Block, transposed

SIZES = (1, 2, 4, 8, 16)


@pytest.mark.parametrize("size", SIZES)
def test_a_block_becomes_its_transpose(size: int) -> None:
    block = Block.of(size)
    row = block.side * size
    memory = np.arange(2 * block.side * row, dtype=np.uint32).astype(np.uint8)
    before = memory[: block.side * row].reshape(block.side, block.side, size).copy()
    memory[block.side * row :] = 0
    b = Builder()
    rows = [b.load(block.type, b.block + k * row, 0, "src") for k in range(block.side)]
    for k, column in enumerate(transposed(b, block, rows)):
        b.store(column, b.block + (block.side + k) * row, 0, "dst")
    code = machine.load("transpose", machine.compile_object(routines.assembled(b.module())))
    assert code.run(memory.ctypes.data) == 0
    after = memory[block.side * row :].reshape(block.side, block.side, size)
    assert after.tolist() == before.transpose(1, 0, 2).tolist()


@pytest.mark.parametrize("size", SIZES)
def test_a_block_fits_registers_and_lines(size: int) -> None:
    block = Block.of(size)
    assert block.side <= 16
    assert 64 % (block.side * size) == 0
