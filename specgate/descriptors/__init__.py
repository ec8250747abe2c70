"""Descriptors: the common data structure (`core`), readers and writers."""
