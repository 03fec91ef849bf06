"""Reproduce federated-learning papers about unreliable clients and links.

The folders follow the way of the data: ``sources`` → ``datasets`` → ``inputs`` → ``rules``, ``models``, ``training``,
``engines`` → ``runs`` → ``analysis``. This file imports nothing, so that a run's code fingerprint holds only what the
run really uses.
"""
