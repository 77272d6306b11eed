"""Rows: the only room that speaks SQL. Stores are built for one tenant."""
