"""Lessons of the shipped model `tiny-scholar`: one file for each recipe's domain."""
