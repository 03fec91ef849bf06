"""An estimate in words: a table and what to know about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PLANNED_MEMORY = 2000  # MB: what the rule `train` asks a scheduler for
FACTOR = "a factor of two"  # within which estimates lay of what was run: docs/results.md, "What a run will cost"


def duration(seconds: float | None) -> str:
    """Seconds, minutes, hours or days with two digits."""
    if seconds is None:
        return "unknown"
    for unit, length, most in (("s", 1, 60), ("min", 60, 90), ("h", 3600, 72)):
        if seconds < most * length:
            return f"{seconds / length:.2g} {unit}" if seconds < 99.5 * length else f"{seconds / length:.0f} {unit}"
    return f"{seconds / 86400:,.0f} days"


def size(count: float) -> str:
    """Bytes in MB or GB."""
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"


def wall(part: Mapping[str, Any], device: str, cores: int) -> float | None:
    """Seconds until all is done: on so many cores, or on one GPU; at least the longest job's."""
    spent, longest = part["seconds"][device], part["longest"][device]
    return None if spent is None else max(spent / (cores if device == "cpu" else 1), longest)


def told(summary: Mapping[str, Any]) -> str:
    """The table, what is missing and in brackets everything, then wall time, downloads and where numbers are from."""
    missing, everything = summary["missing"], summary["everything"]
    empty = dict.fromkeys(("runs", "jobs", "disk_bytes", "memory_mb"), 0) | {"seconds": {"cpu": 0.0, "cuda": 0.0}}
    lines = [("", "runs", "jobs", "CPU time", "or GPU time", "disk", "memory a job")]
    for name, whole in everything.items():
        left = missing.get(name, empty)
        pairs = [(f"{left[key]:,}", f"{whole[key]:,}") for key in ("runs", "jobs")]
        pairs += [(duration(left["seconds"][device]), duration(whole["seconds"][device])) for device in ("cpu", "cuda")]
        pairs += [(size(left["disk_bytes"]), size(whole["disk_bytes"]))]
        memory = size(whole["memory_mb"] * 1e6) if whole["memory_mb"] else ""
        lines.append((name, *(own if own == of else f"{own} ({of})" for own, of in pairs), memory))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    table = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    return "\n".join(
        [
            f"Scale {summary['scale']}: what is missing (and everything, where it is more)",
            "",
            *table,
            "",
            *_notes(summary),
        ]
    )


def _notes(summary: Mapping[str, Any]) -> list[str]:
    missing, device, cores = summary["missing"]["in all"], summary["device"], summary["cores"]
    where = f"{cores} core{'s' * (cores > 1)}" if device == "cpu" else "one GPU"
    takes = duration(wall(missing, device, cores))
    longest = duration(missing["longest"][device])
    notes = [f"Wall time on {where}: about {takes}, within {FACTOR} where training dominates; longest job {longest}."]
    if (count := missing["at_most_runs"]) and missing["runs"]:
        notes.append(f"At most: {count:,} runs follow a trace that is not here yet; everybody was taken to be online.")
    if summary["downloads"]:
        told = ", ".join(f"{name} {size(count)}" for name, count in summary["downloads"].items())
        notes.append(f"Downloads (at most, where no size is published): {told}.")
    if missing["memory_mb"] > PLANNED_MEMORY:
        notes.append(
            f"For a scheduler: --set-resources train:mem_mb={missing['memory_mb'] * 5 // 4} (now {PLANNED_MEMORY})."
        )
    notes += [f"{name.upper()} times: {recorded}." for name, recorded in summary["recorded"].items()]
    if missing["seconds"]["cuda"] is None:
        notes.append('GPU times are unknown until `make costs CONFIG="device=cuda"` was run on one, with this SCALE.')
    return [*notes, "`make costs` measures CPU times on this machine."]
