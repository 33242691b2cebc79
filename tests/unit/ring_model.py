#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tries every interleaving of the ring protocol of src/trace/ring.h, step by step.

A thread emits; signal handlers interrupt it anywhere and emit too; a consumer drains; the recorder draws a
watermark. Stores wait in a buffer before others see them: in order (as on x86), or in any order that
release allows (`weak`). Every state that can be reached is looked at, and in each of them must hold:

  - the consumer reads exactly the records that were committed, whole and in their order;
  - every emit is a record, or is counted; sequence numbers have a hole for each event that found no room;
  - an emit is counted as a handler's only if it has interrupted another;
  - no record is older than a watermark and yet behind the position where that was drawn.

The same is run with one mistake at a time built into the protocol, and must then fail.

usage: ring_model.py
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

CAPACITY = 2  # records that the ring holds
# Addresses; a record is two words.
HEAD, CLAIM, TAIL, FIRST_WORD, SECOND_WORD = 0, 1, 2, 3, 3 + CAPACITY
STATES_MAX = 3_000_000

# What can be done wrong, and what it would look like in ring.h.
MISTAKES = {
    "commit before write": "the head is moved before the record is written",
    "head not released": "the head is stored relaxed",
    "head read before claim": "the position is taken from the look that came before the claim",
    "room checked before claim": "a handler may take the room between the look and the claim",
    "number taken before claim": "a handler may take the same sequence number",
    "claim is even": "a claim of head + size looks like a head",
    "claim compared with head": "a handler that comes between the two looks moves both, and the thread takes itself for one",
    "time before claim": "the time is taken before the recorder can see that a record is on its way",
    "tail before read": "the consumer gives room back before it has read",
    "no barrier": "the recorder looks at the claim without a barrier in the producer",
}


class Frame(NamedTuple):
    """One emit that is under way."""

    step: int
    token: int
    head: int = 0
    seq: int = 0
    time: int = 0


class State(NamedTuple):
    memory: tuple[object, ...]  # what everybody sees, by address
    buffer: tuple[tuple[int, object, bool], ...]  # the producer's stores on their way: address, value, release
    frames: tuple[Frame, ...]  # the thread's own emit, and a handler's upon it
    emits_left: int
    handlers_left: int
    token: int
    seq: int
    tail_seen: int
    lost_full: int
    lost_reentrant: int
    committed: tuple[tuple[int, int, int], ...]  # seq, token, time
    now: int
    consumer_step: int
    position: int
    read: object
    mark_step: int
    mark: tuple[int, int]  # time, claim
    drawn: tuple[int, int] | None  # the watermark: time, position


class Broken(Exception):
    pass


def load(state: State, address: int) -> Any:
    """As the producer sees it: its own stores first."""
    for where, value, _ in reversed(state.buffer):
        if where == address:
            return value
    return state.memory[address]


def seen(state: State, address: int) -> Any:
    return state.memory[address]


def put(state: State, address: int, value: object, release: bool = False) -> State:
    return state._replace(buffer=state.buffer + ((address, value, release),))


def write(state: State, address: int, value: object) -> State:
    return state._replace(memory=state.memory[:address] + (value,) + state.memory[address + 1:])


