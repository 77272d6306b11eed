"""The vocabulary of the sandbox: layers of protection, programs and their endings."""
