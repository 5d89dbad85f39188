"""What a row of the table of functions that NumPy computes has, and what parameters mean.

A row has a signature, in which arrays are marked by their type, the summary, what is returned, and
an example with its result.  `table_functions` makes the functions.
"""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """One function.

    Attributes
    ----------
    signature : str
        As Python writes it, with types; parameters of the types ``array`` and ``arrays`` (a
        sequence) are converted, the others are passed on.
    summary : str
        First line of its page.
    returns : str
        What it returns, as the page says it.
    example : str
        A call.
    result : str
        What the example shows.
    """

    signature: str
    summary: str
    returns: str
    example: str
    result: str


#: What parameters mean, by their names; a page's own words come first.
WORDS: dict[str, str] = {
    "a": "What to look at.",
    "x": "What to look at.",
    "y": "Further values.",
    "v": "What to join, insert or convolve with.",
    "arr": "What to look at.",
    "ary": "What to look at.",
    "f": "Values at the points.",
    "m": "How often, or further extents.",
    "ndim": "Number of dimensions.",
    "ar": "What to look at; flattened.",
    "ar1": "First set; flattened.",
    "ar2": "Second set; flattened.",
    "axis": "Along which dimension or dimensions.",
    "axes": "Along which dimensions.",
    "assume_unique": "No element occurs twice, which saves time.",
    "bins": "Number of bins, or their edges; or NumPy's name of a rule.",
    "range": "Ends of the bins; by default the least and the greatest element.",
    "density": "Divide by the number of elements and the width of the bins.",
    "weights": "How much each element counts.",
    "minlength": "Least number of bins.",
    "right": "Whether bins include their right edge, not their left one.",
    "q": "Which percentages (0 to 100) or shares (0 to 1).",
    "method": "NumPy's name of the rule between neighbours.",
    "overwrite_input": "Accepted as NumPy does; the input is never changed.",
    "keepdims": "Keep reduced dimensions with extent 1.",
    "out": "Where to write the result.",
    "mode": "NumPy's name of the rule at the ends.",
    "kth": "Position, or positions, that get the element they would have after sorting.",
    "kind": "NumPy's name of the algorithm.",
    "order": "Row-major ('C') or column-major ('F').",
    "deg": "Degree of the polynomial.",
    "p": "Coefficients, the highest degree first.",
    "full": "Return also residuals, rank, singular values and rcond.",
    "cov": "Return also the covariance of the coefficients.",
    "rcond": "Singular values up to that share of the greatest count as zero.",
    "w": "Weights.",
    "dx": "Distance of points, if they are not given.",
    "xp": "Positions of the known points, ascending.",
    "fp": "Values at the known points.",
    "left": "Value before the first point; by default that of the first.",
    "period": "The positions repeat after it.",
    "rowvar": "Whether rows are variables; else columns are.",
    "bias": "Divide by the number of observations, not by one less.",
    "ddof": "Subtracted from the number of elements before dividing.",
    "fweights": "How often each observation counts, whole numbers.",
    "aweights": "How much each observation counts.",
    "dtype": "Of the result.",
    "discont": "Greatest jump that is kept.",
    "equal_nan": "Whether NaN are equal.",
    "return_index": "Return also where each is first.",
    "return_inverse": "Return also which of them each element is.",
    "return_counts": "Return also how often each occurs.",
    "return_indices": "Return also where the elements are.",
    "obj": "Indices, a slice or a mask.",
    "values": "What is inserted.",
    "new_shape": "Extents of the result.",
    "trim": "Where zeros are left out: 'f', 'b' or both.",
    "func1d": "Takes one vector.",
    "condlist": "Where each function is used.",
    "funclist": "Functions, or values; one more than conditions is for the rest.",
    "choices": "Arrays to choose from.",
    "condition": "Which elements.",
    "indices": "Positions.",
    "shape": "Extents that positions refer to.",
    "multi_index": "Positions along each dimension.",
    "dims": "Extents.",
    "varargs": "Distances of the points: one, one for each dimension, or their positions.",
    "edge_order": "Order of the differences at the ends, 1 or 2.",
    "to_end": "What stands behind the differences.",
    "to_begin": "What stands before the differences.",
    "sample": "Points: a matrix with one column per dimension, or one vector for each.",
    "x1": "First operand.",
    "x2": "Second operand, broadcast.",
    "n": "How many.",
    "k": "Which diagonal: positive above the main one.",
    "M": "Number of points.",
    "beta": "Shape of the window.",
    "keys": "What to sort by, the last first.",
    "args": "Further arguments.",
    "kw": "Further keywords of the functions.",
    "kwargs": "Further keywords of the function.",
    "bitorder": "Whether the first bit is the highest ('big') or the lowest.",
    "count": "How many bits are used; negative: all but that many.",
    "nan": "Whether NaN are equal.",
    "seq_of_zeros": "The roots.",
    "a1": "First polynomial, the highest degree first.",
    "a2": "Second polynomial, the highest degree first.",
    "u": "Dividend, the highest degree first.",
    "filt": "What is left out.",
    "arrays": "What to combine.",
    "N": "How many.",
    "tol": "Imaginary parts up to that many epsilons count as zero.",
    "shuffle": "Whether the order is random.",
    "size": "How many.",
}
