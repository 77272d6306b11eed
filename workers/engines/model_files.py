"""Faults between the small files of a model: tokenizer, config, and the headers of its weights.

The engine and the trainer would meet them at a prompt, or train random weights in place of missing
ones. Of a model that is not a directory of this machine the tokenizer is checked alone.
"""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from transformers import PreTrainedModel

from app.rollouts.renderer import Renderer

_WEIGHTS: Final = "model.safetensors"
_INDEX: Final = "model.safetensors.index.json"
_LENGTH: Final = 8
"""Bytes at the beginning of a file of weights that count those of its header."""


def file_faults(path: str, model: PreTrainedModel, renderer: Renderer) -> list[str]:
    """`model` is built from `config.json`, on any device; no weight is read."""
    faults = list(_tokenizer_faults(model, renderer))
    if Path(path).is_dir():
        faults += _weight_faults(Path(path), model)
    return faults


def _tokenizer_faults(model: Any, renderer: Renderer) -> Iterator[str]:
    rows: int = model.get_input_embeddings().weight.shape[0]
    last = renderer.last_written_id
    if last >= rows:
        yield (
            f"its tokenizer writes tokens up to number {last}, and the last of the {rows} rows of "
            f"its embedding (vocab_size of config.json) is {rows - 1}"
        )
    ends = [number for number in renderer.stop_token_ids if number >= rows]
    if ends:
        yield (
            f"generation_config.json ends a turn with token {max(ends)}, and its embedding has "
            f"{rows} rows (vocab_size of config.json)"
        )


def _weight_faults(directory: Path, model: PreTrainedModel) -> Iterator[str]:
    index = directory / _INDEX
    names = {_WEIGHTS}
    if index.is_file():
        names = set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())
    shapes: dict[str, list[int]] = {}
    for name in sorted(names):
        if not (directory / name).is_file():
            yield f"its directory has no {name}"
            return
        header, fault = _header(directory / name)
        if fault is not None:
            yield f"{name} {fault}"
            return
        shapes |= {key: value["shape"] for key, value in header.items() if key != "__metadata__"}
    if getattr(model.config, "quantization_config", None) is None:
        yield from _shape_faults(shapes, model)


def _header(file: Path) -> tuple[dict[str, Any], str | None]:
    size = file.stat().st_size
    with file.open("rb") as opened:
        length = int.from_bytes(opened.read(_LENGTH), "little")
        if size < _LENGTH or length > size - _LENGTH:
            return {}, f"is cut: it has {size} bytes, and its header says {length}"
        try:
            header: dict[str, Any] = json.loads(opened.read(length))
        except ValueError:
            return {}, "is no file of safetensors: its header is not JSON"
    ends = [entry["data_offsets"][1] for key, entry in header.items() if key != "__metadata__"]
    whole = _LENGTH + length + max(ends, default=0)
    if size < whole:
        return {}, f"is cut: it has {size} bytes of {whole}"
    return header, None


def _shape_faults(shapes: dict[str, list[int]], model: PreTrainedModel) -> Iterator[str]:
    tied: dict[int, list[str]] = {}
    expected: dict[str, list[int]] = {}
    for name, parameter in model.named_parameters(remove_duplicate=False):
        tied.setdefault(id(parameter), []).append(name)
        expected[name] = list(parameter.shape)
    for name, shape in expected.items():
        if shapes.get(name, shape) != shape:
            yield (
                f"config.json gives {name} the shape {_shown(shape)}, and the weights have "
                f"{_shown(shapes[name])}"
            )
            return
    if not shapes.keys() <= expected.keys():
        return  # a checkpoint whose names the library converts
    missing = [names[0] for names in tied.values() if not shapes.keys() & set(names)]
    if missing:
        values = sum(math.prod(expected[name]) for name in missing)
        yield (
            f"the weights lack {len(missing)} of the {len(tied)} tensors of config.json "
            f"({values:,} values), the first {missing[0]}"
        )


def _shown(shape: list[int]) -> str:
    return "x".join(map(str, shape))
