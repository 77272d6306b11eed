"""Documents that customers send: types of their fields, the walk over them, and pointers into them.

Promises: the walk reads the types of any model. Must not know the use of the found fields:
`app.domain.secrets` seals and redacts, preflight calls addresses, others check templates.
"""
