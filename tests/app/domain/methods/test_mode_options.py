from typing import Any

from app.jobs.learning import shown_mode
from tests.support.cases import cases


@cases(
    ("sent", "shown"),
    [
        (None, {"type": "sync"}),
        ({"type": "streaming", "minibatches": 64}, {"type": "streaming", "minibatches": 8}),
        ({"type": "async"}, {"type": "async", "max_staleness": 1, "max_requeues": 2}),
        (
            {"type": "async", "max_staleness": 4, "max_requeues": 0},
            {"type": "async", "max_staleness": 4, "max_requeues": 0},
        ),
    ],
)
def test_a_job_shows_the_mode_it_uses(sent: Any, shown: dict[str, Any]) -> None:
    assert shown_mode(sent, batch_size=8) == shown
