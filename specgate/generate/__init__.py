"""Descriptors drawn from the tables: valid ones, ones with one thing wrong, and elements for their constants.

A walk starts from the examples of an operator's table and changes one thing after another. What the table accepts is
kept, so every step costs as much as a check. Nothing here names an operator or needs hypothesis.
"""
