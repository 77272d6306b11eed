"""Grader definitions, the formula of `multi`, templates and judge prompts."""
