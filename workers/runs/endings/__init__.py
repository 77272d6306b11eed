"""The ends of a run: result, failure, pause, put back."""
