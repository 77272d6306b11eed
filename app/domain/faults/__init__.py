"""Faults of what customers send: misspelt and unknown keys, wrong values, issues of a call.

Promises: a client reads this project's words and never those of a validator.
"""
