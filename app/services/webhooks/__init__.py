"""Use cases of webhook endpoints and signing secrets."""
