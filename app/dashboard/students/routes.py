"""Lists the routes of the pages below `/teach`."""

from typing import Final

from fastapi import APIRouter

from app.dashboard.students import chat, curricula, plans, progress, students

router: Final = APIRouter(include_in_schema=False)
for room in (students, chat, plans, progress, curricula):
    router.include_router(room.router)
