"""Descriptors: the common shape (`core`) and one reader and writer per format."""
