"""Base models and adapters as versions of runnable weights."""

import itertools
import threading
import time
from collections import Counter, OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import torch
from torch import nn
from transformers import AutoModelForCausalLM
from transformers.utils.logging import disable_progress_bar

from app.kit.errors import InvalidRequest
from app.models.engine import AdapterMissing
from app.models.models import BaseModelSpec
from app.rollouts.renderer import Renderer
from workers.engines.cpu.models.attention import KvShape
from workers.engines.cpu.models.decoder import (
    LoraDelta,
    PlainWeights,
    Stamp,
    Weights,
    fuse_decoder,
    read_adapter,
    read_config,
    stamp_of,
)
from workers.learning.head import Rotations


@dataclass(slots=True, eq=False)
class BaseModel:
    spec: BaseModelSpec
    model: nn.Module
    weights: Weights
    renderer: Renderer
    kv_shape: KvShape
    vocab_size: int
    _texts: dict[int, str] = field(default_factory=dict)

    def text(self, token: int) -> str:
        text = self._texts.get(token)
        if text is None:
            text = self._texts[token] = self.renderer.decode([token])
        return text

    @property
    def context_length(self) -> int:
        return min(self.spec.context_length, self.renderer.context_length)


def load_model(spec: BaseModelSpec, dtype: torch.dtype) -> nn.Module:
    disable_progress_bar()  # type: ignore[no-untyped-call]  # transformers leaves it untyped
    model: nn.Module = AutoModelForCausalLM.from_pretrained(
        spec.path, dtype=dtype, use_safetensors=True, attn_implementation="sdpa"
    )
    model.train(mode=False)
    model.requires_grad_(requires_grad=False)
    return model


def serve(spec: BaseModelSpec, model: Any, renderer: Renderer) -> BaseModel:
    length = min(spec.context_length, renderer.context_length)
    fault = engine_fault(model, context_length=length)
    if fault is not None:
        raise ValueError(f"{spec.name}: the CPU engine cannot serve this model: {fault}")
    with torch.inference_mode():
        layers = model(torch.tensor([[0, 1]]), use_cache=True).past_key_values.layers
    shapes = {tuple(t.shape) for layer in layers for t in (layer.keys, layer.values)}
    _, heads, _, head_size = shapes.pop()
    return BaseModel(
        spec=spec,
        model=model,
        weights=fuse_decoder(model, context_length=length) or PlainWeights.serving(model),
        renderer=renderer,
        kv_shape=KvShape(len(layers), heads, head_size, layers[0].keys.dtype),
        vocab_size=model.get_input_embeddings().num_embeddings,
    )


MERGED_BYTES: Final = 1 << 30
ADAPTER_BYTES: Final = 1 << 30
_numbers = itertools.count()


@dataclass(slots=True, eq=False)
class Version:
    name: str
    base: BaseModel
    deltas: dict[str, LoraDelta] | None = None
    path: Path | None = None
    stamp: Stamp | None = None
    number: int = field(default_factory=lambda: next(_numbers))
    created: int = field(default_factory=lambda: int(time.time()))
    loaded: bool = True


