"""A fine-tuning job: states, usage, stop rules, best checkpoint, preflight report, result file."""
