"""Base models and adapters as versions of weights that can be run.

Owns names, which weights they stand for, and how many merged copies stay in memory. Promises: a
loaded name is never loaded twice, each load is a new version (so nothing computed under an older
one is ever reused), and a version that is unloaded still serves the sequences that hold it.
"""

import copy
import itertools
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import torch
from torch import nn
from transformers import AutoModelForCausalLM
from transformers.utils.logging import disable_progress_bar

from app.domain.errors import InvalidRequest
from app.domain.models import BaseModelSpec
from app.gateways.inference import AdapterMissing
from app.rendering.renderer import Renderer
from workers.engines.cpu.adapters import LoraDelta, read_adapter, read_config
from workers.engines.cpu.arena import KvShape
from workers.engines.cpu.attention import IMPLEMENTATION

MERGED_COPIES: Final = 16
_numbers = itertools.count()


@dataclass(slots=True, eq=False)
class BaseModel:
    """A base model as it is served. `model` takes packed steps only."""

    spec: BaseModelSpec
    model: nn.Module
    renderer: Renderer
    kv_shape: KvShape
    vocab_size: int

    @property
    def context_length(self) -> int:
        return min(self.spec.context_length, self.renderer.context_length)


@dataclass(slots=True, eq=False)
class Version:
    """Weights under a name. Compared by identity: no two loads are the same version."""

    name: str
    base: BaseModel
    deltas: dict[str, LoraDelta] = field(default_factory=dict)
    path: Path | None = None
    number: int = field(default_factory=lambda: next(_numbers))
    created: int = field(default_factory=lambda: int(time.time()))
    loaded: bool = True


def load_base(spec: BaseModelSpec) -> BaseModel:
    """Load from safetensors in fp32, and find the shape of its keys and values by running it."""
    disable_progress_bar()  # type: ignore[no-untyped-call]
    model = AutoModelForCausalLM.from_pretrained(
        spec.path, dtype=torch.float32, use_safetensors=True, attn_implementation="sdpa"
    )
    model.train(mode=False)
    model.requires_grad_(requires_grad=False)
    with torch.inference_mode():
        layers = model(torch.tensor([[0, 1]]), use_cache=True).past_key_values.layers
    shapes = {tuple(t.shape) for layer in layers for t in (layer.keys, layer.values)}
    if len(shapes) != 1:
        raise ValueError(f"{spec.name}: layers differ in their key and value shapes: {shapes}")
    _, heads, _, head_size = shapes.pop()
    embedding: Any = model.get_input_embeddings()
    renderer = Renderer(spec.path, tool_parser=spec.tool_parser, chat_template=spec.chat_template)
    return BaseModel(
        spec=spec,
        model=model,
        renderer=renderer,
        kv_shape=KvShape(len(layers), heads, head_size),
        vocab_size=embedding.num_embeddings,
    )


def serve_packed(base: BaseModel) -> None:
    """Switch the model to the arena's attention."""
    model: Any = base.model
    model.set_attn_implementation(IMPLEMENTATION)


class Versions:
    """Names to versions. Thread-safe."""

    def __init__(self, bases: list[BaseModel]) -> None:
        self._lock = threading.Lock()
        self._by_name = {base.spec.name: Version(base.spec.name, base) for base in bases}
        self._bases = bases
        self._merged: OrderedDict[int, nn.Module] = OrderedDict()

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
        """Read and check an adapter. Beside several base models, its config names the one."""
        if name in self._names():
            raise InvalidRequest(
                f"The lora adapter '{name}' has already been loaded.", param="lora_name"
            )
        base = self._base(path)
        version = Version(name, base, read_adapter(path, base.model), path)
        with self._lock:
            if name in self._by_name:
                raise InvalidRequest(
                    f"The lora adapter '{name}' has already been loaded.", param="lora_name"
                )
            self._by_name[name] = version
        return version

    def unload(self, name: str) -> None:
        """Forget a name; sequences already running under it finish."""
        version = self.get(name)
        if version.path is None:
            raise InvalidRequest("A base model cannot be unloaded.", param="lora_name")
        with self._lock:
            self._by_name.pop(name, None)
            version.loaded = False
            self._merged.pop(version.number, None)

    def weights(self, version: Version) -> nn.Module:
        """The module to run. Merged on first use; the least recently used copies are dropped."""
        if not version.deltas:
            return version.base.model
        with self._lock:
            merged = self._merged.get(version.number)
            if merged is not None:
                self._merged.move_to_end(version.number)
                return merged
        merged = _merge(version)
        with self._lock:
            if version.loaded:
                self._merged[version.number] = merged
            while len(self._merged) > MERGED_COPIES:
                self._merged.popitem(last=False)
        return merged

    def _names(self) -> set[str]:
        with self._lock:
            return set(self._by_name)

    def _base(self, path: Path) -> BaseModel:
        if len(self._bases) == 1:
            return self._bases[0]
        name = read_config(path).get("base_model_name_or_path")
        for base in self._bases:
            if name == base.spec.path or base.spec.answers_to(str(name)):
                return base
        raise InvalidRequest(f"The adapter's base model {name!r} is not served.", param="lora_path")


def _merge(version: Version) -> nn.Module:
    """A copy of the base whose adapted layers have their own weights; all others are shared."""
    base = version.base.model
    tensors = itertools.chain(base.parameters(), base.buffers())
    merged = copy.deepcopy(base, memo={id(tensor): tensor for tensor in tensors})
    with torch.no_grad():
        for name, delta in version.deltas.items():
            linear: Any = merged.get_submodule(name)
            weight = nn.Parameter(delta.merged(linear.weight), requires_grad=False)
            linear.weight = weight
    return merged