class Versions:
    def __init__(
        self,
        bases: list[BaseModel],
        *,
        merged_bytes: int = MERGED_BYTES,
        adapter_bytes: int = ADAPTER_BYTES,
    ) -> None:
        self._lock = threading.Lock()
        self._by_name = {base.spec.name: Version(base.spec.name, base) for base in bases}
        self._bases = bases
        self._limit = merged_bytes
        self._adapter_limit = adapter_bytes
        self._in_memory: OrderedDict[int, Version] = OrderedDict()
        """Loaded versions whose deltas are in memory, least recently used first."""
        self._merged: OrderedDict[int, Weights] = OrderedDict()
        self._users: Counter[int] = Counter()

    def get(self, name: str) -> Version:
        with self._lock:
            version = self._by_name.get(name)
        if version is None:
            raise AdapterMissing(f"The model `{name}` does not exist.", param="model")
        return version

    def all(self) -> list[Version]:
        with self._lock:
            return list(self._by_name.values())

    def load(self, name: str, path: Path) -> Version:
        """Loads an adapter. With several base models, the adapter's config selects one."""
        with self._lock:
            self._refuse_loaded(name)
        base = self._base(path)
        stamp = stamp_of(path)
        version = Version(name, base, read_adapter(path, base.model), path, stamp)
        with self._lock:
            self._refuse_loaded(name)
            self._by_name[name] = version
            self._retain_deltas(version)
        return version

    def unload(self, name: str) -> None:
        """Removes a name; sequences that already run under it finish."""
        version = self.get(name)
        if version.path is None:
            raise InvalidRequest("A base model cannot be unloaded.", param="lora_name")
        with self._lock:
            self._remove(version)

    def acquire(self, version: Version) -> Weights:
        """Returns the weights, which stay in memory until `release`; merges them on first use.
        Raises `InvalidRequest` if the adapter must be read again and its files are missing or
        changed; its name is removed then, so that it can be loaded again.
        """
        if version.path is None:
            return version.base.weights
        with self._lock:
            self._users[version.number] += 1
            merged = self._merged.get(version.number)
        try:
            if merged is None:
                merged = version.base.weights.merged(self._deltas(version, version.path))
        except BaseException:
            self.release(version)
            raise
        with self._lock:
            merged = self._merged.setdefault(version.number, merged)
            self._merged.move_to_end(version.number)
            self._drop_unused()
        return merged

    def release(self, version: Version) -> None:
        if version.path is None:
            return
        with self._lock:
            self._users[version.number] -= 1
            if self._users[version.number] <= 0:
                del self._users[version.number]
            self._drop_unused()

    def merge(self, version: Version) -> None:
        """Merges weights in advance, so that the first request does not wait for it."""
        self.acquire(version)
        self.release(version)

    @property
    def merged_bytes(self) -> int:
        with self._lock:
            return sum(weights.own_bytes for weights in self._merged.values())

    @property
    def adapter_bytes(self) -> int:
        with self._lock:
            return sum(_bytes(version) for version in self._in_memory.values())

    def _deltas(self, version: Version, path: Path) -> dict[str, LoraDelta]:
        deltas = version.deltas
        if deltas is None:
            try:
                deltas = _read_unchanged(version, path)
            except InvalidRequest:
                with self._lock:
                    self._remove(version)
                raise
        with self._lock:
            if version.loaded:
                version.deltas = deltas
                self._retain_deltas(version)
        return deltas

    def _retain_deltas(self, version: Version) -> None:
        self._in_memory[version.number] = version
        self._in_memory.move_to_end(version.number)
        total = sum(_bytes(version) for version in self._in_memory.values())
        while total > self._adapter_limit and len(self._in_memory) > 1:
            _, oldest = self._in_memory.popitem(last=False)
            total -= _bytes(oldest)
            oldest.deltas = None

    def _remove(self, version: Version) -> None:
        """Removes a version; its deltas are freed with the last sequence that refers to it."""
        if self._by_name.get(version.name) is version:
            del self._by_name[version.name]
        self._in_memory.pop(version.number, None)
        version.loaded = False
        self._drop_unused()

    def _drop_unused(self) -> None:
        loaded = {version.number for version in self._by_name.values()}
        total = sum(weights.own_bytes for weights in self._merged.values())
        for number in [n for n in self._merged if n not in self._users]:
            if number not in loaded or total > self._limit:
                total -= self._merged.pop(number).own_bytes

    def _refuse_loaded(self, name: str) -> None:
        if name in self._by_name:
            message = f"The lora adapter '{name}' has already been loaded."
            raise InvalidRequest(message, param="lora_name")

    def _base(self, path: Path) -> BaseModel:
        if len(self._bases) == 1:
            return self._bases[0]
        name = read_config(path).get("base_model_name_or_path")
        for base in self._bases:
            if name == base.spec.path or base.spec.answers_to(str(name)):
                return base
        raise InvalidRequest(f"The adapter's base model {name!r} is not served.", param="lora_path")


def _read_unchanged(version: Version, path: Path) -> dict[str, LoraDelta]:
    if stamp_of(path) != version.stamp:
        raise InvalidRequest(f"The files of '{version.name}' have changed since they were loaded.")
    return read_adapter(path, version.base.model)


def _bytes(version: Version) -> int:
    return sum(delta.bytes for delta in (version.deltas or {}).values())


_OWN_STATE: Final = ("linear_attention", "mamba", "conv", "recurrent", "hybrid")


def engine_fault(model: Any, *, context_length: int) -> str | None:
    """The reason why the engine cannot serve sequences of up to `context_length`, or `None`."""
    limit = Rotations(model).limit
    if limit is not None and context_length > limit:
        return (
            f"beyond {limit} tokens it rotates all sequences of a batch by the longest of them; "
            f"with a context_length of {limit} it can"
        )
    config = model.config.get_text_config()
    kinds = set(getattr(config, "layer_types", None) or ())
    obstacles = {
        "some layers keep a state other than keys and values": any(
            word in kind for kind in kinds for word in _OWN_STATE
        ),
        "its attention caps its scores": bool(getattr(config, "attn_logit_softcapping", None)),
        "its attention has sinks": any(n.endswith("sinks") for n, _ in model.named_parameters()),
        "its attention cannot be replaced": not getattr(
            model, "_supports_attention_backend", False
        ),
    }
    return next((reason for reason, holds in obstacles.items() if holds), None) or _shape_fault(
        model
    )


def _shape_fault(model: Any) -> str | None:
    """Runs two tokens: all layers must have keys and values of one shape."""
    try:
        with torch.inference_mode():
            ids_1T = torch.tensor([[0, 1]], device=model.device)
            layers = model(ids_1T, use_cache=True).past_key_values.layers
        shapes = {tuple(t.shape) for layer in layers for t in (layer.keys, layer.values)}
    except (AttributeError, RuntimeError, NotImplementedError, TypeError) as error:
        return f"its keys and values cannot be read ({type(error).__name__}: {error})"
    return None if len(shapes) == 1 else "the keys and values of its layers differ in shape"
