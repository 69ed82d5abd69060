"""tasker's own worker in Python, with one handler. `operations.py` of the peers stands before it.

It works until its input ends. Lines go out: `["ready", 0]`, or `["failed", reason]`. What it reads of
a step's template is said in `tools/tasker/host/src/operations.rs`.
"""

import json
import os
import sys
import time

# Whatever a library prints goes to the log: standard output is the door.
DOOR = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

from tasker_core import HandlerRegistry, StepHandler, StepHandlerResult, Worker  # noqa: E402


class Operations(StepHandler):
    handler_name = "lab"

    def call(self, context):
        wanted = context.step_config
        cursor = context.step_inputs.get("cursor") or {}
        values = inputs(context, wanted["after"])
        # CLOCK_MONOTONIC on Linux, as on the other side of the door.
        started_ns = time.monotonic_ns()
        value = compute(wanted["operation"], values, cursor.get("start_cursor", 0))  # noqa: F821
        finished_ns = time.monotonic_ns()
        result = {"value": value, "started_ns": started_ns, "finished_ns": finished_ns}
        if wanted.get("branches"):
            result["decision_point_outcome"] = decision(wanted["branches"], value)
        if wanted.get("parts"):
            result["batch_processing_outcome"] = fan_out(wanted["parts"], value)
        return StepHandlerResult.success(result)


def inputs(context, after):
    """The values of the steps that this one takes, in order, or the task's input where it takes none. A
    step that a decision left out has none, and one of a fan-out has a number behind its name."""
    if not after:
        return [context.input_data["input"]]
    known = sorted(context.dependency_results)
    of = lambda name: [one for one in known if one == name or one.startswith(name + "_")]
    names = [one for name in after for one in of(name)]
    return [context.get_dependency_result(one)["value"] for one in names]


def decision(branches, value):
    names = [one["name"] for one in branches if one["low"] <= value < one["high"]]
    return {"type": "create_steps", "step_names": names} if names else {"type": "no_branches"}


def fan_out(name, parts):
    cursors = [
        {"batch_id": f"{part:05}", "start_cursor": part, "end_cursor": part + 1, "batch_size": 1}
        for part in range(parts)
    ]
    return {
        "type": "create_batches",
        "worker_template_name": name,
        "worker_count": parts,
        "cursor_configs": cursors,
        "total_items": parts,
    }


def tell(*message):
    print(json.dumps(message), file=DOOR, flush=True)


def main():
    try:
        HandlerRegistry.instance(skip_bootstrap=True).register("lab", Operations)
        worker = Worker.start()
    except Exception as error:
        tell("failed", f"{type(error).__name__}: {error}")
        raise
    tell("ready", 0)
    sys.stdin.read()
    worker.stop()


main()
