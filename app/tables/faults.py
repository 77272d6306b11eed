"""The fault of a file that cannot be read as a table."""


class TableFault(ValueError):
    """A fault that ends the reading. The text is a clause for the author of the file."""

    def __init__(self, code: str, message: str, *, line: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.line = line
