"""Lazy expressions: immutable nodes, and the checked constructors that build them."""
