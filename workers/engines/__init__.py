"""Inference engines that implement the HTTP contract, and their launchers."""
