"""Pages that describe differences and faults: each feature and each test that they name exists."""

import re
from pathlib import Path

from app.kit.faults import FEATURES, NOT_AVAILABLE

PAGE = Path(__file__).parents[2] / "openapi" / "DEVIATIONS.md"


def test_the_row_of_unknown_keys_lists_the_features_that_are_refused() -> None:
    [row] = [line for line in PAGE.read_text().splitlines() if "of a feature's name" in line]
    assert f"with `{NOT_AVAILABLE}`" in row
    [listed] = re.findall(r"a feature's name \(([^)]+), in any case\)", row)
    assert re.findall(r"`([^`]+)`", listed) == list(FEATURES)


def test_the_page_of_faults_names_tests_that_exist() -> None:
    root = PAGE.parents[1]
    named = re.findall(r"`(tests/[^` ]+\.py)`", (root / "tests" / "README.md").read_text())
    assert len(named) >= 20
    assert [each for each in named if not (root / each).is_file()] == []
