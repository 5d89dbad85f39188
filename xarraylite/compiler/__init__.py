"""From an expression to a program: what is fused, which temporaries exist, in what order loops run.

In the order data passes through: `graph` (canonical form), `plan` (fusion and materialisation),
``dependence`` (which operands the target overlaps, and whether they need a copy), `lower` and
`loops` (one kernel's values and loop nest), `arguments`, `steps`, `folds` and `segments` (what
runs), `program`.  The runtime imports it.  It reads no element: addresses are numbers to it.
"""
