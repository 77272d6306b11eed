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
    "_strptime", "abc", "argparse", "array", "ast", "base64", "binascii", "bisect", "bz2",
    "calendar", "cmath", "codecs", "collections", "collections.abc", "colorsys", "configparser",
    "contextlib", "contextvars", "copy", "copyreg", "csv", "ctypes", "dataclasses", "datetime",
    "decimal", "difflib", "doctest", "enum", "errno", "fnmatch", "fractions", "functools", "gc",
    "glob", "graphlib", "gzip", "hashlib", "heapq", "hmac", "html", "html.parser", "importlib",
    "inspect", "io", "ipaddress", "itertools", "json", "keyword", "linecache", "locale", "logging",
    "lzma", "math", "mmap", "numbers", "operator", "optparse", "os", "os.path", "pathlib", "pickle",
    "platform", "plistlib", "pprint", "queue", "quopri", "random", "re", "reprlib", "resource",
    "sched", "secrets", "select", "shlex", "shutil", "signal", "socket", "stat", "statistics",
    "string", "stringprep", "struct", "subprocess", "symtable", "sys", "tempfile", "textwrap",
    "threading", "time", "timeit", "token", "tokenize", "tomllib", "traceback", "types", "typing",
    "unicodedata", "unittest", "urllib.parse", "uuid", "warnings", "weakref",
    "xml.dom.expatbuilder", "xml.dom.minidom",
    "xml.etree.ElementTree", "xml.sax", "xml.sax.expatreader", "zipfile", "zlib",
)  # fmt: skip
"""Modules of the standard library. Some of their functions need files, sockets or processes: the
sandbox refuses such a call with a clear error, and the other functions work.
"""
_USUAL: Final = (
    "numpy", "numpy.char", "numpy.dtypes", "numpy.exceptions", "numpy.fft",
    "numpy.lib.stride_tricks", "numpy.linalg", "numpy.ma", "numpy.polynomial", "numpy.random",
    "numpy.rec", "numpy.strings", "numpy.testing", "numpy.typing", "rapidfuzz",
    "rapidfuzz.distance", "rapidfuzz.fuzz", "rapidfuzz.process",
)  # fmt: skip
"""Modules of other packages, loaded if they are installed. Lazily imported submodules are listed
too, because a program cannot import them later.
"""


def preload(extra: Sequence[str]) -> tuple[str, ...]:
    """Imports everything that programs may import, and removes the importer of files. Returns the
    names, for messages to a program's author. Raises `ImportError` for a name of `extra`.
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


def reseed() -> None:
    """Seeds NumPy's random numbers in a fork, so that no two forks share them; the interpreter does
    it for `random`.
    """
    loaded = sys.modules.get("numpy.random")
    if loaded is not None:
        loaded.seed()


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
    """The last finder of modules: its error names the setting that adds modules."""

    def find_spec(
        self, name: str, path: object = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        raise ModuleNotFoundError(
            f"the sandbox has no module '{name}'; an operator adds installed ones with "
            "AGENT_RFT_SANDBOX__MODULES",
            name=name,
        )
