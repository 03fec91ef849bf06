"""Time and peak memory of reading large traces, by hand: ``python benchmarks/traces.py flash_events`` or ``fedscale``.

flash_events: 1,000 phones over three weeks, a line every eight minutes. fedscale: 107,749 clients. Both are written in
their true format first, by a process of its own.
"""

import json
import multiprocessing
import pickle
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "workflow"))
from outagefl.inputs.traces import Trace
from outagefl.traces import fedscale, flash_events

STATES = ["screen_on", "screen_off", "screen_lock", "screen_unlock", "battery_charged_on", "battery_charged_off"]
STATES += ["wifi", "4G", "Unknown"]
BEGIN, WEEKS, DAY = datetime(2020, 1, 29), 3, 86_400


def write_flash_events(path: Path) -> None:
    """Random states, a line every eight minutes on average."""
    draw = random.Random(0)
    content = {}
    for device in range(1000):
        now, lines = BEGIN, []
        while now < BEGIN + timedelta(weeks=WEEKS):
            lines.append(f"{now} \t{draw.choice([*STATES, f'{draw.randrange(101)}.0%'])}")
            now += timedelta(seconds=draw.randrange(960))
        content[str(device)] = {"guid": f"guid-{device}", "model": "unknown", "messages": "\n".join(lines)}
    path.write_text(json.dumps(content))


def write_fedscale(path: Path) -> None:
    """Up to 39 random intervals a client."""
    draw = random.Random(0)
    clients = {}
    for client in range(1, 107_750):
        times = sorted(draw.sample(range(6 * DAY), 2 * draw.randrange(1, 40)))
        entry = {"duration": 1, "inactive": times[1::2], "finish_time": draw.randrange(2, 7) * DAY}
        clients[client] = {**entry, "active": times[::2], "model": "SM-G611MT"}
    path.write_bytes(pickle.dumps(clients))


CASES: dict[str, tuple[Callable[[Path], None], Callable[..., Trace], dict[str, Any]]] = {
    "flash_events": (
        write_flash_events,
        flash_events.read,
        {"idle": "screen_off", "start": str(BEGIN), "days": 7 * WEEKS, "clock_tolerance_seconds": 60},
    ),
    "fedscale": (write_fedscale, fedscale.read, {}),
}

if __name__ == "__main__":
    write, read, options = CASES[sys.argv[1]]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace"
        writer = multiprocessing.get_context("spawn").Process(target=write, args=(path,))
        writer.start()
        writer.join()
        before = time.perf_counter()
        trace = read(path, slot_minutes=30, **options)
        seconds = time.perf_counter() - before
        size = path.stat().st_size
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{size / 1e6:.0f} MB, {trace.state.shape}, {dict(trace.counts)}: {seconds:.1f} s, {peak:.0f} MB")
