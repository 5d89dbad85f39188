"""Pictures: where the elements of an array lie in memory, as SVG, PNG and text.

`grid` is the picture as data, `picture` and `scene` place it, `svg` and `png` print it, `command`
is the command line.  Nobody below knows of it.  It reads layouts, never elements.
"""
