"""The life of a run, whatever its method: open, report, publish, resume, end. Imports no torch."""
