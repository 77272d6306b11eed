"""Prompts as a model reads them (template, token ids, tool-call text), shared by both planes."""
