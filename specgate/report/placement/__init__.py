"""The placement of a model's nodes as text and as a page."""
