"""Pages for people: sign-in, jobs, curves, rollouts, reports.

Owns: what a browser sees at `/`, with everything that it loads. Promises: a page shows only what
its visitor's API key may read; every text of a model, tool or grader is shown as text; a page loads
nothing from another host and runs no script but the files in `static/`. Must not know: services'
stores and gateways, and the routes of the API; it asks the factory for services as `app.api` does.
"""
