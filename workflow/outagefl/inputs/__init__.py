"""What methods share: who holds which images, who talks to whom, who is online when, and how probable that is."""
