"""What is measured, a module each."""
