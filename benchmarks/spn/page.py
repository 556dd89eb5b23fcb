# SPDX-License-Identifier: BSD-3-Clause
"""The page of the experiments, from result files only: no figure is copied by hand."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..experiments import read_json, sittings
from ..rst import bullets, paragraph, table, title
from .models import MODELS
from .published import PUBLISHED
from .tables import TABLES, Table
from .tasks import TASKS

__all__ = ["render"]

_HEAD = """\
Sum-product networks: the experiments of Ratajczak et al. (2018)
================================================================

.. This page is written by ``python -m benchmarks.reproduce_spn --render``.

"""
_COMMAND = "python -m benchmarks.reproduce_spn"


_DIFFERENCES = [
    """Training. The paper names stochastic gradient ascent for some models and gives no step lengths, prior or start.
    Here all networks are trained by Adam with a Gaussian prior, in single precision, a fixed number of passes with
    steps that get shorter; the linear CRF by L-BFGS to its optimum.""",
    """Folds. The paper does not say which folds it used; these are the ones that come with the letters.""",
    """Histories of the SPN-MEMM. How the paper presents previous labels to its networks and decodes with more than one
    is not known; here they are inputs (one-hot, with a symbol for what is before the word), decoded by beam.""",
    """Label n-grams without a factor have potential one (``unseen="neutral"``).""",
    """Settings are not tuned model by model: see Choices. Two passes more or less, or another start, can move a figure
    by a tenth of a per cent.""",
]
_CHOICES = """Settings were chosen within the training part of fold 0: without folds 0 and 1 and judged by fold 1
    (``--tune``), letters by the folds given, phones by speaker. Fold 0 took no part. Some hundred and twenty trials of
    letters came before those listed here, in the same way, of step lengths, batches, priors, starts, pixels as -1 and
    1, and sizes: long steps first and short ones last, a prior of 0.5 where labels share input weights and of 0.3 where
    each has its own came out of them. For networks of own weights (L = 2, I = 2, H = 3) no solver did better than Adam,
    6.1 per cent there: averaged gradient descent had 6.7 to 8.1, frequency-adaptive steps 7.5. L-BFGS had 6.7 to 9.0:
    the optimum of the objective, which it alone comes near, fits even the letters trained on less well (at a prior of
    0.3, 0.15 a token where Adam stops at 0.02). Other sizes, up to four layers, 32 variables or 4 states, had 6.3 to
    7.7; SPN-MEMM with 8 previous labels, in twenty settings, 3.4 to 4.7. What was chosen for a model serves its
    relatives, all folds, and the split by words. *Least* is the smallest error after any stretch of passes."""


@dataclass
class Results:
    """The result files of a folder.

    Attributes
    ----------
    runs : dict of {(str, str): list of dict}
        Folds by split and model, in order.
    trials : list of dict
    """

    runs: dict[tuple[str, str], list[dict]]
    trials: list[dict]

    @classmethod
    def of(cls, folder: Path) -> Results:
        """Read a folder.

        Raises
        ------
        ValueError
            If there is no result, or if folds of a model were trained with different settings.
        """
        runs: dict[tuple[str, str], list[dict]] = {}
        trials = []
        for path in sorted(folder.glob("*.json")):
            result = read_json(path)
            if result["run"]["dev"]:
                trials.append(result)
            else:
                runs.setdefault((result["run"]["task"], result["run"]["model"]), []).append(result)
        if not runs:
            raise ValueError(f"no results in {folder}")
        for (task, model), folds in runs.items():
            if any(run["settings"] != folds[0]["settings"] for run in folds):
                raise ValueError(f"folds of {task}-{model} have different settings: they are no one experiment")
        return cls(runs, trials)

    @property
    def everything(self) -> list[dict]:
        """All runs."""
        return [run for folds in self.runs.values() for run in folds]

    def mean(self, task: str, model: str, key: str, digits: int = 2, *, spread: bool = True) -> str:
        """Mean and standard deviation over folds; empty where there is nothing."""
        values = [run[key] for run in self.runs.get((task, model), []) if key in run]
        if not values:
            return ""
        text = f"{statistics.mean(values):,.{digits}f}"
        return f"{text} ± {statistics.stdev(values):.{digits}f}" if spread and len(values) > 1 else text


def render(folder: Path, docs: Path, *, say: Callable[[str], None]) -> None:
    """Write ``experiments/spn.rst`` into the documentation's folder.

    Parameters
    ----------
    folder : Path
        Of the results.
    docs : Path
    say : callable
        Told what is missing.
    """
    results = Results.of(folder)
    parts = [_HEAD + _introduction(results), *(_table(results, one) for one in TABLES)]
    parts += [_choices(results), _differences(), _machine(results)]
    page = docs / "experiments" / "spn.rst"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text("\n".join(part for part in parts if part), encoding="utf-8")
    missing = [f"{t.task}-{name}" for t in TABLES for name in t.models if (t.task, name) not in results.runs]
    say(f"written: {page.name}" + (f"; missing: {', '.join(missing)}" if missing else ""))


def _introduction(results: Results) -> str:
    text = [
        paragraph(
            """M. Ratajczak, S. Tschiatschek and F. Pernkopf, "Sum-Product Networks for Sequence Labeling" (arXiv
            1807.02324, 2018), put sum-product networks in the place of the linear factors of a CRF, of first and of
            higher order, and of a maximum-entropy Markov model. Here their tables are made again with
            :class:`~sklearn_latent.SPNCRFTagger` on the same letters, and in form on a sample of the speech. Their
            tables themselves were not at hand: *published* is what their text and the papers they compare with say."""
        ),
        f"""\
