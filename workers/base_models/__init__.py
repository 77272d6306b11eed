"""Weights of the shipped base models; `labs/base_models` makes them."""
