"""Views of the tables as text or as a page.

They show an operator, a target, or the changes between levels.
"""
