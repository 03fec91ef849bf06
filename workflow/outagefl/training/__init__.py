"""Local training: all models as rows of one matrix, and the trainer that works on them."""
