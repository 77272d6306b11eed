import math

import pytest
import torch
from torch import Tensor, nn

from tests.support.cases import cases
from workers.learning.head import LogProbHead, OutputScaling

PRECISIONS = [(torch.float64, 1e-12), (torch.float32, 1e-5)]


def layer(vocab: int, hidden: int, *, bias: bool, dtype: torch.dtype) -> nn.Linear:
    torch.manual_seed(0)
    linear = nn.Linear(hidden, vocab, bias=bias, dtype=dtype)
    linear.weight.data.mul_(20)
    return linear.requires_grad_(requires_grad=False)


def plain(linear: nn.Linear, hidden_ND: Tensor, targets_N: Tensor, t: float) -> tuple[Tensor, ...]:
    logp_NV = (linear(hidden_ND) / t).log_softmax(-1)
    entropy_N = -(logp_NV.exp() * logp_NV).sum(-1)
    return logp_NV.gather(1, targets_N[:, None])[:, 0], entropy_N


@cases(("dtype", "tolerance"), PRECISIONS)
@cases("temperature", [1.0, 0.6])
@cases("chunk_tokens", [1, 5, 1000])
@cases("bias", [False, True])
def test_equals_the_full_softmax(
    dtype: torch.dtype, tolerance: float, temperature: float, chunk_tokens: int, bias: bool
) -> None:
    linear = layer(50, 16, bias=bias, dtype=dtype)
    hidden_ND = torch.randn(23, 16, dtype=dtype, requires_grad=True)
    targets_N = torch.randint(0, 50, (23,))
    weights_N = torch.randn(23, dtype=dtype)
    head = LogProbHead(linear, temperature=temperature, chunk=chunk_tokens)
    mine = head(hidden_ND, targets_N)
    logprobs_N, entropy_N = plain(linear, hidden_ND, targets_N, temperature)
    torch.testing.assert_close(mine.logprobs_N, logprobs_N, rtol=0, atol=10 * tolerance)
    torch.testing.assert_close(mine.entropy_N, entropy_N, rtol=0, atol=10 * tolerance)
    assert not mine.entropy_N.requires_grad
    (got,) = torch.autograd.grad((mine.logprobs_N * weights_N).sum(), hidden_ND)
    (expected,) = torch.autograd.grad((logprobs_N * weights_N).sum(), hidden_ND)
    torch.testing.assert_close(got, expected, rtol=tolerance, atol=20 * tolerance)


def test_gradcheck() -> None:
    linear = layer(9, 4, bias=True, dtype=torch.float64)
    hidden_ND = torch.randn(5, 4, dtype=torch.float64, requires_grad=True)
    targets_N = torch.randint(0, 9, (5,))
    head = LogProbHead(linear, temperature=0.8, chunk=1)
    assert torch.autograd.gradcheck(lambda h: head(h, targets_N).logprobs_N, hidden_ND)


def test_low_precision_models_are_summed_in_fp32() -> None:
    linear = layer(4000, 32, bias=False, dtype=torch.bfloat16)
    hidden_ND = torch.randn(10, 32, dtype=torch.bfloat16, requires_grad=True)
    scores = LogProbHead(linear)(hidden_ND, torch.arange(10))
    assert scores.logprobs_N.dtype == torch.float32
    logits_NV = hidden_ND.detach().float() @ linear.weight.float().T
    expected_N = logits_NV.log_softmax(-1)[torch.arange(10), torch.arange(10)]
    torch.testing.assert_close(scores.logprobs_N, expected_N, rtol=0, atol=1e-4)
    scores.logprobs_N.sum().backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
    assert hidden_ND.grad is not None
    assert hidden_ND.grad.dtype == torch.bfloat16


def test_nothing_of_the_size_of_the_logits_is_kept_for_backward() -> None:
    linear = layer(5000, 8, bias=False, dtype=torch.float32)
    hidden_ND = torch.randn(64, 8, requires_grad=True)
    kept: list[int] = []

    def note(tensor: Tensor) -> Tensor:
        if tensor is not linear.weight:  # in memory in any case
            kept.append(tensor.numel())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        LogProbHead(linear, chunk=4)(hidden_ND, torch.zeros(64, dtype=torch.long))
    assert kept == [64 * 8, 64]


def test_the_mean_over_the_vocabulary_has_its_own_gradient() -> None:
    linear = layer(50, 8, bias=True, dtype=torch.float64)
    hidden_ND = torch.randn(6, 8, dtype=torch.float64, requires_grad=True)
    targets_N = torch.tensor([0, 3, 3, 49, 7, 1])
    scores = LogProbHead(linear, temperature=0.7, chunk=2)(hidden_ND, targets_N, mean=True)
    assert scores.mean_logprobs_N is not None
    mix_N = torch.linspace(-1, 1, 6, dtype=torch.float64)
    (mine_ND,) = torch.autograd.grad(
        (scores.logprobs_N * mix_N + scores.mean_logprobs_N * (1 - mix_N)).sum(), hidden_ND
    )
    logp_NV = (linear(hidden_ND) / 0.7).log_softmax(-1)
    whole_N = logp_NV.gather(1, targets_N[:, None])[:, 0] * mix_N + logp_NV.mean(-1) * (1 - mix_N)
    (exact_ND,) = torch.autograd.grad(whole_N.sum(), hidden_ND)
    torch.testing.assert_close(mine_ND, exact_ND, rtol=0, atol=1e-12)
    torch.testing.assert_close(scores.mean_logprobs_N, logp_NV.mean(-1), rtol=0, atol=1e-12)
    assert scores.top_N.tolist() == (logp_NV.argmax(-1) == targets_N).tolist()


