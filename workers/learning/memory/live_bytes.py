"""Counts the bytes of the tensors that are alive while a block runs.

Works on every device, the meta device included, where a tensor has a size but no memory: a forward
and backward pass there shows the memory that the same pass needs on a GPU. The private working
memory of a kernel is not seen. Must not know models.
"""

import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter
from typing_extensions import override


class LiveBytes(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch leaves it untyped
    """Counts tensors made in its block; `peak` is the most that were alive at a time."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        self.now = 0
        self.peak = 0
        self._storages: weakref.WeakSet[torch.UntypedStorage] = weakref.WeakSet()

    @override
    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        given = {id(x.untyped_storage()) for x in tree_iter((args, kwargs)) if _has_storage(x)}
        out = func(*args, **kwargs)
        for tensor in tree_iter(out):
            if _has_storage(tensor):
                storage = tensor.untyped_storage()
                if id(storage) not in given and storage not in self._storages:
                    self._add(storage)
        return out

    def _add(self, storage: torch.UntypedStorage) -> None:
        size = storage.nbytes()
        self._storages.add(storage)
        self.now += size
        self.peak = max(self.peak, self.now)
        weakref.finalize(storage, self._remove, size)

    def _remove(self, size: int) -> None:
        self.now -= size


def _has_storage(value: object) -> bool:
    return isinstance(value, Tensor) and value.layout == torch.strided


def peak_bytes(work: Callable[[], object]) -> int:
    """Returns the most bytes that were alive while `work` ran, beyond those alive before."""
    counted = LiveBytes()
    with counted:
        work()
    return counted.peak
