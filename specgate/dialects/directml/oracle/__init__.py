"""Public DirectML builds as oracles for verdicts and values."""
