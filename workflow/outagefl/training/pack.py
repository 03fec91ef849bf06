"""Runs that share a device: each is played in a thread of its own, and their clients train as one stack.

Only one thread is awake at a time, so that global state, such as torch's generators and switches, has one user. A run
that asks for training or evaluation sleeps until every other run that goes on has asked for something. Then all that
was asked for is done, in the order of the runs, whatever the order in which they asked: evaluations first, so that the
stack in training is always that of all runs. A run that ends or fails leaves the others to themselves.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

from torch import Tensor

TRAINING = "training"

Item = TypeVar("Item")


class Stopped(BaseException):
    """Ends a run whose pack has been given up."""


@dataclass(frozen=True)
class Request:
    """What a run asks for: ``do(items)``, a row for each item, together with the requests that have the same key."""

    key: Hashable
    items: Sequence[Any]
    do: Callable[[Sequence[Any]], Tensor]


class Pack:
    """The runs that share a device, numbered from 0."""

    def __init__(self, runs: int) -> None:
        self._awake = threading.Condition()
        self._playing = set(range(runs))
        self._asked: dict[int, Request] = {}
        self._answers: dict[int, Tensor | BaseException] = {}
        self._stopped = False

    def play(self, runs: Sequence[Callable[[], None]]) -> list[BaseException | None]:
        """Play all runs to their ends; the error of each that failed. What interrupts this thread stops all of them."""
        errors: list[BaseException | None] = [None] * len(runs)

        def one(number: int) -> None:
            try:
                with self._seated(number):
                    runs[number]()
            except BaseException as error:
                errors[number] = error

        threads = [threading.Thread(target=one, args=(number,)) for number in range(len(runs))]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        except BaseException:
            self._stopped = True
            for thread in threads:
                if thread.ident is not None:
                    thread.join()
            raise
        return errors

    def ask(self, number: int, request: Request) -> Tensor:
        """What a run asked for; called by the thread that is awake. Raises what kept it from being done."""
        self._asked[number] = request
        self._serve()
        while number not in self._answers:
            self._awake.wait(timeout=1)
            self._leave_if_stopped()
        answer = self._answers.pop(number)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    @contextmanager
    def _seated(self, number: int) -> Iterator[None]:
        with self._awake:
            seat.set((self, number))
            try:
                self._leave_if_stopped()
                yield
            finally:
                self._playing.discard(number)
                self._asked.pop(number, None)
                self._serve()

    def _leave_if_stopped(self) -> None:
        if self._stopped:
            raise Stopped

    def _serve(self) -> None:
        """Do what has been asked for, if every run that is playing has asked for something."""
        if not self._asked or self._asked.keys() != self._playing:
            return
        urgent = {request.key for request in self._asked.values()} - {TRAINING} or {TRAINING}
        for key in dict.fromkeys(self._asked[number].key for number in sorted(self._asked)):
            if key in urgent:
                self._do([number for number in sorted(self._asked) if self._asked[number].key == key])
        self._awake.notify_all()

    def _do(self, numbers: Sequence[int]) -> None:
        """Do what these runs have asked for as one."""
        requests = [self._asked.pop(number) for number in numbers]
        try:
            self._leave_if_stopped()
            results = requests[0].do([item for request in requests for item in request.items])
            self._answers.update(zip(numbers, results.split([len(request.items) for request in requests]), strict=True))
        except BaseException as error:
            self._answers.update(dict.fromkeys(numbers, error))


seat: ContextVar[tuple[Pack, int] | None] = ContextVar("seat", default=None)  # of the run that this thread plays


def together(key: Hashable, items: Sequence[Item], do: Callable[[Sequence[Item]], Tensor]) -> Tensor:
    """``do(items)``, a row for each item, done at once with what the other runs of the pack ask for under this key.

    What ``do`` does may not depend on which run it belongs to, other than by its items.
    """
    if (place := seat.get()) is None:
        return do(items)
    pack, number = place
    return pack.ask(number, Request(key, items, do))
