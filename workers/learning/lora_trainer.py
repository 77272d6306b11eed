"""The in-process trainer. On a CPU with a fixed number of threads it is exact to the bit."""

import json
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import structlog
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from typing_extensions import override

from app.kit.directories import commit_directory, verify_directory
from app.rollouts.metrics import LOSS
from workers.learning.adapted_model import AdaptedModel
from workers.learning.batch_loss import (
    BatchGradient,
    BatchLoss,
    ScoredBatch,
    StatsTally,
    StepLogprobs,
    apply_kl_penalty,
    split_by_set,
)
from workers.learning.batches import MicroBatch, Packing, minibatches
from workers.learning.head import TrainerProducts
from workers.learning.losses import build_loss
from workers.learning.trainer import (
    TRAINER_FILE,
    StateMismatch,
    TrainerOptions,
    TrainerSettings,
    TrainingSample,
    UpdateStats,
    count_trained_tokens,
)
from workers.progress import PROGRESS
from workers.telemetry.process_metrics import show_gpu_memory

log = structlog.get_logger()

BETAS: Final = (0.9, 0.95)
ADAM_EPSILON: Final = 1e-8
MAX_GRAD_NORM: Final = 1.0


@dataclass(slots=True)
class _StepSums:
    loss: float = 0.0
    denominator: float = 0.0
    batches: int = 0


