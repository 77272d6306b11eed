"""`agent-rft models`: models of a running service, their adapters, exports and chats."""
