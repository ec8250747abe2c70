"""Generation of descriptors from the tables.

Generates valid descriptors, descriptors with exactly one error, and elements for constants. A walk starts from the
examples of an operator's table and changes one thing after another. It keeps what the table accepts, so each step costs
as much as a check. This package contains no operator-specific code and does not need hypothesis.
"""
