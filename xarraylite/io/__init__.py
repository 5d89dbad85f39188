"""Files: ``.npy`` and ``.npz``, read without trust and written whole or not at all.

`npy` and `npz` are the doors, `header` and `members` read what strangers wrote, `atomic` replaces
files.  Only users call it.  Nothing in a file is executed or unpickled.
"""
