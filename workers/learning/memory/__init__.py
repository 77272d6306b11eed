"""Memory of training: counted, measured and planned."""
