"""Everything on one machine: servers, processes, base models, backups."""
