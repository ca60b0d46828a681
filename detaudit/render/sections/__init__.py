"""What each section of the terminal report shows: the rows worth a reader's time, in order."""
