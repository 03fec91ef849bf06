"""Where results come from: records of how every file was made, and what can be told and done by them."""
