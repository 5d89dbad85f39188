"""Values that may be missing: optional arrays, masked views, and what comes from other libraries.

`array` has the two halves, values and flags, as one array; `masked` the views that skip elements
where a condition does not hold; `conversion` NumPy's masked arrays and pandas' nullable ones.
Functions of optional arrays are functions of both halves, fused like any others; the reducers, in
`functions`, ask `array` for the flags of their results.
"""
