"""What the page shows, as numbers: everything is a few hundred of them, however long the data."""