class LoraTrainer:
    """Trains a LoRA adapter on all linear layers with AdamW (betas .9/.95, eps 1e-8, no decay) and
    gradient clipping at norm 1. Implements `Trainer`.

    Reduction: the loss of an optimizer step is the sum over its trained tokens divided by one
    global denominator: the tokens that graded rollouts sampled, whether they have a gradient or
    not. That includes tokens masked for their mismatch, and those of groups of equal rewards, which
    are no samples (`further_tokens`). Gradients are summed and divided once, in
    the optimizer step: the split of samples into micro-batches or calls of `accumulate` therefore
    changes only the order of the sums.
    """

    def __init__(
        self,
        base_path: str,
        *,
        base_name: str,
        rank: int,
        alpha: float,
        learning_rate: float,
        seed: int,
        temperature: float = 1.0,
        options: TrainerOptions | None = None,
    ) -> None:
        """`base_path`: directory or hub id; `base_name`: the base's name in published files. Raises
        `ValueError` for an output layer that is more than a matrix product, and `RunFailed`, as
        later calls do, if the memory does not suffice.
        """
        options = options or TrainerOptions()
        if options.threads is not None:
            torch.set_num_threads(options.threads)
        if options.products is not None:
            TrainerProducts.chosen = options.products
        self._options = options
        self._loss = build_loss(options.loss, **options.loss_options)
        self._adapted = AdaptedModel(
            base_path,
            base_name=base_name,
            rank=rank,
            alpha=alpha,
            seed=seed,
            temperature=temperature,
            options=options,
        )
        self._parameters = self._adapted.parameters
        self._optimizer = torch.optim.AdamW(
            self._parameters.values(),
            lr=learning_rate,
            betas=BETAS,
            eps=ADAM_EPSILON,
            weight_decay=0.0,
            fused=True,
        )
        self._settings = TrainerSettings(
            base_name,
            rank,
            float(alpha),
            learning_rate,
            options.loss,
            options.minibatches,
            self._adapted.base_digest,
            None if options.computes is None else options.computes.model_dump(),
            options.objective,
        )
        self._steps = 0
        self._last_logprobs = StepLogprobs()
        self._begin()

    @property
    def settings(self) -> TrainerSettings:
        return self._settings

    @property
    def packs(self) -> bool:
        return self._adapted.scorer.shares

    @property
    def steps(self) -> int:
        return self._steps

    @property
    def parameters(self) -> Mapping[str, nn.Parameter]:
        return self._parameters

    @property
    def accelerators(self) -> int:
        return 0 if self._adapted.on_cpu else 1

    def update(self, samples: Sequence[TrainingSample], further_tokens: int = 0) -> UpdateStats:
        self._begin()
        samples = self._with_kl_penalty(samples)
        places = self._logprobs.reserve(len(samples))
        count = self._options.minibatches
        for part in minibatches(
            len(samples), count=count, rows_per_example=self._loss.rows_per_example
        ):
            self._add([samples[index] for index in part], [places[index] for index in part])
            self._apply(further_tokens / count)
        return self._finish()

    def accumulate(self, samples: Sequence[TrainingSample]) -> None:
        self._add(self._with_kl_penalty(samples), self._logprobs.reserve(len(samples)))

    def step(self, further_tokens: int = 0) -> UpdateStats:
        self._apply(further_tokens)
        return self._finish()

    def trained_logprobs(self) -> list[list[float] | None]:
        return self._last_logprobs.taken()

    def _begin(self) -> None:
        self._logprobs = StepLogprobs()
        self._tally = StatsTally(learning_rate=self._optimizer.param_groups[0]["lr"])
        self._clear()

    def _finish(self) -> UpdateStats:
        values, self._last_logprobs = self._tally.values(), self._logprobs
        self._begin()
        show_memory(self._adapted.device)
        return values

    def _clear(self) -> None:
        self._optimizer.zero_grad(set_to_none=True)
        self._pending = _StepSums()

    def _add(self, samples: Sequence[TrainingSample], places: Sequence[int]) -> None:
        parameters = list(self._parameters.values())
        self._pending.denominator += self._denominator(samples)
        for batch, gradient in self._adapted.batches.run(samples, self._gradient, self._packing):
            gradient.add_to(parameters)
            gradient.loss.add_to(self._tally)
            self._logprobs.add(batch, gradient.loss.scored, places)
            self._pending.loss += gradient.loss.total
            self._pending.batches += 1

    @property
    def _packing(self) -> Packing:
        return self._adapted.scorer.packing(
            rows_per_example=self._loss.rows_per_example,
            keep_zero_advantage=self._loss.uses_zero_advantage_tokens,
        )

    def _denominator(self, samples: Sequence[TrainingSample]) -> int:
        rows = self._loss.rows_per_example
        return count_trained_tokens(samples) if rows == 1 else len(samples) // rows

    def _apply(self, further_tokens: float) -> None:
        denominator = self._pending.denominator + further_tokens
        self._tally.add_denominator(denominator)
        if self._pending.batches:
            self._clipped_step(self._pending.loss / denominator, denominator)
        self._clear()

    def _clipped_step(self, loss: float, denominator: float) -> None:
        for parameter in self._parameters.values():
            if parameter.grad is not None:
                parameter.grad.div_(denominator)
        norm = float(nn.utils.clip_grad_norm_(self._parameters.values(), MAX_GRAD_NORM))
        if math.isfinite(loss) and math.isfinite(norm):
            self._optimizer.step()
            self._steps += 1
            self._tally.add_step(loss, norm)
        else:
            self._tally.add_skipped_step()
            log.warning("optimizer_step_skipped", loss=loss, grad_norm=norm, step=self._steps)

    @torch.no_grad()
    def evaluate(
        self, sets: Sequence[Sequence[TrainingSample]], *, adapter: bool = True
    ) -> list[UpdateStats]:
        with self._adapted.with_adapter(adapter):
            return self._evaluated(sets)

    def _evaluated(self, sets: Sequence[Sequence[TrainingSample]]) -> list[UpdateStats]:
        # Samples of all sets share micro-batches; their sums are split by set afterwards.
        set_numbers = [set_number for set_number, samples in enumerate(sets) for _ in samples]
        tallies = [StatsTally(learning_rate=0.0) for _ in sets]
        totals = [0.0] * len(sets)
        all_samples = [sample for samples in sets for sample in samples]
        for batch, scored in self._adapted.batches.run(all_samples, self._scored, self._packing):
            for set_number, part in split_by_set(scored, batch.sources, set_numbers):
                loss = BatchLoss.of(part, self._loss, self._options.mismatch)
                loss.add_to(tallies[set_number])
                totals[set_number] += loss.total
        for samples, tally in zip(sets, tallies, strict=True):
            tally.add_denominator(self._denominator(samples))
        return [
            tally.values() | ({LOSS: total / tally.denominator} if tally.denominator else {})
            for tally, total in zip(tallies, totals, strict=True)
        ]

    def _gradient(self, batch: MicroBatch) -> BatchGradient:
        loss = BatchLoss.of(self._scored(batch), self._loss, self._options.mismatch)
        gradient = BatchGradient.of(loss, list(self._parameters.values()))
        PROGRESS.mark("gradient of a micro-batch computed")
        return gradient

    def _scored(self, batch: MicroBatch) -> ScoredBatch:
        return ScoredBatch.of(batch, self._adapted.scorer(batch, mean=self._loss.needs_vocabulary))

    def logprobs(self, token_ids: Sequence[int], *, adapter: bool = True) -> list[float]:
        return self._adapted.logprobs(token_ids, adapter=adapter)

    def reference_logprobs(self, samples: Sequence[TrainingSample]) -> list[list[float]]:
        return self._adapted.reference_logprobs(samples)

    def _with_kl_penalty(self, samples: Sequence[TrainingSample]) -> Sequence[TrainingSample]:
        if not self._options.kl_coefficient:
            return samples
        penalised, distance = apply_kl_penalty(
            samples, self.reference_logprobs(samples), coefficient=self._options.kl_coefficient
        )
        self._tally.add_base_distance(distance, count_trained_tokens(samples))
        return penalised

    def save_adapter(self, directory: Path) -> None:
        self._adapted.save_adapter(directory)

    def save_state(self, directory: Path) -> None:
        save_trainer_state(
            directory, self._parameters, self._optimizer, settings=self._settings, steps=self._steps
        )

    def load_state(self, directory: Path) -> None:
        self._steps = load_trainer_state(
            directory, self._parameters, self._optimizer, settings=self._settings
        )

    def close(self) -> None:
        """Does nothing: model and optimizer are freed with this object."""

    @override
    def __repr__(self) -> str:
        return f"LoraTrainer({self._settings}, steps={self._steps})"


