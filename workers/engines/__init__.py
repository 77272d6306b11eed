"""Inference engines behind the HTTP contract, and how to launch them."""
