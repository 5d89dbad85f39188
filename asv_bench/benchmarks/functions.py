"""Public functions against NumPy's of the same name, at 10, 1000 and 1 000 000 elements.

`EveryFunction` is asv's table of them, one number per call and size; ``python
asv_bench/function_table.py`` prints it.  The three comparisons run all calls of one size once.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

import xarraylite as xl

from . import SMALL, Comparison, Times, values

#: Calls in ``xp``, with a vector ``x`` and a positive one ``y``, truth values ``k``, whole numbers
#: ``i`` below their length, ten sorted numbers ``e``, a matrix ``m`` of (4, 4), the length ``n``.
CALLS = """
zeros(n)
full(n, 1.0)
arange(n)
linspace(0, 1, n)
add(x, x)
sin(x)
clip(x, 0, 1)
round(x, 2)
where(x > 1, x, 0)
isclose(x, x)
nan_to_num(x)
array_equal(x, x)
allclose(x, x)
sum(x)
mean(x)
var(x)
max(x)
argmax(x)
ptp(x)
average(x)
nansum(x)
nanmean(x)
nanmax(x)
count_nonzero(x)
cumsum(x)
diff(x)
gradient(x)
trapezoid(x)
concatenate([x, x])
stack([x, x])
split(x, 2)
roll(x, 2)
flip(x)
tile(x, 2)
repeat(x, 2)
pad(x, 1)
take(x, i)
outer(e, x)
dot(x, x)
sort(x)
argsort(x)
searchsorted(e, x)
nonzero(x)
unique(x)
isin(x, e)
bincount(i)
digitize(x, e)
histogram(x)
median(x)
percentile(x, 50)
interp(x, e, e)
convolve(x, e)
cov(x)
fft.fft(x)
fft.rfft(x)
zeros_like(x)
ones_like(x)
full_like(x, 2.0)
eye(4)
tri(4)
array(x)
copy(x)
ascontiguousarray(x)
asfortranarray(x)
abs(x)
negative(x)
sign(x)
square(x)
sqrt(y)
exp(x)
expm1(x)
log(y)
log1p(y)
cos(x)
tan(x)
arctan(x)
sinh(x)
tanh(x)
arcsinh(x)
floor(x)
ceil(x)
trunc(x)
rint(x)
isnan(x)
isfinite(x)
signbit(x)
deg2rad(x)
sinc(x)
modf(x)
isreal(x)
logical_not(k)
bitwise_count(i)
subtract(x, y)
multiply(x, y)
divide(x, y)
power(x, 2)
power(y, x)
float_power(y, x)
floor_divide(x, y)
remainder(x, y)
maximum(x, y)
arctan2(x, y)
hypot(x, y)
copysign(x, y)
logaddexp(x, y)
equal(x, y)
less(x, y)
logical_and(k, k)
bitwise_xor(i, i)
gcd(i, i)
prod(x)
min(x)
std(x)
any(k)
all(k)
argmin(x)
quantile(x, 0.5)
nanmin(x)
nanvar(x)
nanargmax(x)
nanmedian(x)
cumprod(x)
ediff1d(x)
unwrap(x)
reshape(x, (2, -1))
ravel(m)
transpose(m)
swapaxes(m, 0, 1)
squeeze(x)
expand_dims(x, 0)
atleast_2d(x)
broadcast_to(x, (3, n))
hstack([x, x])
vstack([x, x])
column_stack([x, x])
append(x, 1.0)
insert(x, 2, 1.0)
delete(x, 2)
array_split(x, 3)
unstack(m)
rot90(m)
compress(k, x)
extract(k, x)
take_along_axis(x, i, 0)
diag(m)
tril(m)
trace(m)
inner(x, x)
vdot(x, x)
vecdot(x, x)
matmul(m, m)
matvec(m, m[0])
tensordot(m, m, 1)
kron(m, m)
einsum("i,i", x, y)
einsum("ij,jk", m, m)
lexsort((x, y))
flatnonzero(x)
argwhere(x)
where(k)
union1d(x, e)
setdiff1d(x, e)
polyval(e[:3], x)
shape(x)
ndim(x)
size(x)
result_type(x, x)
fft.ifft(x)
fft.fftshift(x)
linalg.det(m)
linalg.cholesky(m)
linalg.matrix_power(m, 2)
linalg.norm(x)
linalg.inv(m)
linalg.solve(m, m)
linalg.eigh(m)
linalg.svd(m)
random.default_rng(1).normal(size=n)
"""

NAMES = [line for line in CALLS.splitlines() if line]
SIZES = [10, 1000] if SMALL else [10, 1000, 1_000_000]


def operands(n: int) -> dict[str, Any]:
    """NumPy's operands."""
    rng = np.random.default_rng(2)
    m = rng.random((4, 4)) + 4 * np.eye(4)
    x = values(n)
    return {
        "x": x,
        "y": np.abs(values(n, seed=3)) + 0.1,
        "k": x > 0,
        "i": rng.integers(0, n, n),
        "e": np.sort(values(10, seed=1)),
        "m": m + m.T,
        "n": n,
    }


