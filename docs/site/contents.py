"""Lists the pages of the site, in the order in which a newcomer reads them."""

from pathlib import PurePosixPath
from typing import Final

SECTIONS: Final[dict[str, tuple[str, ...]]] = {
    "First steps": (
        "docs/quickstart.md",
        "docs/dashboard.md",
        "docs/command-line.md",
        "docs/python.md",
    ),
    "The API": (
        "docs/moving.md",
        "openapi/DEVIATIONS.md",
        "docs/api-reference.md",
        "docs/trackers.md",
    ),
    "Tools and graders": (
        "docs/writing-endpoints.md",
        "docs/bodies.md",
        "docs/graders.md",
        "docs/mcp-servers.md",
        "docs/environments.md",
        "docs/http-environments.md",
        "docs/tool-loop.md",
    ),
    "Training": (
        "docs/reading-curves.md",
        "docs/hyperparameters.md",
        "docs/learning.md",
        "docs/options.md",
        "docs/metrics.md",
        "docs/statistics.md",
    ),
    "Teaching": (
        "docs/teaching.md",
        "docs/students.md",
        "docs/coach.md",
        "docs/plans.md",
        "docs/curricula.md",
        "docs/feedback.md",
    ),
    "Models and GPUs": (
        "docs/running-models.md",
        "docs/gpus.md",
        "docs/models.md",
    ),
    "Running the service": (
        "docs/operations.md",
        "docs/observability.md",
        "docs/usage.md",
        "docs/security.md",
        "SECURITY.md",
    ),
    "The project": ("docs/glossary.md", "docs/architecture.md", "CHANGELOG.md"),
}
"""The sections of the navigation, with the files of their pages below the repository's root."""

_NAMES: Final = {"SECURITY.md": "security-promises"}
"""The names of pages whose files have the name of another page."""


def names() -> dict[str, str]:
    """Returns the name of each page in the site, by its file."""
    return {
        path: _NAMES.get(path) or PurePosixPath(path).stem.lower()
        for pages in SECTIONS.values()
        for path in pages
    }
