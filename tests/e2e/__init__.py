"""End-to-end tests share an installation, which stops after the last of them."""
