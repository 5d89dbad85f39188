"""From a kernel's specification to machine code that stays loaded, in memory and on disk.

``emit`` prints LLVM IR, `routines` and `jit` have the scalar bodies' IR, `machine` makes object
code, `store` keeps it in files and verifies them before they are loaded, `kernel` joins them, and
`worker` is the one thread on which all of it happens.  The compiler asks it for kernels.  It never
sees an expression.
"""