def evaluated(made: Any) -> Any:
    """Have a result computed."""
    if isinstance(made, tuple | list):
        return [evaluated(part) for part in made]
    return xl.eval(made) if isinstance(made, xl.XExpression) else made


class Call(Comparison):
    """One call at one size; by itself, a sort."""

    def __init__(self, name: str = "sort(x)", n: int = 1000) -> None:
        self.title, self.n = name, n

    def setup(self) -> None:
        theirs = operands(self.n)
        ours = {k: xl.asarray(v) if k != "n" else v for k, v in theirs.items()}
        self.sides = [
            eval(f"lambda: xp.{self.title}", {"xp": xp, **names})  # our own words
            for xp, names in ((xl, ours), (np, theirs))
        ]
        self.xarraylite()

    def xarraylite(self) -> object:
        return evaluated(self.sides[0]())

    def numpy(self) -> object:
        return self.sides[1]()


class EveryFunction:
    """Each call's time over NumPy's."""

    unit = "of NumPy's time"
    timeout = 300
    params: ClassVar = [NAMES, SIZES]
    param_names: ClassVar = ["call", "n"]

    def setup(self, call: str, n: int) -> None:
        self.case = Call(call, n)
        self.case.setup()

    def track_ratio(self, call: str, n: int) -> float:
        return self.case.compare().ratio


class AllOfTen(Comparison):
    """All calls once at 10 elements: what a call costs besides its work."""

    title = "every function once, 10 elements"
    n = 10

    def setup(self) -> None:
        self.calls = [Call(name, self.n) for name in NAMES]
        for call in self.calls:
            call.setup()

    def xarraylite(self) -> object:
        return [call.xarraylite() for call in self.calls]

    def numpy(self) -> object:
        return [call.numpy() for call in self.calls]

    def agree(self) -> bool:
        """Whether all results of numbers, flattened, are close."""
        return all(
            np.allclose(np.asarray(one), np.asarray(other), rtol=1e-9, atol=1e-9)
            for one, other in zip(_parts(self.xarraylite()), _parts(self.numpy()), strict=True)
        )


class AllOfAThousand(AllOfTen):
    """All calls once at 1000 elements."""

    title = "every function once, 1000 elements"
    n = 1000


def _parts(made: Any) -> list[Any]:
    if isinstance(made, np.dtype):
        return [made.itemsize]
    if isinstance(made, tuple | list):
        return [part for item in made for part in _parts(item)]
    return [made]


def table(rounds: int = 5) -> list[tuple[str, int, Times]]:
    """Return the times of each call at each size."""
    found = []
    for name in NAMES:
        for n in SIZES:
            case = Call(name, n)
            case.rounds = rounds
            case.setup()
            found.append((name, n, case.compare()))
    return found
