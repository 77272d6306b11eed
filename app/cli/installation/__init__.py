"""Commands of an installation on this machine: start, checks, plan, demo, backup."""
