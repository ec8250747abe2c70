"""The documentation site: written pages, and the generator that makes the others from the tables."""
