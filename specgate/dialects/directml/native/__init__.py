"""DirectML's structures in memory: laid out, written as images, and read back from images and running programs."""
