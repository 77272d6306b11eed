"""Students: models with a name that improve skill by skill, and the gate before each skill. Pure."""
