"""Creates jobs: references, files of an environment, the choice of a grader."""
