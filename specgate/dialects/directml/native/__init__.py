"""DirectML's structures in memory: layout, images, and reading back."""
