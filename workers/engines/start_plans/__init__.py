"""Checks, plans and measures a base model on this machine before anything is started."""
