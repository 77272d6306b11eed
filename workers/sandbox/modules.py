"""The modules that programs can import: loaded before the first program, and no others.

A program can open no file, so nothing can be imported later but what the interpreter has built in.
"""

import encodings
import importlib
import pkgutil
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib.machinery import BuiltinImporter, FrozenImporter, ModuleSpec
from types import ModuleType
from typing import Final

_STANDARD: Final = (
    "_strptime", "abc", "array", "ast", "base64", "binascii", "bisect", "bz2", "calendar",
    "cmath", "codecs", "collections", "collections.abc", "colorsys", "contextlib", "copy", "csv",
    "ctypes", "dataclasses", "datetime", "decimal", "difflib", "enum", "fnmatch", "fractions",
    "functools", "gc", "graphlib", "gzip", "hashlib", "heapq", "hmac", "html", "html.parser",
    "inspect", "io", "ipaddress", "itertools", "json", "keyword", "locale", "logging", "lzma",
    "math", "mmap", "numbers", "operator", "os", "os.path", "pathlib", "pickle", "pprint",
    "queue", "random", "re", "reprlib", "resource", "secrets", "select", "shlex", "shutil",
    "signal", "socket", "statistics", "string", "stringprep", "struct", "subprocess", "sys",
    "tempfile", "textwrap", "threading", "time", "timeit", "token", "tokenize", "traceback",
    "types", "typing", "unicodedata", "unittest", "urllib.parse", "uuid", "warnings", "weakref",
    "xml.etree.ElementTree", "zipfile", "zlib",
)  # fmt: skip
"""Modules of the standard library. Some need files, sockets or processes for some functions: the
others work, and a call that the sandbox refuses says so.
"""
_USUAL: Final = ("numpy", "rapidfuzz", "rapidfuzz.distance", "rapidfuzz.fuzz", "rapidfuzz.process")
"""Modules of other packages, loaded where these are installed."""


def preload(extra: Sequence[str]) -> tuple[str, ...]:
    """Imports everything that programs may import, and takes the importer of files away. Returns
    the names that a program's author reads. Raises `ImportError` for a name of `extra`.
    """
    loaded = [name for name in _STANDARD if _is_there(name)]
    loaded += [name for name in _USUAL if _is_there(name)]
    for name in extra:
        importlib.import_module(name)
        loaded.append(name)
    _load_encodings()
    names = tuple(sorted({name for name in loaded if not name.startswith("_")}))
    sys.meta_path[:] = [BuiltinImporter, FrozenImporter, _NotLoaded()]
    sys.path_importer_cache.clear()
    sys.path.clear()
    return names


def _is_there(name: str) -> bool:
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True


def _load_encodings() -> None:
    """Loads the codecs, which `str.encode` imports by name."""
    for found in pkgutil.iter_modules(encodings.__path__):
        with suppress(ImportError):  # some belong to other systems
            importlib.import_module(f"encodings.{found.name}")


class _NotLoaded:
    """The last of the finders: says what can be done."""

    def find_spec(
        self, name: str, path: object = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        raise ModuleNotFoundError(
            f"the sandbox has no module '{name}'; an operator adds installed ones with "
            "AGENT_RFT_SANDBOX__MODULES",
            name=name,
        )
