"""What methods share: who holds which images (partition), who talks to whom (topology), who is online when."""
