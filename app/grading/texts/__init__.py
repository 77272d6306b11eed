"""Texts that graders read: rendered, normalised, split, and searched for calls and blocks."""
