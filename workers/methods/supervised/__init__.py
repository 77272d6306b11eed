"""Training on supervised or preference data: rows to tokens, epochs, report."""
