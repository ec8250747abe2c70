"""Processes that work for this one: they end with it, answer in time or are killed, and are started again."""
