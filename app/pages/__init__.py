"""Pages for people: sign-in, jobs, curves, rollouts, baselines, reports, models, endpoints,
and in `students/` the pages in plain words.
"""
