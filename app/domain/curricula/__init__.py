"""How a curriculum is made: its sources, the columns of tables, its rows and their division."""
