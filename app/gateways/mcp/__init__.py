"""Calls to customers' MCP servers: the protocol library over the guarded endpoints."""
