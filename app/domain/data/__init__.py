"""Uploaded files and the rows they hold, one file per row format."""
