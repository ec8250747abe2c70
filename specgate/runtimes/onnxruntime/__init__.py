"""Node placement on execution providers, and the lowering of each node."""
