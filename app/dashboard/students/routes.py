"""Lists the rooms of the pages below `/teach`."""

from typing import Final

from app.dashboard.students import chat, curricula, plans, progress, students

ROOMS: Final = (students, chat, plans, progress, curricula)
"""Modules with the routers of these pages."""
