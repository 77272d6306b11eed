"""Worker processes that claim leased rows and run a child for each."""
