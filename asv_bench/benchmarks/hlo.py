"""HLO: ten models as JAX 0.10.2 lowers them (``hlo_models.json``) beside NumPy and JAX; its text.

What needs JAX is skipped where it is not installed.
"""

from __future__ import annotations

import importlib
import json
from abc import abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import xarraylite as xl

from . import Comparison, size

MODELS = json.loads((Path(__file__).parent / "hlo_models.json").read_text(encoding="utf-8"))
F32 = np.float32


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def needed(name: str) -> Any:
    """A module; asv skips what needs one that is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise NotImplementedError(f"needs {name}") from error


def drawn(rng: np.random.Generator, dtype: str, shape: list[int]) -> np.ndarray:
    """One of a model's arguments."""
    if dtype == "int32":
        return (rng.random(shape) < 0.3).astype(np.int32)
    values = rng.normal(size=shape) * 0.5
    if dtype == "complex64":
        values = values + 1j * rng.normal(size=shape) * 0.5
    return values.astype(dtype)


def arguments(name: str) -> list[np.ndarray]:
    """Arguments of a model, the same at every call."""
    rng = np.random.default_rng(0)
    return [drawn(rng, *spec) for spec in MODELS[name]["inputs"]]


def compiled_by_jax(name: str) -> Callable[[], object]:
    """A model on JAX's CPU; a call returns when its results are in memory."""
    jax, extension = needed("jax"), needed("jaxlib._jax")
    device = jax.local_devices(backend="cpu")[0]
    operands = [jax.device_put(operand, device) for operand in arguments(name)]
    proto = needed("jaxlib._hlo").hlo_module_from_text(MODELS[name]["text"])
    program = device.client.compile_and_load(
        extension.mlir.hlo_to_stablehlo(proto.as_serialized_hlo_module_proto()),
        extension.DeviceList((device,)),
        extension.CompileOptions(),
    )

    def run() -> object:
        found = program.execute_sharded(operands).disassemble_into_single_device_arrays()
        return [part[0].block_until_ready() for part in found]

    return run


class Model(Comparison):
    """One model; sizes are those of the text."""

    name = ""

    def setup(self) -> None:
        self.operands = arguments(self.name)
        self.module = xl.hlo.parse(MODELS[self.name]["text"])
        self.xarraylite()

    def xarraylite(self) -> object:
        return self.module(*self.operands)

    def numpy(self) -> object:
        return self.model(*self.operands)

    @abstractmethod
    def model(self, *operands: np.ndarray) -> np.ndarray:
        """The same in NumPy."""

    def others(self) -> dict[str, Callable[[], object]]:
        try:
            return {"JAX": compiled_by_jax(self.name)}
        except NotImplementedError:
            return {}


class HloMlp(Model):
    """Two dense layers."""

    title = "HLO: two dense layers, 256 x 256 x 1024 x 64"
    name = "mlp"

    def model(self, x, w1, b1, w2, b2):
        return np.maximum(x @ w1 + b1, 0) @ w2 + b2


class HloLayerNorm(Model):
    """Layer normalisation."""

    title = "HLO: layer norm, 2048 x 512"
    name = "layernorm"

    def model(self, x, gain, offset):
        mean = x.mean(-1, keepdims=True)
        variance = ((x - mean) ** 2).mean(-1, keepdims=True)
        return (x - mean) / np.sqrt(variance + F32(1e-5)) * gain + offset


class HloAttention(Model):
    """Attention of eight heads."""

    title = "HLO: attention, 8 heads, 256 x 64"
    name = "attention"

    def model(self, q, k, v):
        scores = np.matmul(q, k.transpose(0, 2, 1)) / F32(8)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        return weights @ v


class HloHeat(Model):
    """The heat equation, in place."""

    title = "HLO: heat equation, 512 x 512, 20 steps"
    name = "heat"

    def model(self, u):
        u = u.copy()
        for _ in range(20):
            around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
            u[1:-1, 1:-1] += F32(0.1) * (around - 4 * u[1:-1, 1:-1])
        return u


class HloLife(Model):
    """The Game of Life on a torus."""

    title = "HLO: Game of Life, 512 x 512, 10 steps"
    name = "life"

    def model(self, b):
        places = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j]
        for _ in range(10):
            near = sum([np.roll(np.roll(b, i, 0), j, 1) for i, j in places])
            b = ((near == 3) | ((b == 1) & (near == 2))).astype(b.dtype)
        return b


