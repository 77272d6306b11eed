"""Settings of the way in which engine and trainer compute on a CPU."""

from pydantic import Field

from app.domain.models.compute_choices import Products
from app.settings.sources import SettingsSection, Sources


class ComputeSettings(SettingsSection):
    """Products and threads of the CPU engine and of trainers on a CPU. A measurement of two
    seconds at the first start on a machine chooses each that is not set, and `compute` of the data
    directory keeps it. A resumed job computes as it began.
    """

    measure: bool = True
    """False measures nothing: oneDNN's products, half of the cores in the engine, all of them in a
    trainer.
    """
    engine_products: Products | None = None
    """`onednn` multiplies packed weights, `torch` plain ones."""
    engine_threads: int | None = Field(None, gt=0)
    """Threads of the CPU engine."""
    trainer_products: Products | None = None
    """Library of the products with frozen weights."""
    trainer_threads: int | None = Field(None, gt=0)
    """Threads of a trainer on a CPU."""


class ConfiguredCompute(Sources):
    """Only these settings, for a command that needs no others."""

    compute: ComputeSettings = ComputeSettings()
