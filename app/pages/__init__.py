"""Pages for people: sign-in, jobs, curves, rollouts, baselines, reports, models, endpoints,
and in `students/` the pages in plain words.

Owns: the pages that a browser shows at `/`, with everything that they load. Promises: a page shows
only what its visitor's API key may read; every text of a model, tool or grader is shown as text; a
page loads nothing from another host and runs no script but the files in `static/`. Must not know:
stores, gateways and the routes of the API; the factory builds its services, as for `app.api`.
"""
