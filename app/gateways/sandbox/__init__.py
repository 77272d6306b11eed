"""The client of the sandbox, which runs code of customers and of models in processes of its own."""
