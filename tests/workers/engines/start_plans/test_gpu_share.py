"""The division of one GPU between engine and trainer."""

from tests.support.cases import cases
from workers.engines.start_plans.start import BATCH_TOKENS, share_for_engine
from workers.learning.memory.plan import GIB, Counts, PlanInputs, plan_memory

QWEN3_4B = Counts(
    weights=8 * GIB,
    engine_weights=8 * GIB,
    adapter=GIB // 8,
    a_token=300e3,
    a_batch=GIB,
    head=GIB,
    kv_a_token=147_456,
)


@cases("gpu", [40 * GIB, 80 * GIB, 141 * GIB])
def test_the_trainer_gets_its_micro_batch_and_the_engine_the_rest(gpu: int) -> None:
    share = share_for_engine(gpu, QWEN3_4B, context_length=16_384)
    plan = plan_memory(PlanInputs(gpu, 16_384, engine_share=share), QWEN3_4B)
    assert plan.fits
    assert plan.micro_batch_tokens >= BATCH_TOKENS
    if share < 0.9:
        more = plan_memory(PlanInputs(gpu, 16_384, engine_share=share + 0.05), QWEN3_4B)
        assert more.micro_batch_tokens < BATCH_TOKENS


def test_the_operators_micro_batch_decides_the_share() -> None:
    shares = [
        share_for_engine(40 * GIB, QWEN3_4B, context_length=4096, micro_batch_tokens=tokens)
        for tokens in (8192, None, 32_768)
    ]
    assert shares == sorted(set(shares), reverse=True)


def test_a_small_gpu_gives_the_trainer_one_rollout() -> None:
    share = share_for_engine(26 * GIB, QWEN3_4B, context_length=4096)
    plan = plan_memory(PlanInputs(26 * GIB, 4096, engine_share=share), QWEN3_4B)
    assert plan.fits
    assert 4096 <= plan.micro_batch_tokens < BATCH_TOKENS


def test_where_both_do_not_fit_the_plan_reports_it() -> None:
    share = share_for_engine(16 * GIB, QWEN3_4B, context_length=4096)
    assert not plan_memory(PlanInputs(16 * GIB, 4096, engine_share=share), QWEN3_4B).fits
