"""Supervised and DPO training: rows to tokens, epochs, report."""
