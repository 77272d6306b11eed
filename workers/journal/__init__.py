"""The journal of replies: an outside answer is durable before it is used."""
