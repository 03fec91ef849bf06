"""Rules of synchronous gossip: how much every online client trusts each candidate in its neighbourhood."""

FAMILY, FUNCTION = "gossip rule", "scores"
