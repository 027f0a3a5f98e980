"""Records and standings as text for people and programs. Rule: nothing here decides or stores anything."""
