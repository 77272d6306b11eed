"""The Coach: finds weaknesses of a student, picks what it practises, decides each step. Pure."""
