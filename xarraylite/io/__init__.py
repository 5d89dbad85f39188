"""Files: ``.npy`` and ``.npz``, read without trust and written whole or not at all."""
