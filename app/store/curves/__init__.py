"""The points of curves, and outlines of long curves by the blocks of these points."""
