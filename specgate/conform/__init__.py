"""`specgate conform`: verdicts and values of the tables held against real implementations."""
