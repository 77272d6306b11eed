"""The making of a curriculum: its sources, the columns of tables, its rows and their division."""
