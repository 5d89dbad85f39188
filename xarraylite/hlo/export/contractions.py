"""Products of labelled terms: ``dot``, with every label in its place."""

from __future__ import annotations

import numpy as np

from .terms import Term

_Labels = tuple[str, ...]


def contracted(x: Term, ours: _Labels, y: Term, theirs: _Labels, kept: _Labels) -> Term:
    """Return the product of two terms, summed over the labels that both have and nobody keeps.

    Parameters
    ----------
    x, y : Term
        Of one dtype, in which products are added up.
    ours, theirs : tuple of str
        A label for each of their dimensions.
    kept : tuple of str
        Labels of the result, in their order.
    """
    if x.kind == "b":
        wide = np.dtype("int32")
        return contracted(x.cast(wide), ours, y.cast(wide), theirs, kept).cast(x.dtype)
    batch = [k for k in ours if k in theirs and k in kept]
    summed = [k for k in ours if k in theirs and k not in kept]
    free = [[k for k in labels if k not in batch and k not in summed] for labels in (ours, theirs)]
    order = [*batch, *free[0], *free[1]]
    sizes = dict(zip(ours, x.shape, strict=True)) | dict(zip(theirs, y.shape, strict=True))
    numbers = {
        f"{side}_{word}_dims": tuple([labels.index(k) for k in chosen])
        for side, labels in (("lhs", ours), ("rhs", theirs))
        for word, chosen in (("batch", batch), ("contracting", summed))
        if chosen
    }
    made = x.writer.term("dot", x.dtype, [sizes[k] for k in order], x, y, **numbers)
    places = tuple([order.index(k) for k in kept])
    if places == tuple(range(len(places))):
        return made
    turned = [sizes[k] for k in kept]
    return x.writer.term("transpose", x.dtype, turned, made, dimensions=places)
