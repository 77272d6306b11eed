"""Students: models with a name that learn skills, and the gate before each skill. Pure."""
