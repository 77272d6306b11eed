"""Leases on rows and the fair queue in which they are claimed.

Must not know what the rows mean.
"""
