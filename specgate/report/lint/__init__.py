"""The page of a lint report: one HTML file with the nodes that have findings, their neighbours and the rules."""
