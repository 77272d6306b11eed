"""Rules for the body of a chat completion: parameters and conversation, refused with hosted
messages.

Promises that a valid body contains nothing that would be ignored silently, except the documented
hints (`openapi/DEVIATIONS.md`). Must not know models or engines: an engine itself refuses the
parameters that it lacks.
"""
