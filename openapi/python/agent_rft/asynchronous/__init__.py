"""The nouns over asynchronous calls. `agent_rft.synchronous` is generated from this package."""
