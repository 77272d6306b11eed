"""The curves of a job: names, thinning, and the gain between two validations."""
