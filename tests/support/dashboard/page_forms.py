"""Each form of a page, two themes in two widths: the rules of axe-core, and pictures to look at."""

import os
import re
from pathlib import Path
from typing import Final, get_args

from tests.support.dashboard.browser import Tab, Theme

PICTURES: Final = os.environ.get("DASHBOARD_PICTURES")
"""A folder for a picture of each page in each form."""
WIDTHS: Final = (1440, 360)
OPEN_ALL: Final = (
    "() => document.querySelectorAll('details').forEach((one) => { one.open = true; })"
)


async def forms_of(tab: Tab, path: str) -> dict[str, list[str]]:
    """Returns the violations of a page by its form."""
    found = {}
    await tab.page.evaluate(OPEN_ALL)
    for theme in get_args(Theme):
        for width in WIDTHS:
            await tab.show(theme, width)
            violations = await tab.violations()
            if violations:
                found[f"{path} {theme} {width}"] = violations
            if PICTURES:
                name = re.sub(r"\W+", "_", path) + f"-{theme}-{width}.png"
                await tab.page.screenshot(path=Path(PICTURES) / name, full_page=True)
    return found
