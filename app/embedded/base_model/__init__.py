"""The base model that `agent-rft up --model` names: found, checked, planned and remembered."""
