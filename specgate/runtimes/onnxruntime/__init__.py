"""Where a runtime puts the nodes of a model, and what each node becomes there."""
