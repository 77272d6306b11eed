"""Graders at work: one file per kind, shared by both planes, so that a trial scores like a job."""
