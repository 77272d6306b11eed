"""Opens the files of a data set: of a hub at a commit, or of a directory. Blocking."""

import hashlib
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, Final

from app.curricula.curricula import HubSource
from app.kit.egress import EgressPolicy
from app.kit.hub import DataSetFault, HubContent, as_unavailable

_SUFFIXES: Final = (".jsonl", ".csv", ".tsv", ".parquet")
_BLOCK_BYTES: Final = 1 << 20
_SPLITS: Final = ("train", "validation", "valid", "dev", "test", "eval")
_COMMIT: Final = re.compile(r"[0-9a-f]{40}")
_NO_LETTERS: Final = re.compile(r"[^a-z]+")
_OUTSIDE: Final = re.compile(r"^/|^[A-Za-z]:|\\|://|(^|/)\.\.(/|$)")


@dataclass(frozen=True, slots=True)
class HubLocation:
    endpoint: str
    policy: EgressPolicy
    directory: Path | None
    """A directory with data sets as `owner/name`, which is looked at first."""


@dataclass(frozen=True, slots=True)
class HubFile:
    files: Any
    path: str

    def open(self, _mode: str = "rb") -> BinaryIO:
        """Raises `DataSetFault`, also while the file is read, and what the guard raises."""
        return io.BufferedReader(HubContent(self.files, self.path, _BLOCK_BYTES), _BLOCK_BYTES)


@dataclass(frozen=True, slots=True)
class DataSet:
    revision: str
    """Commit of the hub, or a digest of the names and sizes of a directory's files."""
    files: Sequence[tuple[str, Path | HubFile]] = field(default=())


def open_data_set(source: HubSource, location: HubLocation) -> DataSet:
    local = None if location.directory is None else location.directory / source.data_set
    if local is not None and local.is_dir():
        return _local(source, local)
    return _of_hub(source, location)


def _local(source: HubSource, directory: Path) -> DataSet:
    if source.revision is not None:
        message = "a directory of the operator's has no revisions: leave 'revision' out"
        raise DataSetFault("revision_not_found", message)
    root, names = directory.resolve(), dict[str, Path]()
    for path in sorted(directory.rglob("*")):
        name = path.relative_to(directory).as_posix()
        if path.is_symlink() or not path.resolve().is_relative_to(root):
            if path.suffix in _SUFFIXES:
                message = f"'{name[:64]}' is a link, which is not followed"
                raise DataSetFault("link_refused", message)
        elif path.is_file():
            names[name] = path
    listed = [(name, path.stat().st_size) for name, path in names.items()]
    card = names.get("README.md")
    wanted = files_of_split(source, list(names), _configs_of(card))
    digest = hashlib.sha256(repr(listed).encode()).hexdigest()
    return DataSet(f"local-{digest[:40]}", [(name, names[name]) for name in wanted])


def _configs_of(card: Path | None) -> Any:
    if card is None:
        return None
    from huggingface_hub import DatasetCard  # noqa: PLC0415 - a second to import, for few calls
    from yaml import YAMLError  # noqa: PLC0415 - as above

    try:
        return DatasetCard(card.read_text(encoding="utf-8")).data.get("configs")
    except (ValueError, TypeError, YAMLError) as error:
        raise DataSetFault("invalid_data_set", "its card cannot be read") from error


def _of_hub(source: HubSource, location: HubLocation) -> DataSet:
    from huggingface_hub import HfFileSystem, constants, set_client_factory  # noqa: PLC0415 - a second to import

    if constants.is_offline_mode():
        message = f"HF_HUB_OFFLINE is set, and no directory of data sets has {source.data_set}"
        raise DataSetFault("hub_offline", message)
    set_client_factory(lambda: hub_client(location.policy))
    commit, names, configs = _described(source, location.endpoint)
    files = HfFileSystem(endpoint=location.endpoint, token=False, skip_instance_cache=True)
    root = f"datasets/{source.data_set}@{commit}"
    wanted = files_of_split(source, names, configs)
    return DataSet(commit, [(name, HubFile(files, f"{root}/{name}")) for name in wanted])


