"""Shapes as objects: smooth, tiled, jagged and nested ones, and labels of their modes.

The algebra of index spaces that users hold (`Shape`, `TiledShape`, `JaggedShape`, `Nested`):
slices, chips, layers, equality, ``s["i,j"] * t["j,k"]``.  `jagged_tree` finds the rows of a jagged
shape.  Labels and jagged arrays build on it.  It never asks where an element lies in memory or what
it is.
"""
