"""Lazy expressions: immutable nodes, the checked constructors that build them, and their kinds.

`build` decides every shape, dtype and error when an expression is written; `kind` interns what
does not change from one evaluation to the next.  The compiler reads nodes, the handles of users
wrap them.  No memory is read here.
"""
