"""Whether a write meets a read: exact dependence tests over strided and tiled operands.

`sums` decides bounded Diophantine inequalities, `levels` and `overlap` where two strided operands
meet and in which direction, `aliasing` the same for all layouts, `traversal` an order that
needs no copy.  The planner asks; nothing here plans.
"""
