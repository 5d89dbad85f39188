"""The main job, as a user would write it: shade a terrain, erode it, compare with NumPy."""
