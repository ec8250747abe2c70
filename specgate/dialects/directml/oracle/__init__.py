"""The public builds of DirectML as oracle, for verdicts and for values."""
