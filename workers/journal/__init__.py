"""The journal: answers from outside are durable before a run uses them."""
