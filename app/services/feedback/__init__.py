"""Use cases of feedback: collecting it, building files from it, removing an end user's."""
