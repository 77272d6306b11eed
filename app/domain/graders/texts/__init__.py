"""Readers of texts: numbers, marks, calls, tests of code, formulas."""
