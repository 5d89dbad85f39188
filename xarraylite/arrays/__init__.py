"""What users hold: lazy expressions, the arrays that own memory, views, and assignment."""
