"""Pages for administrators, who sign in with an admin key: projects and keys.

Promises that a new key's value is shown once, in the reply to its form, and that no page shows a
project's data.
"""
