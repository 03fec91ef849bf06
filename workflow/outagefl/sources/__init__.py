"""Get files from elsewhere and read them without trusting them: downloads, archives, pickles."""
