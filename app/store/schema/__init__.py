"""Tables, one file per noun, no behaviour."""
