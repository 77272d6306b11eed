"""The parts of the first migration. Released: changes are migrations of their own."""
