"""Renders prompts (template, token ids) and parses sampled turns, shared by both planes."""
