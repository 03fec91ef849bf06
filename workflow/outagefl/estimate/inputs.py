"""The inputs that a run's cost depends on: those that are made already, or the same drawn now."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from outagefl.datasets import arrays, femnist
from outagefl.errors import ConfigError
from outagefl.randomness import generator
from outagefl.runs.plan import Plan, make_input
from outagefl.sources.catalog import Source


def published_images(source: Source) -> dict[str, Any]:
    """What the catalog says of a data set: shape, classes, train, test, perhaps writers; ConfigError if nothing."""
    if "images" not in source.entry:
        raise ConfigError(
            f"config/sources.yaml: {source.name}: has no images; expected the shape of one, classes, train and test"
        )
    images: dict[str, Any] = source.entry["images"]
    return images


class Inputs:
    """Where the inputs of a plan are: below ``results``, or in ``scratch``, made by the workflow's own code.

    A data set that would have to be downloaded or read is stood in for by one with the published number of images and
    equal classes, whose images are one pixel; partitions and what depends on them are drawn from that.
    """

    def __init__(self, plan: Plan, results: Path, scratch: Path) -> None:
        self._plan, self._results, self._scratch = plan, results, scratch
        self._found: dict[str, Path | None] = {}

    def find(self, path: str) -> Path | None:
        """The file or folder of an input; None for a trace whose source is not there, and what is made from it."""
        if path not in self._found:
            made = self._results / path
            self._found[path] = made if made.exists() else self._make(path)
        return self._found[path]

    def _make(self, path: str) -> Path | None:
        made, target = self._plan.inputs[path], self._scratch / path
        source = self._plan.sources[made.source] if made.source else None
        files = {name: self.find(need) for name, need in made.needs.items()}
        if source and not source.bundled:
            if made.what == "dataset":
                stand_in(source, made.spec["dataset"], target)
                return target
            if not all(file.exists() for file in source.paths):
                return None
            files["source"] = source.paths[0] if len(source.paths) == 1 else source.paths[0].parent
        there = {name: file for name, file in files.items() if file}
        if len(there) < len(files):
            return None
        make_input(made.what, made.spec, there, target)
        return target


def stand_in(source: Source, settings: dict[str, Any], target: Path) -> None:
    """Write a data set of one-pixel images with as many of them, classes and writers as published."""
    images = published_images(source)
    total = images["train"] + images["test"]
    labels = np.arange(total) % images["classes"]
    test = np.arange(total) >= images["train"]
    writers = None
    if "writers" in images:  # no published test part
        writer = np.arange(total) % images["writers"]
        test = femnist.held_out(writer, settings["test_share"], generator(0, "femnist test split"))
        names = tuple(map(str, range(images["writers"])))
        writers = arrays.Writers(names, writer[~test], writer[test])
    train, held_out = ((np.zeros((part.sum(), 1, 1, 1), np.uint8), labels[part]) for part in (~test, test))
    arrays.save(target, source.name, train, held_out, classes=[*map(str, range(images["classes"]))], writers=writers)
