"""Where a runtime runs the nodes of a model, as text and as a page."""
