"""HTTP parts that the API and the dashboard share: live streams, the check of a query."""
