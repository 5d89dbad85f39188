"""Pictures: where the elements of an array lie in memory, as SVG, PNG and text."""
