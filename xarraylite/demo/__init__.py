"""The main job, as a user would write it: shade a terrain, erode it, compare with NumPy.

`terrain` is the user's code for any array namespace, the rest loads data, measures and prints.  It
uses the public names only.  Nothing imports it but the command line.
"""
