"""Use cases of fine-tuning jobs and of what they leave behind."""
