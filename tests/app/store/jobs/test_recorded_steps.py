from app.accounts.usage_store import amounts_of
from app.jobs.jobs import Usage


def test_no_count_of_a_judge_is_larger_than_its_column() -> None:
    tokens = {"train_prompt_tokens": 1e18, "eval_prompt_tokens": 1e19, "eval_completion_tokens": 3}
    amounts = amounts_of(Usage(model_graders={"judge": tokens, "other": tokens}))
    assert amounts.judge_input_tokens < 2**63
    assert amounts.judge_output_tokens == 6
