"""``specgate spec import`` of a runtime: what its packages state of kernels, written or compared."""
