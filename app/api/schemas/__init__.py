"""Request and reply models, one file per noun, names as in the hosted specification."""
