"""A client of agent-rft: nouns for people, over `agent_rft_client`, which holds every call.

Each noun exists twice: `Student` blocks, `AsyncStudent` is awaited.
"""

from agent_rft.asynchronous.client import AsyncAgentRFT
from agent_rft.asynchronous.coach import AsyncCoach
from agent_rft.asynchronous.curricula import AsyncCurriculum
from agent_rft.asynchronous.feedback import AsyncFeedbackCollector
from agent_rft.asynchronous.jobs import AsyncTrainingJob
from agent_rft.asynchronous.plans import AsyncImprovementPlan, AsyncRecipe
from agent_rft.asynchronous.students import AsyncSkill, AsyncStudent
from agent_rft.errors import (
    APIError,
    AuthenticationError,
    BadRequestError,
    ConflictError,
    ConnectionFailed,
    NotFoundError,
    PermissionDeniedError,
    RateLimitError,
    ServerError,
    TrainingEnded,
)
from agent_rft.replies import Reply
from agent_rft.synchronous.client import AgentRFT
from agent_rft.synchronous.coach import Coach
from agent_rft.synchronous.curricula import Curriculum
from agent_rft.synchronous.feedback import FeedbackCollector
from agent_rft.synchronous.jobs import TrainingJob
from agent_rft.synchronous.plans import ImprovementPlan, Recipe
from agent_rft.synchronous.students import Skill, Student

__all__ = [
    "APIError",
    "AgentRFT",
    "AsyncAgentRFT",
    "AsyncCoach",
    "AsyncCurriculum",
    "AsyncFeedbackCollector",
    "AsyncImprovementPlan",
    "AsyncRecipe",
    "AsyncSkill",
    "AsyncStudent",
    "AsyncTrainingJob",
    "AuthenticationError",
    "BadRequestError",
    "Coach",
    "ConflictError",
    "ConnectionFailed",
    "Curriculum",
    "FeedbackCollector",
    "ImprovementPlan",
    "NotFoundError",
    "PermissionDeniedError",
    "RateLimitError",
    "Recipe",
    "Reply",
    "ServerError",
    "Skill",
    "Student",
    "TrainingEnded",
    "TrainingJob",
]
