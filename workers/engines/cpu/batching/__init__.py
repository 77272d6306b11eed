"""The running batch: which sequence computes when, with which keys and values, and its tokens."""
