"""The nouns over blocking calls: generated from `agent_rft.asynchronous`."""
