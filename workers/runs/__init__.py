"""One job's life: claim, loop, report, cancel, resume. Never imports torch."""