def test_the_mean_is_there_when_requested_only() -> None:
    linear = layer(50, 8, bias=False, dtype=torch.float32)
    scores = LogProbHead(linear)(torch.randn(3, 8), torch.zeros(3, dtype=torch.long))
    assert scores.mean_logprobs_N is None


@cases("size", [0.0, 300.0])
def test_flat_and_certain_distributions(size: float) -> None:
    """Tests a uniform softmax and one that underflows for all tokens but one."""
    linear = nn.Linear(2, 1000, bias=False).requires_grad_(requires_grad=False)
    linear.weight.zero_()
    linear.weight[7, 0] = size
    scores = LogProbHead(linear)(torch.ones(2, 2), torch.tensor([7, 8]))
    expected_N = [0.0, -300.0] if size else [-math.log(1000)] * 2
    assert scores.logprobs_N.tolist() == pytest.approx(expected_N, abs=1e-5)
    assert scores.entropy_N.tolist() == pytest.approx(
        [0.0 if size else math.log(1000)] * 2, abs=1e-5
    )


def test_what_it_cannot_do_is_refused() -> None:
    with pytest.raises(ValueError, match="frozen"):
        LogProbHead(nn.Linear(4, 4))
    with pytest.raises(TypeError, match="weight"):
        LogProbHead(nn.Identity())
    with pytest.raises(ValueError, match="temperature"):
        LogProbHead(layer(4, 4, bias=False, dtype=torch.float32), temperature=0.0)


def test_logits_of_a_bf16_model_are_not_rounded_to_bf16() -> None:
    """At a size of 16 to 32 the steps of bf16 are 0.125, which no sampler's log-probs share."""
    linear = layer(300, 64, bias=True, dtype=torch.bfloat16)
    hidden_ND = torch.randn(40, 64, generator=torch.Generator().manual_seed(1)).bfloat16()
    targets_N = torch.arange(40)
    wide = nn.Linear(64, 300, dtype=torch.float64)
    wide.load_state_dict({name: value.double() for name, value in linear.state_dict().items()})
    assert float(wide(hidden_ND.double()).abs().max()) > 16
    expected_N, _ = plain(wide, hidden_ND.double(), targets_N, 1.0)
    found_N = LogProbHead(linear)(hidden_ND, targets_N).logprobs_N
    torch.testing.assert_close(found_N.double(), expected_N, rtol=0, atol=1e-4)


@cases("cap", [None, 5.0])
@cases("scale", [1.0, 0.25])
@cases("bias", [False, True])
def test_scaled_and_capped_logits_equal_the_full_softmax(
    cap: float | None, scale: float, bias: bool
) -> None:
    linear = layer(50, 16, bias=bias, dtype=torch.float64)
    linear.weight.data.mul_(0.05)  # a cap leaves no gradient of logits far above it
    hidden_ND = torch.randn(23, 16, dtype=torch.float64, requires_grad=True)
    targets_N = torch.randint(0, 50, (23,))
    head = LogProbHead(linear, temperature=0.7, scaling=OutputScaling(scale, cap), chunk=5)
    mine = head(hidden_ND, targets_N, mean=True)
    logits_NV = linear(hidden_ND) * scale
    if cap is not None:
        logits_NV = cap * torch.tanh(logits_NV / cap)
    logp_NV = (logits_NV / 0.7).log_softmax(-1)
    mean_N, logprobs_N = logp_NV.mean(-1), logp_NV.gather(1, targets_N[:, None])[:, 0]
    entropy_N = -(logp_NV.exp() * logp_NV).sum(-1)
    assert mine.mean_logprobs_N is not None
    torch.testing.assert_close(mine.logprobs_N, logprobs_N, rtol=0, atol=1e-11)
    torch.testing.assert_close(mine.mean_logprobs_N, mean_N, rtol=0, atol=1e-11)
    torch.testing.assert_close(mine.entropy_N, entropy_N, rtol=0, atol=1e-11)
    weights_N = torch.randn(23, dtype=torch.float64)
    for weighted, plain_sum in (
        (mine.logprobs_N * weights_N, logprobs_N * weights_N),
        (mine.mean_logprobs_N - mine.logprobs_N * weights_N, mean_N - logprobs_N * weights_N),
    ):
        (got,) = torch.autograd.grad(weighted.sum(), hidden_ND, retain_graph=True)
        (expected,) = torch.autograd.grad(plain_sum.sum(), hidden_ND, retain_graph=True)
        torch.testing.assert_close(got, expected, rtol=1e-11, atol=1e-11)
