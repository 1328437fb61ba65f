#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that a file is a trace as Chrome and Perfetto read it.

check_trace.py FILE...       prints one line for each fault; the exit status is 0 when there is none
check_trace.py --self-test   plants one fault of each kind and looks whether it is found

Every event has ph, pid and tid, and a time unless it only tells a name. X has a duration; B and E are
balanced in each thread and properly nested. Tasks have names. In one thread times never go back.
"""
import json
import sys

NAMED = tuple("BXiIbneCs")  # phases that are shown under a name
LAST_FAULTS = 20  # more than that help nobody


def faults_of_fields(event):
    if not isinstance(event, dict):
        return ["it is no object"]
    phase = event.get("ph")
    faults = [f"it has no {key}" for key in ("ph", "pid", "tid") if key not in event]
    if phase != "M" and not isinstance(event.get("ts"), (int, float)):
        faults.append("it has no time")
    if phase == "X" and not event.get("dur", -1) >= 0:
        faults.append("it has no duration")
    if phase in NAMED and not event.get("name"):
        faults.append("it has no name")
    return faults


class Thread:
    """What is known of one thread so far: its time, and what has begun and not ended."""

    def __init__(self):
        self.time = float("-inf")
        self.open = []

    def take(self, event):
        faults = []
        if event["ts"] < self.time:
            faults.append(f"time goes back from {self.time} to {event['ts']}")
        self.time = event["ts"]
        if event["ph"] == "B":
            self.open.append(event["name"])
        elif event["ph"] == "E" and not self.open:
            faults.append("it ends what has not begun")
        elif event["ph"] == "E":
            name = self.open.pop()
            if event.get("name", name) != name:
                faults.append(f"it ends {event['name']}, but {name} began last")
        return faults


def check(text):
    """The faults of a trace: a list of sentences."""
    try:
        trace = json.loads(text)
    except ValueError as error:
        return [f"it is no JSON: {error}"]
    events = trace.get("traceEvents") if isinstance(trace, dict) else trace
    if not isinstance(events, list):
        return ["there are no traceEvents"]
    if not any(isinstance(e, dict) and e.get("ph") in ("B", "X") for e in events):
        return ["there is no task"]
    faults, threads = [], {}
    for i, event in enumerate(events):
        found = faults_of_fields(event)
        if not found and event["ph"] != "M":
            thread = threads.setdefault((event["pid"], event["tid"]), Thread())
            found = thread.take(event)
        faults += [f"event {i}: {fault}" for fault in found]
    for (_, tid), thread in threads.items():
        if thread.open:
            faults.append(f"thread {tid}: {', '.join(thread.open)} never ends")
    return faults


# -- Self-test -----------------------------------------------------------------------------------

GOOD = [
    {"ph": "M", "pid": 1, "tid": 1, "name": "thread_name", "args": {"name": "web-0"}},
    {"ph": "B", "pid": 1, "tid": 1, "ts": 1, "name": "a"},
    {"ph": "i", "pid": 1, "tid": 2, "ts": 0.5, "name": "steal"},
    {"ph": "B", "pid": 1, "tid": 1, "ts": 2, "name": "b"},
    {"ph": "E", "pid": 1, "tid": 1, "ts": 3},
    {"ph": "E", "pid": 1, "tid": 1, "ts": 4, "name": "a"},
    {"ph": "X", "pid": 1, "tid": 2, "ts": 5, "dur": 0, "name": "c"},
]

BAD = {  # which event is changed, and how: None takes the field away
    "it has no ph": (1, "ph", None),
    "it has no tid": (1, "tid", None),
    "it has no time": (6, "ts", None),
    "it has no duration": (6, "dur", None),
    "it has no name": (6, "name", None),
    "time goes back": (4, "ts", 1.5),
    "it ends what has not begun": (3, "ph", "E"),
    "but a began last": (5, "name", "z"),
    "never ends": (5, "tid", 3),
}


def self_test():
    failed = check(json.dumps({"traceEvents": GOOD})) + check(json.dumps(GOOD))
    for fault, (index, key, value) in BAD.items():
        events = [dict(event) for event in GOOD]
        events[index][key] = value
        if value is None:
            del events[index][key]
        if not any(fault in found for found in check(json.dumps(events))):
            failed.append(f"not found: {fault}")
    for text in ("", "{", "3", "{}", "[]"):
        if not check(text):
            failed.append(f"taken for a trace: {text}")
    return failed


def main(words):
    if words == ["--self-test"]:
        faults = self_test()
    else:
        faults = []
        for name in words:
            with open(name, encoding="utf-8") as file:
                faults += [f"{name}: {fault}" for fault in check(file.read())]
    for fault in faults[:LAST_FAULTS]:
        print(fault)
    if len(faults) > LAST_FAULTS:
        print(f"and {len(faults) - LAST_FAULTS} more")
    return 1 if faults or not words else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
