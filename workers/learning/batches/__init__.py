"""Micro-batches: samples packed into rows that fit into memory."""
