"""Tools for those who maintain the tables, ``python -m tools``; the wheel does not have them."""
