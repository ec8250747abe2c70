"""What people see of the tables: an operator's, a target's, what changes between levels, as text or as one page."""
