"""Linting: models as graphs of descriptors, judged per target, with configuration, ignores and baseline."""
