"""The progress bar of a job, in a terminal or a notebook."""

from types import TracebackType
from typing import Any, Self

_MISSING = "progress=True needs tqdm: pip install 'agent-rft-sdk[progress]'"


class Progress:
    """Shows the steps of a job. Draws nothing where nobody would see it.

    `shown` is true to draw in any case, false never to, and none to draw where tqdm is installed
    and the error stream is a terminal or a notebook.

    Raises `ImportError` when `shown` is true and tqdm is not installed.
    """

    def __init__(self, shown: bool | None) -> None:
        self._bar: Any = None
        if shown is False:
            return
        try:
            from tqdm.auto import tqdm  # noqa: PLC0415 - an optional extra
        except ImportError:
            if shown:
                raise ImportError(_MISSING) from None
            return
        self._bar = tqdm(unit="step", disable=None if shown is None else False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.close()

    def show(self, status: str, step: int, total: int | None) -> None:
        """Moves the bar to `step` of `total` steps; none while the length is not known."""
        if self._bar is None:
            return
        self._bar.total = total
        self._bar.n = step
        self._bar.set_description(status, refresh=False)
        self._bar.refresh()
