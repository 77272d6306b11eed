"""Tool definitions, the contract test of a tool endpoint, trial calls."""
