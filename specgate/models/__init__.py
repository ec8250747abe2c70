"""Readers of whole model files: their structure, never their weights."""
