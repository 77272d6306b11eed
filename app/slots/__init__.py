"""Slots of one process: who may do how much at the same time."""
