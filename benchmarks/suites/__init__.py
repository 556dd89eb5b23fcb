# SPDX-License-Identifier: BSD-3-Clause
"""One module a benchmark.

Each has `run(bench)`, which measures and returns what goes into the JSON, `section(results)`, its part of the
performance page, and may have `figures(results)`: pictures by name, each a function that draws on a matplotlib figure,
with what it shows in words.
"""

from types import ModuleType

from . import (
    command,
    conll,
    decoding,
    evaluation,
    fit,
    growth,
    input_memory,
    memory,
    methods,
    ocr,
    pipeline,
    spn,
    startup,
    stochastic,
    tagging,
    training,
    vectorizing,
)

__all__ = ["SUITES"]

#: In the order of the page.
SUITES: dict[str, ModuleType] = {
    "training": training,
    "conll": conll,
    "pipeline": pipeline,
    "vectorizing": vectorizing,
    "tagging": tagging,
    "command": command,
    "startup": startup,
    "evaluation": evaluation,
    "spn": spn,
    "stochastic": stochastic,
    "growth": growth,
    "memory": memory,
    "input_memory": input_memory,
    "fit": fit,
    "decoding": decoding,
    "methods": methods,
    "ocr": ocr,
}
