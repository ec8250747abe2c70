"""The lint report as one HTML page: nodes, neighbours and rules."""
