"""Built-in environments of jobs: sources of tasks, each with the grader of its answers.

Owns the options of each environment, its tasks and its grader. Promises that a task is a function
of the environment's options, its seed and the task's index, and that no held-out task is a training
task. Must not know files, jobs or how rows are stored.
"""
