"""The log of committed events, which webhooks and trackers read."""
