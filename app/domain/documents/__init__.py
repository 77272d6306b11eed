"""Documents that customers send: types of their fields, the walk over them, and pointers into them.

Promises: the walk reads the types of a model, and knows no model. Must not know the use of what it
finds: `app.domain.secrets` seals and redacts, preflight calls addresses, others check templates.
"""
