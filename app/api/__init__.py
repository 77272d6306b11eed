"""HTTP floor: wire to domain and back. One file per noun; reaches services through the factory."""
