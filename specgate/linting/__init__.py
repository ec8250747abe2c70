"""Linting: check models per target; configuration, ignores, baseline."""
