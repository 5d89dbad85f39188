"""What writing means: shapes and casts that fit, read-only memory, pending readers, elements.

`assign` checks and writes, `results` and `writes` go straight to a kind's program, `elements` needs
no kernel at all, `readers` keeps the promise that an expression means what it meant when it was
written.  Containers, labels and jagged arrays write through it.  It knows no container class, and
leaves it to the compiler whether an operand that overlaps the destination is copied.
"""
