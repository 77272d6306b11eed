import pytest
from structlog.testing import capture_logs

from app.kit.errors import Unavailable
from workers.processes.retry import retry_while_unavailable


class Flaky:
    """Fails a number of times, then answers."""

    def __init__(self, message: str, *, failures: int) -> None:
        self._message = message
        self.failures = failures

    async def __call__(self) -> str:
        if self.failures:
            self.failures -= 1
            raise Unavailable(self._message)
        return "done"


async def test_the_log_names_the_service_that_is_unavailable() -> None:
    with capture_logs() as logged:
        assert (
            await retry_while_unavailable(Flaky("The object storage is unavailable.", failures=2))
            == "done"
        )
    assert [(entry["event"], entry["error"]) for entry in logged] == [
        ("unavailable, waiting", "The object storage is unavailable.")
    ] * 2


async def test_the_last_failure_is_raised_once_the_patience_is_over() -> None:
    flaky = Flaky("The database is unavailable.", failures=9)
    with pytest.raises(Unavailable, match="The database is unavailable"):
        await retry_while_unavailable(flaky, patience_s=0)
    assert flaky.failures == 8
