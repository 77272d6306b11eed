"""Files with tables, read as records in bounded memory: format, encoding, delimiter and faults."""
