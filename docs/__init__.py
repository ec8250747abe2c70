"""Generator of the documentation site: written pages and table pages."""
