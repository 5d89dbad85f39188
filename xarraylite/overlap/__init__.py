"""Whether a write meets a read: exact dependence tests over strided and tiled operands.

It is decided here that ``a[1:] = a[:-1]`` needs no copy, only the order from the end, and that
``a[...] = a.T`` needs one.  `sums` decides bounded Diophantine inequalities, `levels` and `overlap`
where two strided operands meet and in which direction, `aliasing` the same for all layouts, and
in which order slabs need no copy.  The compiler's planner asks; nothing here plans.
"""
