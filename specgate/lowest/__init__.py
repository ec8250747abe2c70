"""The lowest levels and releases that accept a descriptor or a model."""