def _described(source: HubSource, endpoint: str) -> tuple[str, list[str], Any]:
    from huggingface_hub import HfApi  # noqa: PLC0415 - a second to import
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError  # noqa: PLC0415 - as above

    with as_unavailable(f"{endpoint} does not answer as a hub"):
        try:
            info = HfApi(endpoint=endpoint, token=False).dataset_info(
                source.data_set, revision=source.revision
            )
        except HFValidationError as error:
            raise DataSetFault("data_set_not_found", "it is no name of a data set") from error
        except HfHubHTTPError as error:
            raise _missing(source, error) from error
        names = [each.rfilename for each in info.siblings or ()]
        configs = None if info.card_data is None else info.card_data.get("configs")
    if not isinstance(info.sha, str) or _COMMIT.fullmatch(info.sha) is None:
        raise DataSetFault("hub_unavailable", f"{endpoint} names no commit")
    if not all(isinstance(name, str) for name in names):
        raise DataSetFault("hub_unavailable", f"{endpoint} names no files")
    return info.sha, names, configs


def hub_client(policy: EgressPolicy) -> Any:
    from app.kit.hub import guarded_client  # noqa: PLC0415 - imports the hub's HTTP client

    return guarded_client(policy)


def _missing(source: HubSource, error: Exception) -> DataSetFault:
    from huggingface_hub.errors import RevisionNotFoundError  # noqa: PLC0415 - a second to import

    if isinstance(error, RevisionNotFoundError):
        return DataSetFault("revision_not_found", f"it has no revision '{source.revision}'")
    status = getattr(getattr(error, "response", None), "status_code", 0)
    if status in {401, 403, 404}:
        return DataSetFault("data_set_not_found", "the hub has no such data set that is public")
    return DataSetFault("hub_unavailable", f"the hub answered {status}")


def files_of_split(source: HubSource, names: Sequence[str], configs: Any) -> list[str]:
    patterns = list(_patterns(source, configs))
    if patterns:
        for pattern in patterns:
            if _OUTSIDE.search(pattern):
                message = f"its card names '{pattern[:64]}', which is outside of the data set"
                raise DataSetFault("path_refused", message)
        every = [*patterns, *(pattern.replace("**/", "") for pattern in patterns)]
        found = [name for name in names if any(fnmatchcase(name, each) for each in every)]
    else:
        if source.config is not None:
            raise DataSetFault("config_not_found", "it has no configurations")
        found = [name for name in names if _split_of(name) == source.split]
    if not found:
        shown = ", ".join(f"'{name[:64]}'" for name in names[:20])
        message = f"it has no files of the split '{source.split}'; there are {shown}"
        raise DataSetFault("split_not_found", message)
    for name in found:
        if PurePosixPath(name).suffix not in _SUFFIXES or _OUTSIDE.search(name):
            message = f"'{name[:64]}' is not read: only CSV, JSON Lines and Parquet files are"
            raise DataSetFault("format_refused", message)
    return sorted(found)


def _patterns(source: HubSource, configs: Any) -> Iterator[str]:
    listed = (
        [each for each in configs if isinstance(each, Mapping)] if isinstance(configs, list) else []
    )
    if not listed:
        return
    by_name = {str(each.get("config_name")): each for each in listed}
    name = source.config or ("default" if "default" in by_name else None)
    if name is None and len(by_name) > 1:
        message = f"it has several configurations: send one of {sorted(by_name)[:20]} as 'config'"
        raise DataSetFault("config_not_found", message)
    config = by_name.get(name) if name is not None else listed[0]
    if config is None:
        message = f"it has no configuration '{name}'; there are {sorted(by_name)[:20]}"
        raise DataSetFault("config_not_found", message)
    files = config.get("data_files") or ()
    for each in files if isinstance(files, list) else [files]:
        split, paths = ("train", each)
        if isinstance(each, Mapping):
            split, paths = str(each.get("split", "train")), each.get("path")
        if split == source.split:
            yield from map(str, paths if isinstance(paths, list) else [paths])


def _split_of(name: str) -> str | None:
    """Returns the split that a file's path names; `train` for data that names none."""
    path = PurePosixPath(name)
    if path.suffix not in _SUFFIXES:
        return None
    words = _NO_LETTERS.split(path.with_suffix("").as_posix().lower())
    return next((split for split in _SPLITS if split in words), "train")
