"""Where a runtime puts a model's nodes: its releases, what its providers register, and what follows from both."""
