"""Scorers, one module per kind of grader, shared by both planes: a trial scores like a job."""