def show_memory(device: torch.device) -> None:
    if device.type != "cuda":
        return
    free, total = torch.cuda.mem_get_info(device)
    show_gpu_memory(
        str(device.index or 0),
        {
            "total": total,
            "free": free,
            "allocated": torch.cuda.memory_allocated(device),
            "reserved": torch.cuda.memory_reserved(device),
        },
    )


ADAPTER_FILE: Final = "adapter.safetensors"
MOMENTS_FILE: Final = "moments.safetensors"
RANDOM_FILE: Final = "random.safetensors"
FORMAT: Final = 1


def save_trainer_state(
    directory: Path,
    parameters: Mapping[str, nn.Parameter],
    optimizer: torch.optim.Optimizer,
    *,
    settings: TrainerSettings,
    steps: int,
) -> None:
    document = {
        "format": FORMAT,
        "settings": settings.as_json(),
        "steps": steps,
        "random": random_scalars(),
    }
    with commit_directory(directory) as partial:
        save_file(_on_cpu(parameters), partial / ADAPTER_FILE)
        save_file(
            _on_cpu(
                {
                    f"{name}/{kind}": value
                    for name, parameter in parameters.items()
                    for kind, value in optimizer.state.get(parameter, {}).items()
                }
            ),
            partial / MOMENTS_FILE,
        )
        save_file(random_tensors(), partial / RANDOM_FILE)
        (partial / TRAINER_FILE).write_text(json.dumps(document) + "\n", encoding="utf-8")


def load_trainer_state(
    directory: Path,
    parameters: Mapping[str, nn.Parameter],
    optimizer: torch.optim.Optimizer,
    *,
    settings: TrainerSettings,
) -> int:
    """Returns the number of optimizer steps taken. Raises `ManifestMismatch` and `StateMismatch`,
    and leaves the trainer unchanged then.
    """
    verify_directory(directory)
    document = json.loads((directory / TRAINER_FILE).read_text(encoding="utf-8"))
    if document["format"] != FORMAT:
        raise StateMismatch(f"the state has format {document['format']}, expected {FORMAT}")
    names = settings.differences(document["settings"])
    if names:
        raise StateMismatch(f"the state was saved under other settings: {names}")
    weights = load_file(directory / ADAPTER_FILE)
    if {k: v.shape for k, v in weights.items()} != {k: v.shape for k, v in parameters.items()}:
        raise StateMismatch("the saved adapter does not fit this model")
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(weights[name])
    _restore_moments(parameters, optimizer, load_file(directory / MOMENTS_FILE))
    restore_random(load_file(directory / RANDOM_FILE), document["random"])
    return int(document["steps"])


def _on_cpu(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: tensor.detach().to("cpu").contiguous() for name, tensor in tensors.items()}


def _restore_moments(
    parameters: Mapping[str, nn.Parameter],
    optimizer: torch.optim.Optimizer,
    moments: Mapping[str, Tensor],
) -> None:
    order = [p for group in optimizer.param_groups for p in group["params"]]
    by_identity = {id(parameter): name for name, parameter in parameters.items()}
    state: dict[int, dict[str, Tensor]] = {}
    for index, parameter in enumerate(order):
        prefix = f"{by_identity[id(parameter)]}/"
        kinds = {k.removeprefix(prefix): v for k, v in moments.items() if k.startswith(prefix)}
        if kinds:
            state[index] = kinds
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": state, "param_groups": groups})


def random_tensors() -> dict[str, Tensor]:
    """Returns the states that are arrays: torch's for each device and NumPy's key."""
    states = {"torch_cpu": torch.get_rng_state()}
    if torch.cuda.is_available():
        for index, state in enumerate(torch.cuda.get_rng_state_all()):
            states[f"torch_cuda_{index}"] = state
    key = np.random.get_state(legacy=False)["state"]["key"]  # noqa: NPY002 - the global generator that libraries use
    states["numpy_key"] = torch.from_numpy(key.astype(np.int64))
    return states


def random_scalars() -> dict[str, Any]:
    version, numbers, gauss = random.getstate()
    legacy: Any = np.random.get_state(legacy=False)  # noqa: NPY002 - the global generator that libraries use
    return {
        "python": [version, list(numbers), gauss],
        "numpy": {
            "pos": int(legacy["state"]["pos"]),
            "has_gauss": int(legacy["has_gauss"]),
            "gauss": float(legacy["gauss"]),
        },
    }


def restore_random(tensors: dict[str, Tensor], scalars: dict[str, Any]) -> None:
    torch.set_rng_state(tensors["torch_cpu"])
    for index in range(torch.cuda.device_count()):
        state = tensors.get(f"torch_cuda_{index}")
        if state is not None:
            torch.cuda.set_rng_state(state, index)
    version, numbers, gauss = scalars["python"]
    random.setstate((version, tuple(numbers), gauss))
    numpy = scalars["numpy"]
    key = tensors["numpy_key"].numpy().astype(np.uint32)
    np.random.set_state(("MT19937", key, numpy["pos"], numpy["has_gauss"], numpy["gauss"]))  # noqa: NPY002 - restores the global generator that libraries draw from
