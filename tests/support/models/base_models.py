"""Path of the shipped base model."""

from __future__ import annotations

from pathlib import Path

import workers.base_models

SHIPPED = Path(workers.base_models.__path__[0]) / "tiny_agent"
