"""Pages in plain words for people who know the task and not the training: students, a chat that
collects feedback, examples, recipes, the plan of a practice, its progress and the gate.

Owns: every page below `/teach`, and the plain words for recipes, knobs, progress and the gate.
Promises: a page needs no JSON from its reader, and does what the API does with the same rights.
Must not know: how a knob becomes hyperparameters, or how the gate decides.
"""
