"""Transactions: connections, statements, and the base of every unit of work.

Must not know any table.
"""
