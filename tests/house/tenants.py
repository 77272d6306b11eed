"""Functions of the database that run as the owner of the tables, each with its one caller."""

OWNERS_FUNCTIONS = {
    "due_coach_sessions": "app.teaching.coach.store",  # finds the sessions that are due
    "installation_counts": "app.database",  # metrics count the installation's jobs
    "queue_places": "app.jobs.store",  # a position counts the jobs of others
}
