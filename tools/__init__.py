"""Tools for maintainers of the tables: ``python -m tools``.

They are not included in the wheel.
"""
