"""Follows the log of committed events: its consumers, and the follower that runs them."""
