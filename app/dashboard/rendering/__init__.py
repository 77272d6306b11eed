"""Renders pages: templates, charts, tables, transcripts and values for people."""
