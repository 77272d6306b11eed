"""The page of differences from the hosted API names every feature that is refused by its name."""

import re
from pathlib import Path

from app.kit.faults import FEATURES, NOT_AVAILABLE

PAGE = Path(__file__).parents[2] / "openapi" / "DEVIATIONS.md"


def test_the_row_of_unknown_keys_lists_the_features_that_are_refused() -> None:
    [row] = [line for line in PAGE.read_text().splitlines() if "of a feature's name" in line]
    assert f"with `{NOT_AVAILABLE}`" in row
    [listed] = re.findall(r"a feature's name \(([^)]+), in any case\)", row)
    assert re.findall(r"`([^`]+)`", listed) == list(FEATURES)
