"""HTTP in the abstract: classes of status codes, and requests that may be sent twice."""