class HloMandelbrot(Model):
    """The Mandelbrot set."""

    title = "HLO: Mandelbrot, 400 x 400, 30 steps"
    name = "mandelbrot"

    def model(self, c):
        z, count = np.zeros_like(c), np.zeros(c.shape, np.int32)
        for _ in range(30):
            inside = np.abs(z) <= 2
            z, count = np.where(inside, z * z + c, z), count + inside
        return count


class HloKMeans(Model):
    """Lloyd's algorithm."""

    title = "HLO: k-means, 5000 points, 5 steps"
    name = "kmeans"

    def model(self, x, c):
        for _ in range(5):
            nearest = np.argmin(((x[:, None] - c[None]) ** 2).sum(-1), 1)
            member = (nearest[:, None] == np.arange(len(c))).astype(x.dtype)
            c = (member.T @ x) / np.maximum(member.sum(0)[:, None], 1)
        return c


class HloLstm(Model):
    """A scan of an LSTM cell."""

    title = "HLO: LSTM, 30 steps, 32 x 128"
    name = "lstm"

    def model(self, xs, h, c, w, u, b):
        outputs = []
        for x in xs:
            i, f, g, o = np.split(x @ w + h @ u + b, 4, -1)
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
            h = sigmoid(o) * np.tanh(c)
            outputs.append(h)
        return np.stack(outputs)


class HloFftFilter(Model):
    """A filter in the frequency domain."""

    title = "HLO: FFT filter, 512 x 512"
    name = "fft"

    def model(self, x, mask):
        return np.fft.irfft2(np.fft.rfft2(x) * mask).astype(F32)


class HloConvolutionNet(Model):
    """Two convolutions with pooling between, as windows and products in NumPy too."""

    title = "HLO: convolution net, 4 x 64 x 64 x 3"
    name = "convnet"

    @staticmethod
    def convolve(x, kernel):
        padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(1, 2))
        return np.tensordot(windows, kernel, ((3, 4, 5), (2, 0, 1)))

    def model(self, x, first, second):
        y = np.maximum(self.convolve(x, first), 0)
        b, m, n, f = y.shape
        y = y.reshape(b, m // 2, 2, n // 2, 2, f).max((2, 4))
        return self.convolve(y, second).mean((1, 2))


def program(count: int) -> str:
    """A program of so many instructions, as a dump has them."""
    rights = [
        "add(x{0}, p)",
        "multiply(x{0}, x{1})",
        "tanh(x{0})",
        'subtract(x{0}, p), metadata={{op_name="jit(f)/sub" source_file="a.py" source_line={0}}}',
        "transpose(x{0}), dimensions={{1,0}}",
        "dot(x{0}, x{1}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}",
    ]
    lines = ["p = f32[64,64]{1,0} parameter(0)", "x0 = f32[64,64]{1,0} negate(p)"]
    for k in range(1, count):
        right = rights[k % len(rights)].format(k - 1, max(k - 3, 0))
        lines.append(f"x{k} = f32[64,64]{{1,0}} {right}")
    return "HloModule m\n\nENTRY e {\n  " + "\n  ".join(lines) + "\n}\n"


class HloText:
    """Reading and printing a program of 20 000 instructions, here and by jaxlib."""

    params = ("xarraylite", "jaxlib")
    param_names = ("library",)
    timeout = 300

    def setup(self, library: str) -> None:
        self.text = program(size(20_000, 100))
        self.parse: Callable[[str], Any] = xl.hlo.parse
        if library == "jaxlib":
            self.parse = needed("jaxlib._hlo").hlo_module_from_text
        module = self.parse(self.text)
        self.print = module.to_text if library == "xarraylite" else module.to_string

    def time_parse(self, library: str) -> None:
        self.parse(self.text)

    def time_print(self, library: str) -> None:
        self.print()


class HloModelByJax:
    """The ten models, compiled by JAX for the CPU; one call, results in memory."""

    params = tuple(MODELS)
    param_names = ("model",)
    timeout = 300

    def setup(self, model: str) -> None:
        self.run = compiled_by_jax(model)
        self.run()

    def time_model(self, model: str) -> None:
        self.run()


class HloCost:
    """Weighing a program of 20 000 instructions."""

    unit = "s"
    timeout = 300

    def setup(self) -> None:
        self.module = xl.hlo.parse(program(size(20_000, 100)))

    def time_cost(self) -> None:
        self.module.cost()
