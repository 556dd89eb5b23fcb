# SPDX-License-Identifier: BSD-3-Clause
"""The result files of a folder, and what belongs together."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from pathlib import Path

from ..experiments import read_json
from .compare import compare
from .tasks import TASKS

__all__ = ["Results", "mean", "paper_paths"]

#: The number of latent paths of the paper's tables; the nearest of the grid is taken.
_PAPER_PATHS = 30


@dataclass
class Results:
    """The result files of a folder, and what they are about.

    Attributes
    ----------
    runs : dict of {str: dict}
        Decoded runs by name.
    tests : dict of {str: dict}
        Tests of significance by the name of the latent run.
    missing : list of str
        Runs that are expected and not there.
    """

    folder: Path
    runs: dict[str, dict]
    tests: dict[str, dict]
    missing: list[str]

    @classmethod
    def of(cls, folder: Path, n_seeds: int, n_permutations: int) -> Results:
        """Read a folder; tests that are not there yet are made from the labels that runs have kept.

        Raises
        ------
        ValueError
            If there is no result, or if runs that belong together were trained with different settings.
        """
        runs = {}
        for path in sorted(folder.glob("*.json")):
            result = read_json(path)
            if result is not None and "decoding" in result:
                runs[path.stem] = result
        if not runs:
            raise ValueError(f"no results in {folder}")
        expected = []
        for corpus, task in TASKS.items():
            latent = [f"{corpus}-latent-{k}" for k in range(min(n_seeds, task.seeds))]
            expected += [] if task.crf is None else [task.plain_run]
            expected += latent + ([f"{corpus}-latent-0-dev"] if task.pictured else [])
        out = cls(folder, runs, {}, [name for name in expected if name not in runs])
        for corpus in TASKS:
            for model in ("crf", "latent"):
                settings = [run["settings"] for run in out.of_model(corpus, model).values()]
                if any(s != settings[0] for s in settings):
                    raise ValueError(f"runs of {corpus}-{model} have different settings: they are no one experiment")
            for name in out.of_model(corpus, "latent"):
                out.tests[name] = compare(folder, name, TASKS[corpus].plain_run, n_permutations=n_permutations)
        return out

    @property
    def any_run(self) -> dict:
        """One of the runs, for what is the same in all."""
        return next(iter(self.runs.values()))

    def of_model(self, corpus: str, model: str, *, dev: bool = False, trial: bool = False) -> dict[str, dict]:
        """Runs of a model, by name."""
        return {
            name: run
            for name, run in self.runs.items()
            if (run["run"]["corpus"], run["run"]["model"], run["run"]["dev"]) == (corpus, model, dev)
            and bool(run["trial"]) == trial
        }

    def decoders(self, corpus: str, key: str) -> list[dict]:
        """What a decoder found, one entry a seed that has it.

        ``"crf"`` is the plain CRF's, ``"ldi_approx"`` that of the tables.
        """
        if key == "crf":
            plain = self.runs.get(TASKS[corpus].plain_run)
            return [] if plain is None else [plain["decoding"]["decoders"]["viterbi"]]
        found = []
        for run in self.of_model(corpus, "latent").values():
            decoders = run["decoding"]["decoders"]
            key_of_run = f"ldi_approx_{paper_paths(run)}" if key == "ldi_approx" else key
            if key_of_run in decoders:
                found.append(decoders[key_of_run])
        return found


def paper_paths(run: dict) -> int:
    """Which number of paths of the published search stands for the paper's."""
    return min(run["decoding"]["settings"]["n_paths"], key=lambda n: abs(n - _PAPER_PATHS))


def mean(found: list[dict], key: str, digits: int = 2) -> str:
    """Mean and standard deviation over seeds."""
    values = [entry[key] for entry in found]
    spread = f" ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.{digits}f}{spread}"
