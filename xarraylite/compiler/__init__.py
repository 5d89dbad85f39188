"""From an expression to a program: what is fused, which temporaries exist, in what order loops run.

In the order data passes through: `graph` (canonical form), `plan` (fusion and materialisation),
`lower` and `loops` (one kernel's values and loop nest), `traversal` (slabs in a safe order),
`arguments`, `steps`, `folds` and `segments` (what runs), `program`.  Which operands the target
overlaps, and whether they need a copy, the room ``overlap`` says.  The runtime imports it.  It
reads no element: addresses are numbers to it.
"""
