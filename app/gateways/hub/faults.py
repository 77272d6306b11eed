"""The fault of a data set that cannot be read."""


class DataSetFault(ValueError):
    """A data set that cannot be read. The text is a clause for the author of the request."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
