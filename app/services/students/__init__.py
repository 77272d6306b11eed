"""Use cases of students: creation, proposals, the gate, promotion."""
