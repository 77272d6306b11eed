"""The sentences of `agent-rft jobs report` are the domain's reading of a report."""

from typing import Any

from app.cli.job_report import sentences
from app.cli.replies import Reply
from tests.support.cases import cases

REPORT = {"step": 3, "rows": 1, "wins": 1, "ties": 0, "losses": 0, "start_model": "m"}


def compared(difference: float, *interval: float) -> dict[str, Any]:
    values = {"start_mean": 0.4, "tuned_mean": 0.4 + difference, "difference": difference}
    return {**values, "difference_ci95": list(interval) or None}


@cases(
    ("report", "reported"),
    [
        (
            {"reward": compared(0.4, 0.2, 0.6), "wins_by": "reward", "judged_apart": ["judge"]},
            "The report does not show the gain: judge judged base and tuned model in groups of",
        ),
        (
            {
                "loss": compared(0.5, 0.4, 0.6),
                "preference_accuracy": compared(0.3, 0.1, 0.5),
                "wins_by": "logprob_order",
            },
            "The report has a gain in share of pairs whose preferred answer is more probable of",
        ),
        (
            {"reward": compared(0.2)},
            "No clear gain in reward: +0.2 over 1 row (too few for an interval).",
        ),
        ({}, "The report has no row to compare."),
    ],
)
def test_a_report_states_no_more_than_its_rows_do(report: dict[str, Any], reported: str) -> None:
    counts, finding = sentences(Reply({**REPORT, **report}))
    assert "on 1 held-out row: 1 better" in counts
    assert reported in finding
