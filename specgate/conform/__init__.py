"""`specgate conform`: comparison of the tables with real implementations."""
