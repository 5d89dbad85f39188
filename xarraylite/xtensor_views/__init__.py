"""xtensor's views: elements of an array under another index, read lazily and written through.

`selection` makes them from slices, `keep` and `drop`; `picked` has those that plain strides cannot
say (positions in lists, reshapes of gaps); `regular` has those that strides can; `access` walks
through elements, lines and sub-arrays.  Whatever is a matter of strides is an `XView`, as from
indexing.  Views of views are views of the first array.  Imports the containers and what lies below;
it compiles nothing, and copies only what an assignment says.
"""
