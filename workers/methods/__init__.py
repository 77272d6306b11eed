"""Methods."""
