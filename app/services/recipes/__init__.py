"""The recipes that ship with the service, and the data files of each."""