class Model:
    def __init__(self, mistake: str, weak: bool, emits: int, handlers: int, watermark: bool) -> None:
        self.mistake = mistake
        self.watermark = watermark
        self.weak = weak
        self.emits = emits
        self.handlers = handlers

    def first(self) -> State:
        memory = (0, 0, 0) + (None,) * (2 * CAPACITY)
        return State(memory, (), (), self.emits, self.handlers, 0, 0, 0, 0, 0, (), 0, 0, 0, None,
                     0 if self.watermark else 4, (0, 0), None)

    # Heads are even, as in ring.h; a record takes 2.

    def top(self, state: State, frame: Frame | None) -> State:
        frames = state.frames[:-1] + ((frame,) if frame else ())
        return state._replace(frames=frames)

    def emit_step(self, state: State) -> State:
        frame = state.frames[-1]
        step, head = frame.step, frame.head
        mistake = self.mistake
        go = lambda next_step, **more: self.top(state, frame._replace(step=next_step, **more))  # noqa: E731
        if step == 0 and mistake == "claim compared with head":
            return go(30, head=load(state, HEAD))
        if step in (0, 30):  # is it claimed?
            claim = load(state, CLAIM)
            if claim & 1 if step == 0 else claim != head:
                if len(state.frames) == 1:
                    raise Broken("the thread's own emit is counted as a handler's")
                return self.top(state, None)._replace(lost_reentrant=state.lost_reentrant + 1)
            return go(1)
        if step == 1:  # the claim
            head = load(state, HEAD)
            frame = frame._replace(head=head, seq=state.seq, time=state.now)
            if mistake == "room checked before claim":
                if head + 2 - state.tail_seen > 2 * CAPACITY:
                    state = state._replace(tail_seen=load(state, TAIL))
                    if head + 2 - state.tail_seen > 2 * CAPACITY:
                        return self.top(state, None)._replace(seq=state.seq + 1, lost_full=state.lost_full + 1)
                return self.top(state, frame._replace(step=20))
            return go(2)
        if step in (2, 20):
            claim = head + 2 if mistake == "claim is even" else head | 1
            return put(go(3 if step == 2 else 21), CLAIM, claim)
        if step in (3, 21):
            if mistake != "head read before claim":
                head = load(state, HEAD)
            return go(4 if step == 3 else 6, head=head)
        if step == 4:  # room by what was seen last
            return go(6 if head + 2 - state.tail_seen <= 2 * CAPACITY else 5)
        if step == 5:  # room by a new look
            tail = load(state, TAIL)
            if head + 2 - tail <= 2 * CAPACITY:
                return go(6)._replace(tail_seen=tail)
            state = state._replace(tail_seen=tail, seq=state.seq + 1, lost_full=state.lost_full + 1)
            return put(self.top(state, None), CLAIM, head)
        if step == 6:
            seq = frame.seq if mistake == "number taken before claim" else state.seq
            return go(7, seq=seq)._replace(seq=seq + 1)
        if step == 7:
            time = frame.time if mistake == "time before claim" else state.now
            return go(10 if mistake == "commit before write" else 8, time=time)
        slot = head // 2 % CAPACITY
        if step == 8:
            return put(go(9), FIRST_WORD + slot, frame.seq)
        if step == 9:
            after = 12 if mistake == "commit before write" else 10
            return put(go(after), SECOND_WORD + slot, (frame.token, frame.time))
        if step == 10:  # published
            released = mistake != "head not released"
            after = 8 if mistake == "commit before write" else 12
            state = state._replace(committed=state.committed + ((frame.seq, frame.token, frame.time),))
            return put(self.top(state, frame._replace(step=after)), HEAD, head + 2, released)
        return put(self.top(state, None), CLAIM, head + 2)

    def drained(self, state: State) -> Iterator[State]:
        """One store reaches the others."""
        for i, (address, value, release) in enumerate(state.buffer):
            earlier = state.buffer[:i]
            if i and (not self.weak or release or any(where == address for where, _, _ in earlier)):
                continue
            yield write(state._replace(buffer=earlier + state.buffer[i + 1:]), address, value)

    def consumer_steps(self, state: State) -> Iterator[State]:
        slot = state.position // 2 % CAPACITY
        early = self.mistake == "tail before read"
        if state.consumer_step == 0 and seen(state, HEAD) > state.position:
            state = state._replace(consumer_step=1)
            yield write(state, TAIL, state.position + 2) if early else state
        elif state.consumer_step == 1:
            yield state._replace(consumer_step=2, read=seen(state, FIRST_WORD + slot))
        elif state.consumer_step == 2:
            record = (state.read, seen(state, SECOND_WORD + slot))
            index = state.position // 2
            seq, token, time = state.committed[index]
            if record != (seq, (token, time)):
                raise Broken(f"record {index} is {record}, committed was {(seq, (token, time))}")
            if state.drawn and index * 2 >= state.drawn[1] and time < state.drawn[0]:
                raise Broken(f"record {index} of time {time} came after watermark {state.drawn}")
            yield state._replace(consumer_step=3, read=None)
        elif state.consumer_step == 3:
            state = state._replace(consumer_step=0, position=state.position + 2)
            yield state if early else write(state, TAIL, state.position)

    def watermark_steps(self, state: State) -> Iterator[State]:
        if state.mark_step == 0:  # the time below which we want to know
            yield state._replace(mark_step=1, now=state.now + 1, mark=(state.now + 1, 0))
        elif state.mark_step == 1:  # membarrier: what the producer has stored, all can see
            if self.mistake != "no barrier":
                for address, value, _ in state.buffer:
                    state = write(state, address, value)
                state = state._replace(buffer=())
            yield state._replace(mark_step=2)
        elif state.mark_step == 2:
            yield state._replace(mark_step=3, mark=(state.mark[0], seen(state, CLAIM)))
        elif state.mark_step == 3:
            head = seen(state, HEAD)
            drawn = (state.mark[0], head) if state.mark[1] == head else None
            yield state._replace(mark_step=4, mark=(0, 0), drawn=drawn)

    def next_states(self, state: State) -> Iterator[State]:
        if state.frames:
            yield self.emit_step(state)
        elif state.emits_left:
            yield state._replace(emits_left=state.emits_left - 1, token=state.token + 1,
                                 frames=(Frame(0, state.token),))
        if state.handlers_left and (state.frames or state.emits_left):
            yield state._replace(handlers_left=state.handlers_left - 1, token=state.token + 1,
                                 frames=state.frames + (Frame(0, state.token),))
        yield from self.drained(state)
        yield from self.consumer_steps(state)
        yield from self.watermark_steps(state)

    def check_end(self, state: State) -> None:
        if state.frames or state.emits_left or state.buffer or state.consumer_step:
            return
        if seen(state, CLAIM) != seen(state, HEAD):
            raise Broken("the ring is still claimed when nothing is being written")
        if seen(state, HEAD) != state.position:
            return
        records = state.position // 2
        if records + state.lost_full + state.lost_reentrant != state.token:
            raise Broken(f"{state.token} emits, {records} records, {state.lost_full} + {state.lost_reentrant} lost")
        numbers = [seq for seq, _, _ in state.committed]
        if len(numbers) != records or numbers != sorted(set(numbers)) or state.seq - records != state.lost_full:
            raise Broken(f"numbers {numbers} up to {state.seq}, lost {state.lost_full}")

    def explore(self) -> int:
        """How many states there are; raises Broken at the first that is wrong."""
        first = self.first()
        known = {first}
        stack = [first]
        while stack:
            state = stack.pop()
            self.check_end(state)
            for after in self.next_states(state):
                if after not in known:
                    known.add(after)
                    stack.append(after)
            if len(known) > STATES_MAX:
                raise SystemExit("ring_model.py: more states than expected; the model is not exhaustive any more")
        return len(known)


# In any order, emits, handlers, with a watermark. Two handlers may interrupt one another.
MODELS = ((False, 3, 0, True), (True, 3, 0, True), (False, 1, 1, True), (True, 1, 1, True), (False, 2, 1, True),
          (True, 2, 1, False), (False, 1, 2, False), (True, 1, 2, False))


def attempt(mistake: str) -> tuple[str, int]:
    """All models, small first; what broke, if anything, and how many states were seen."""
    count = 0
    for weak, emits, handlers, watermark in MODELS:
        try:
            count += Model(mistake, weak, emits, handlers, watermark).explore()
        except Broken as error:
            return f"{'weak' if weak else 'in order'}, {emits} emits, {handlers} handlers: {error}", count
    return "", count


def main() -> int:
    failed = 0
    print(f"1..{1 + len(MISTAKES)}")
    broken, count = attempt("")
    print(f"{'not ok' if broken else 'ok'} 1 the protocol holds in all of {count} states\n# {broken}", flush=True)
    failed += bool(broken)
    for number, mistake in enumerate(MISTAKES, 2):
        broken, _ = attempt(mistake)
        print(f"{'ok' if broken else 'not ok'} {number} found: {mistake}\n# {broken}", flush=True)
        failed += not broken
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
