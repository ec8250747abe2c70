"""Real implementations, asked for their verdict: what the oracles of several dialects share."""
