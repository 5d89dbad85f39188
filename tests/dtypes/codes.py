"""What the codes of narrow floats stand for, by the formula in ``dtypes/formats.py``."""

from __future__ import annotations

import math

from xarraylite.dtypes.formats import Format


def value(form: Format, code: int) -> float:
    """Return the number that a code stands for, by the formula."""
    size = code & form.magnitude
    if code == form.nan or (form.style in ("ieee", "fn") and size > form.largest):
        return math.inf * (1 - 2 * (code > size)) if size == form.inf else math.nan
    if form.style == "scale":
        return math.ldexp(1.0, code - form.bias)
    exponent, fraction = divmod(size, 1 << form.mantissa)
    if exponent > 0:
        fraction += 1 << form.mantissa
    number = math.ldexp(fraction, max(exponent, 1) - form.bias - form.mantissa)
    return -number if code > form.magnitude else number
