# SPDX-License-Identifier: BSD-3-Clause
"""One run: train a model without a fold, judge it by the fold, and keep what was found in a file."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_latent import SPNCRFTagger
from sklearn_latent.exceptions import ConvergenceWarning, InexactDecodingWarning
from sklearn_latent.metrics import sequence_accuracy_score, token_error_rate

from ..corpus import write_split
from ..experiments import check_settings, read_json, trial_name, write_json
from ..harness import Bench, Job, machine
from ..workers.common import Clock
from .models import MODELS, Model
from .tasks import TASKS, Part

__all__ = ["Run"]


@dataclass(frozen=True)
class Run:
    """A model and the fold that judges it.

    Attributes
    ----------
    task : {"folds", "words", "speakers"}
    model : str
        Of `MODELS`.
    fold : int
    quick : bool
        The digits shipped inside, and two passes.
    dev : bool
        Judged by another fold of the training part, which is then not trained on.
    trial : dict
        Settings that differ from the usual ones.
    """

    task: str
    model: str
    fold: int
    quick: bool = False
    dev: bool = False
    trial: dict = field(default_factory=dict, hash=False)

    @property
    def name(self) -> str:
        """Beginning of the name of its file."""
        return f"{self.task}-{self.model}-{self.fold}{'-dev' if self.dev else ''}{trial_name(self.trial)}"

    def do(self, folder: Path, *, jobs: int, crfsuite: str, say: Callable[[str], None]) -> dict | None:
        """Train and judge, unless it is done; None if the package that trains is missing.

        Raises
        ------
        ValueError
            If a result that is there comes from other settings of training.
        """
        path = folder / f"{self.name}.json"
        model = MODELS[self.model].with_trial(self.trial)
        settings = model.settings | {"quick": self.quick}
        result = read_json(path)
        if result is not None:
            check_settings(result, settings, path)
            say(f"{self.name}: there already")
            return result
        constant = model.maker == "linear_crf"
        part = TASKS[self.task].part(self.fold, quick=self.quick, dev=self.dev, constant=constant)
        found = self._peer(model, part, crfsuite) if model.maker in _PEERS else self._ours(model, part, jobs, say)
        if found is None:
            say(f"{self.name}: {model.maker} is not installed, skipped")
            return None
        result = {
            "run": {"task": self.task, "model": self.model, "fold": self.fold, "dev": self.dev},
            "trial": self.trial,
            "settings": settings,
            "n_train": part.X.n_tokens,
            "n_test": part.X_test.n_tokens,
            **found,
            "machine": machine(),
        }
        write_json(path, result)
        say(f"{self.name}: error {result['error']:.2f} %, {result['cpu']:.0f} s of processor")
        return result

    def _ours(self, model: Model, part: Part, jobs: int, say: Callable[[str], None]) -> dict:
        tagger, curve = model.tagger(n_jobs=jobs, random_state=self.fold), []
        with warnings.catch_warnings(), Clock() as clock:
            warnings.simplefilter("ignore", ConvergenceWarning)
            # A beam has no proof, and log_likelihood is exact without it.
            warnings.simplefilter("ignore", InexactDecodingWarning)
            if not model.passes:
                tagger.set_params(max_iter=5 if self.quick else tagger.max_iter).fit(part.X, part.y)
            for passes, rate in [(1, r) for _, r in model.passes] if self.quick else model.passes:
                tagger.set_params(learning_rate=rate)
                for _ in range(passes):
                    tagger.partial_fit(part.X, part.y)
                if self.dev:
                    curve.append({"n_iter": tagger.n_iter_, **_judged(tagger, part)})
                    say(f"  {tagger.n_iter_} passes: error {curve[-1]['error']:.2f} %")
        with Clock() as labelling:
            labels = tagger.predict(part.X_test)
        return {
            **_scores(part.y_test, labels),
            "nll": _judged(tagger, part)["nll"],
            "curve": curve,
            "n_iter": int(tagger.n_iter_),
            "objective": float(tagger.objective_),
            "n_weights": sum(v.size for v in tagger._model.params.values()),
            "n_states": len(tagger.state_labels_),
            "cpu": clock.cpu,
            "cpu_predict": labelling.cpu,
            "threads": jobs,
        }

    def _peer(self, model: Model, part: Part, crfsuite: str) -> dict | None:
        return _PEERS[model.maker](model.params, part, crfsuite)


def _judged(tagger: SPNCRFTagger, part: Part) -> dict:
    return {
        "error": 100 * (1 - float(tagger.score(part.X_test, part.y_test))),
        "nll": -float(tagger.log_likelihood(part.X_test, part.y_test).sum()) / part.X_test.n_tokens,
    }


def _scores(gold: list, labels: list) -> dict:
    return {
        "error": 100 * float(token_error_rate(gold, labels)),
        "sequence_error": 100 * (1 - float(sequence_accuracy_score(gold, labels))),
    }


def _logistic(params: dict, part: Part, _) -> dict:
    model = make_pipeline(StandardScaler(with_std=False), LogisticRegression(**params))
    with warnings.catch_warnings(), Clock() as clock:
        warnings.simplefilter("ignore", ConvergenceWarning.__mro__[1])
        model.fit(part.X.values, np.concatenate([np.asarray(own) for own in part.y]))
    found = np.split(model.predict(part.X_test.values), part.X_test.offsets[1:-1])
    return {**_scores(part.y_test, [own.tolist() for own in found]), "cpu": clock.cpu, "threads": 1}


def _crfsuite(params: dict, part: Part, python: str) -> dict | None:
    with tempfile.TemporaryDirectory() as folder:
        y, y_test = ([[str(label) for label in own] for own in labels] for labels in (part.y, part.y_test))
        path = write_split(Path(folder) / "part.npz", part.X, y, part.X_test, y_test)
        found = Bench(Path(folder), pythons={"crfsuite": python}).run(
            Job("python-crfsuite", "crfsuite", "letters", path, params | {"fold": 1})
        )
    if found is None:
        return None
    return {name: found[name] for name in ("error", "n_iter", "objective", "versions")} | {
        "cpu": found["process_cpu"],
        "threads": 1,
    }


_PEERS: dict[str, Callable[[dict, Part, str], dict | None]] = {"logistic": _logistic, "crfsuite": _crfsuite}
