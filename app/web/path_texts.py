"""Path parameters that take any text: `{name:text}`."""

from starlette.convertors import Convertor, register_url_convertor
from typing_extensions import override


class _Text(Convertor[str]):
    """Reads the rest of a path, line breaks and slashes included; `path` stops at a line break."""

    regex = r"[\s\S]+"

    @override
    def convert(self, value: str) -> str:
        return value

    @override
    def to_string(self, value: str) -> str:
        return value


def register_path_texts() -> None:
    """Makes `{name:text}` known to the routes that are declared after this call."""
    register_url_convertor("text", _Text())
