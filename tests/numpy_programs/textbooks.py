"""Programs of textbooks: elements as indices and bounds, complex values, products of two dtypes."""

from __future__ import annotations

import cmath
import itertools
from types import ModuleType
from typing import Any

import numpy as np

Xp = ModuleType


def candidates_of_a_sudoku(xp: Xp) -> Any:
    rows = "1..4", "..1.", ".4..", "2..3"
    grid = xp.array([[0 if c == "." else int(c) for c in row] for row in rows], dtype=xp.uint8)
    while (grid == 0).any():
        free = xp.ones((4, 4, 4), dtype=bool)
        for r, k in zip(*xp.nonzero(grid), strict=True):
            v = grid[r, k] - 1
            free[v, r, :] = free[v, :, k] = free[:, r, k] = False
            free[v, r // 2 * 2 : r // 2 * 2 + 2, k // 2 * 2 : k // 2 * 2 + 2] = False
        single = free.sum(axis=0) == 1
        if not single.any():
            break
        grid[single] = free.argmax(axis=0)[single] + 1
    boxes = grid.reshape(2, 2, 2, 2).swapaxes(1, 2).reshape(4, 4)
    return grid, [" ".join(map(str, row)) for row in grid], xp.sort(boxes, axis=1)


def fourier_by_halves(xp: Xp) -> Any:
    def transformed(x: Any) -> Any:
        n = len(x)
        if n == 1:
            return x.astype(complex)
        even, odd = transformed(x[::2]), transformed(x[1::2])
        made = xp.empty(n, dtype=complex)
        for k in range(n // 2):
            turned = xp.exp(-2j * xp.pi * k / n) * odd[k]
            made[k], made[k + n // 2] = even[k] + turned, even[k] - turned
        return made

    x = xp.array([1.0, 2.0, -1.0, 0.5, 3.0, 0.0, 1.5, -2.0])
    z = transformed(x)
    least = min(z, key=abs)
    half = 0.5 * z[1] + z[1] * 2 - z[1] / 4
    power = [round(abs(c) ** 2, 9) for c in z]
    same = bool(xp.allclose(z, xp.fft.fft(x)))
    return z, power, same, least.conjugate(), half, xp.exp(z[0] / 10), xp.sqrt(z[2]), z[3] ** 2


def orbits(xp: Xp) -> Any:
    steps = xp.zeros((3, 5), xp.int16)
    for i, c in enumerate(xp.linspace(-0.8, 0.3, 5) + 0.2j):
        z = 0
        while abs(z) <= 2 and steps[1, i] < 12:
            z = z * z + c
            steps[1, i] += 1
        steps[2, i] = z.real > 0
    gate = xp.array([[1, 1], [1, -1]]) / xp.sqrt(2)
    phase = xp.diag([1, cmath.exp(0.5j)])
    state = (phase @ gate) @ [1, 0]
    return steps, state, xp.vdot(state, state).real, xp.kron(gate, phase)


def rotations_of_a_crystal(xp: Xp) -> Any:
    turn = xp.rint(xp.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])).astype(int)
    operations, todo = {}, [xp.eye(3, dtype=int)]
    while todo:
        found = todo.pop()
        if found.tobytes() not in operations:
            operations[found.tobytes()] = found
            todo += [found @ g for g in (turn, xp.diag([-1, -1, 1]) * 1)]
    cell = xp.array([[5.0, 0.0, 0.5], [0.0, 6.0, 0.0], [0.0, 0.0, 7.0]])
    planes = xp.array(list(itertools.product((0, 1), repeat=3)))[1:]
    metric = xp.linalg.inv(cell.T @ cell)
    spacing = xp.array([1 / xp.sqrt(h @ metric @ h) for h in planes])
    short = cell.astype("f4")
    mixed = [short @ turn, turn @ cell, (turn > 0) @ turn, planes[2] @ cell, cell @ [1, 0, 2]]
    return len(operations), spacing, mixed, sorted(int(xp.trace(m)) for m in operations.values())


def knights_on_a_bitboard(xp: Xp) -> Any:
    one, left = xp.uint64(1), ~xp.uint64(0x0101010101010101)
    right = ~(xp.uint64(0x0101010101010101) << xp.uint64(7))

    def leaps(b: Any) -> Any:
        return ((b << xp.uint64(17)) & left) | ((b << xp.uint64(15)) & right)

    table = xp.array([leaps(one << xp.uint64(s)) for s in range(0, 64, 9)])
    bits = xp.unpackbits(table[:1].view(xp.uint8), bitorder="little").reshape(8, 8)
    board = xp.zeros((8, 8), dtype=xp.int8)
    board[0] = [4, 2, 3, 5, 6, 3, 2, 4]
    board[7] = -board[0]
    worth = xp.array([0, 1, 3, 3, 5, 9, 0], dtype=xp.int8)
    score = (xp.sign(board) * worth[xp.abs(board)]).sum()
    squares = [i for i in range(64) if (table[2] >> xp.uint64(i)) & one]
    return table, bits, score, squares, hex(table[3]), xp.bitwise_xor.reduce(table)


def a_permutation_test(xp: Xp) -> Any:
    rng = xp.random.default_rng(42)
    data = xp.round(rng.exponential(2.0, 12), 3)
    pool, seen, larger = data.copy(), [], 0
    for _ in range(5):
        rng.shuffle(pool)
        pool[-2:] = pool[:2]
        pool[...] = pool[::-1] * 1
        larger += abs(pool[:6].mean() - pool[6:].mean()) >= 0.5
        seen.append(pool[:3] + 0)
    left_out = xp.array([xp.delete(data, i).mean() for i in range(len(data))])
    return pool, seen, int(larger), left_out.std(), xp.quantile(data, [0.25, 0.75])


def gradients_through_time(xp: Xp) -> Any:
    inner, outer = xp.array([[0.5, -0.2], [0.1, 0.3]]), xp.array([[1.0, -1.0], [0.5, 2.0]])
    hidden, shares, loss = {-1: xp.zeros((2, 1))}, {}, 0
    for t, target in enumerate((1, 0, 1)):
        hidden[t] = xp.tanh(inner @ hidden[t - 1] + 0.1 * (t + 1))
        y = xp.dot(outer, hidden[t])
        shares[t] = xp.exp(y) / xp.sum(xp.exp(y))
        loss += -xp.log(shares[t][target, 0])
    grads, later = [xp.zeros_like(inner), xp.zeros_like(outer)], xp.zeros((2, 1))
    for t in reversed(range(3)):
        dy = xp.copy(shares[t])
        dy[(1, 0, 1)[t]] -= 1
        grads[1] += dy @ hidden[t].T
        raw = (1 - hidden[t] * hidden[t]) * (outer.T @ dy + later)
        grads[0] += raw @ hidden[t - 1].T
        later = inner.T @ raw
    for g in grads:
        xp.clip(g, -0.1, 0.5, out=g)
    return loss, [xp.round(g, 9) for g in grads], shares[2]


def rows_between_bounds(xp: Xp) -> Any:
    starts, columns = xp.array([0, 2, 2, 5, 6], xp.int32), xp.array([1, 3, 0, 2, 3, 1])
    data, x = xp.arange(1.0, 7.0), xp.array([1.0, 10.0, 100.0, 1000.0])
    y, parts = xp.zeros(4), []
    for i in range(4):
        part = slice(starts[i], starts[i + 1])
        y[i] = data[part] @ x[columns[part]]
        parts.append(data[starts[i] : starts[i + 1]].tolist())
        data[starts[i] : starts[i + 1]] /= max(len(parts[-1]), 1)
    table = xp.zeros((4, 4))
    table[starts[1], starts[0] : starts[3]] = 1
    table[starts[2] :, starts[1]] += y[starts[1] :]
    table[: starts[0]] = table[4:] = -1
    empty = table[starts[1] : starts[2], ::-1]
    nothing = empty.shape, empty.sum(), (empty + 1).size, xp.vstack([empty, table[:1]])
    return y, parts, data, table, nothing, table[9:, 2].tolist(), table[3:1:1, None].shape


def votes_for_lines(xp: Xp) -> Any:
    image = xp.eye(8, dtype=bool)
    image[3] = 1
    angles = xp.deg2rad(xp.arange(-90, 90, 15))
    votes = xp.zeros((25, len(angles)), dtype=xp.uint64)
    for x, y in zip(*xp.nonzero(image)[::-1], strict=True):
        r = xp.round(x * xp.cos(angles) + y * xp.sin(angles), 6).astype(int) + 12
        votes[r, xp.arange(len(angles))] += 1
    peaks = []
    for _ in range(2):
        at = xp.unravel_index(votes.argmax(), votes.shape)
        peaks.append((int(at[0]) - 12, int(at[1]), int(votes[at])))
        votes[max(at[0] - 2, 0) : at[0] + 3, max(at[1] - 1, 0) : at[1] + 2] = 0
    return votes, peaks, votes.sum(axis=0)


def memory_that_numpy_has_seen(xp: Xp) -> Any:
    a, b, kept = xp.arange(12.0).reshape(3, 4), xp.ones(4), []
    np.testing.assert_array_equal(a, a)
    np.testing.assert_array_equal(b, b)
    for k in range(4):
        before, part = a + 0, a[1:] * 2
        a[0] = b
        a[1] = a[2]
        a[:, 1] = a[::-1, 2]
        a[2] = np.arange(4.0) + k
        a[1:] = np.array([[k], [5.0]])
        a[...] = a[::-1] + 1
        b[:] = a[:, 0].sum()
        kept.append((before, part))
    return a, b, kept


PROGRAMS = [candidates_of_a_sudoku, fourier_by_halves, orbits, rotations_of_a_crystal]
PROGRAMS += [knights_on_a_bitboard, a_permutation_test, gradients_through_time]
PROGRAMS += [rows_between_bounds, votes_for_lines, memory_that_numpy_has_seen]
