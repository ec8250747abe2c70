"""Oracles: real implementations that give verdicts.

Contains the code that the oracles of all dialects share.
"""
