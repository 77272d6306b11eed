"""What nouns share: SQL, egress, objects, secrets, queues, telemetry, words. Knows no noun."""
