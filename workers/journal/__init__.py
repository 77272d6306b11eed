"""The journal: external answers are durable before a run uses them."""
