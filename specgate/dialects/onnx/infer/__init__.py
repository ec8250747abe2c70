"""What inference is asked of a model: a copy without weights, and only where its functions stay small."""
