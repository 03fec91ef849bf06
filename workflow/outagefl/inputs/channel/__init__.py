"""Channels: one module a kind, with ``received(chunks, loss, rng, *, options)``, which chunks of a message arrive.

``loss``: the link's loss rate, the share of chunks it loses in the long run. Nothing is stored: a message's chunks are
drawn when it is sent, from a generator of its own (seed, sender, receiver, number of the message), so that methods of
one seed lose the same chunks.
"""

FAMILY, FUNCTION = "channel", "received"