.. code-block:: sh

   {_COMMAND} --results FOLDER             # hours; may be stopped and gone on with
   {_COMMAND} --results FOLDER --render    # this page
   {_COMMAND} --quick --results FOLDER2    # digits shipped inside, seconds
""",
    ]
    if results.everything[0]["settings"]["quick"]:
        text.append(".. warning:: Quick mode: digits stand in for letters and phones, and training is short.\n")
    return "\n".join(text)


def _table(results: Results, one: Table) -> str:
    rows = _summary(results, one) if not one.columns else _grid(results, one)
    if not rows:
        return ""
    head = ["", *one.columns]
    if not one.columns:
        head = ["", "error %", "words wrong %", "published", "folds", "weights", "passes", "seconds a fold"]
    text = [title(one.title), paragraph(f"{one.text} {_extent(results, one)}"), table(head, rows)]
    if not one.columns and one.task == "folds":
        sources = "; ".join(f"{error}: {source}" for error, source in PUBLISHED.values())
        text.append(paragraph(f"Published: {sources}."))
    return "\n".join(text)


def _extent(results: Results, one: Table) -> str:
    """How many folds the figures are of."""
    counts = sorted({len(results.runs[one.task, name]) for name in one.models if (one.task, name) in results.runs})
    n_folds = TASKS[one.task].folds(quick=results.everything[0]["settings"]["quick"])
    if len(counts) == 1:
        return f"Folds done: {counts[0]} of {n_folds}."
    return (
        f"Of the {n_folds} folds the first {counts[0]} to {counts[-1]} were done: folds differ in difficulty, so that "
        "figures over different folds compare roughly."
    )


def _summary(results: Results, one: Table) -> list[list[str]]:
    rows = []
    for text, (name,) in one.rows:
        folds = results.runs.get((one.task, name))
        if not folds:
            continue

        def mean(key: str, digits: int = 2, *, spread: bool = False, name=name) -> str:
            return results.mean(one.task, name, key, digits, spread=spread)

        published = PUBLISHED[name][0] if one.task == "folds" and name in PUBLISHED else ""
        rows.append(
            [
                text, mean("error", spread=True), mean("sequence_error"), published, str(len(folds)),
                mean("n_weights", 0), mean("n_iter", 0), mean("cpu", 0),
            ]
        )  # fmt: skip
    return rows


def _grid(results: Results, one: Table) -> list[list[str]]:
    rows = [[text, *(results.mean(one.task, name, "error") for name in names)] for text, names in one.rows]
    return [row for row in rows if any(row[1:])]


def _choices(results: Results) -> str:
    rows = []
    for trial in results.trials:
        model = MODELS[trial["run"]["model"]]
        setting = ", ".join(f"{key} = {value}" for key, value in trial["trial"].items())
        best = min(trial.get("curve") or [trial], key=lambda point: point["error"])
        rows.append(
            [
                model.title, trial["run"]["task"], setting or "as above",
                f"{trial['error']:.2f}", f"{best['error']:.2f}", str(best.get("n_iter", "")),
                f"{trial['nll']:.3f}" if "nll" in trial else "",
            ]
        )  # fmt: skip
    if not rows:
        return ""
    head = ["model", "split", "setting", "error %", "least", "after passes", "-log P a token"]
    return "\n".join([title("Choices"), paragraph(_CHOICES), table(head, rows)])


def _differences() -> str:
    return "\n".join([title("What differs from the paper"), bullets(_DIFFERENCES)])


def _machine(results: Results) -> str:
    text = sittings([run["machine"] for run in results.everything])
    return "\n".join(
        [title("The machine"), paragraph(f"{text} Seconds are those of the processor, one thread, training alone.")]
    )
