# SPDX-License-Identifier: Apache-2.0
"""A number. It counts by itself while it runs."""

from dataclasses import dataclass, replace

from statewire.stores import StoreKind, cancel, every, serve


# The state, which clients receive.
@dataclass(frozen=True)
class State:
    count: int = 0
    isRunning: bool = False


# The inputs, which a client sends: {"type": "incrementTapped"}, …
@dataclass(frozen=True)
class IncrementTapped: ...


@dataclass(frozen=True)
class StartTapped: ...


@dataclass(frozen=True)
class StopTapped: ...


# An action, which only an effect sends.
@dataclass(frozen=True)
class SecondPassed: ...


Input = IncrementTapped | StartTapped | StopTapped


def update(state: State, event: Input | SecondPassed):
    """Returns the next state, or a pair of it and effects."""
    match event:
        case IncrementTapped() | SecondPassed():
            return replace(state, count=state.count + 1)
        case StartTapped():
            return replace(state, isRunning=True), every(1000, SecondPassed(), id="counting")
        case StopTapped():
            return replace(state, isRunning=False), cancel("counting")


kind = StoreKind(initial=State(), update=update, inputs=Input)
if __name__ == "__main__":
    serve(kind)
