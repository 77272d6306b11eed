"""Compiles each statement once for all engines of a process.

SQLAlchemy keeps compiled statements by dialect, and each engine has a dialect of its own. A test
has an engine or several, and would compile again what all others have: a quarter of the processor
time that tests of the API spend in Python. All engines speak to one server with the same options.
"""

from collections.abc import Hashable, Iterator, MutableMapping
from typing import Any

from sqlalchemy import Connection, Engine, event
from sqlalchemy.engine.interfaces import Compiled
from typing_extensions import override


class _ByStatement(MutableMapping[Any, Compiled]):
    """A key begins with a dialect, which counts only by its class."""

    def __init__(self) -> None:
        self._compiled: dict[Hashable, Compiled] = {}

    @staticmethod
    def _key(key: Any) -> Hashable:
        dialect, *statement = key
        return (type(dialect), *statement)

    @override
    def get(self, key: Any, default: Any = None) -> Any:
        return self._compiled.get(self._key(key), default)

    @override
    def __getitem__(self, key: Any) -> Compiled:
        return self._compiled[self._key(key)]

    @override
    def __setitem__(self, key: Any, compiled: Compiled) -> None:
        self._compiled[self._key(key)] = compiled

    @override
    def __delitem__(self, key: Any) -> None:
        del self._compiled[self._key(key)]

    @override
    def __iter__(self) -> Iterator[Any]:
        return iter(self._compiled)

    @override
    def __len__(self) -> int:
        return len(self._compiled)


_SHARED = _ByStatement()


def share_compiled_statements() -> None:
    """Applies to every engine of this process."""

    @event.listens_for(Engine, "engine_connect")
    def _share(connection: Connection) -> None:
        connection.execution_options(compiled_cache=_SHARED)
