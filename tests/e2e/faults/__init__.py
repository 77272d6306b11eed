"""Faults while jobs run; they share an undisturbed run of the same job."""
