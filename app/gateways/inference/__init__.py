"""Inference engines over HTTP, their adapters, and judge models."""
