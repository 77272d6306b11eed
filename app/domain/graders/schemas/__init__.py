"""JSON Schemas and patterns of customers: compiled, with the work counted before."""
