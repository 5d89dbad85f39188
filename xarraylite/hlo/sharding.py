"""The text of shardings, brought into the form in which XLA writes it."""

from __future__ import annotations

__all__ = ["normalise_sharding"]


def normalise_sharding(text: str) -> str:
    """Return the canonical text of a sharding."""
    return " ".join(text.split())
