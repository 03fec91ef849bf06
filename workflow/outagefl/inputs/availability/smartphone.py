"""Outages of smartphones that take part only while charging, on Wi-Fi and not in use: a synthetic trace.

The model has two layers (our choice). A phone is *plugged in* for sessions that follow the time of day; during a
session it is *idle* but for pauses, when its owner picks it up; it is online while plugged in and idle. Phones differ:
some never take part, the others have a rate of their own, and the higher the rate the longer the sessions.

The constants are fitted to published statistics of the FLASH trace (Yang et al., WWW 2021; 723 phones, 241 half-hour
slots): the share online by hour of day, over phones the quantiles of the mean and the share never online, the lag-1
autocorrelation (its mean over phones), and quantiles of online and offline runs. The unit tests hold these statistics
and how near the model comes to them. Unlike the trace, no slot is unknown, and no phone is online nearly always (in the
trace one is, at 98 %). Nothing of the trace itself is in here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from outagefl.inputs.availability import markov
from outagefl.inputs.chains import two_state

SLOTS_PER_HOUR = 2
# Share of phones online by hour of day: from midnight, from noon (published).
HOURLY_SHARE = np.array(
    [
        [0.090, 0.098, 0.108, 0.116, 0.120, 0.119, 0.114, 0.101, 0.088, 0.081, 0.073, 0.065],
        [0.063, 0.057, 0.057, 0.059, 0.065, 0.070, 0.077, 0.066, 0.059, 0.061, 0.071, 0.084],
    ]
).ravel()
MEAN_SHARE = 0.0812  # over all phones and slots (published)

NEVER = 0.2  # share of phones that never take part; others are not seen within 241 slots by chance (fitted)
RATE_SHAPE = 0.8  # first parameter of the Beta distribution of the other phones' rates (fitted)
SESSION_BASE, SESSION_SLOPE = 2.0, 28.0  # mean session in slots: base + slope · rate (fitted)
IDLE_RUN, PAUSE = 9.0, 2.25  # mean run in slots within a session: idle, in use (fitted)
MOST_PLUGGED_IN = 0.99  # no phone is plugged in with certainty


def matrix(rounds: int, clients: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Phones over ``rounds`` half-hour slots from midnight, day after day, (rounds, clients)."""
    taking_part = rng.random(clients) >= NEVER
    mean_rate = MEAN_SHARE / (1 - NEVER)
    rate = rng.beta(RATE_SHAPE, RATE_SHAPE * (1 - mean_rate) / mean_rate, clients)
    hour = np.arange(rounds) // SLOTS_PER_HOUR % len(HOURLY_SHARE)
    online_share = np.outer(HOURLY_SHARE[hour] / HOURLY_SHARE.mean(), rate)
    idle_share = IDLE_RUN / (IDLE_RUN + PAUSE)
    plugged_in = two_state(
        np.minimum(online_share / idle_share, MOST_PLUGGED_IN), 1 / (SESSION_BASE + SESSION_SLOPE * rate), rng
    )
    idle = markov.matrix(rounds, clients, rng, mean_on=IDLE_RUN, mean_off=PAUSE)
    return plugged_in & idle & taking_part
