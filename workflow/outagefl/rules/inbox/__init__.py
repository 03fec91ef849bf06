"""Rules of event-driven gossip: how much a node takes of each model in its inbox."""

FAMILY, FUNCTION = "events rule", "weights"
