# SPDX-License-Identifier: BSD-3-Clause
"""One run: train a model, decode with it in every way, and keep it all in files that a later sitting goes on from."""

from __future__ import annotations

import io
import statistics
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from sklearn_latent import LatentCRFTagger, SequenceMatrix
from sklearn_latent._lattice import Lattice
from sklearn_latent._taggers.options import make_decoder
from sklearn_latent._threads import one_blas_thread
from sklearn_latent.exceptions import ConvergenceWarning
from sklearn_latent.feature_extraction import TemplateVectorizer
from sklearn_latent.io import load_model, save_model
from sklearn_latent.io._atomic import atomic_write
from sklearn_latent.metrics import chunk_precision_recall_fscore_support, sequence_accuracy_score

from ..experiments import check_settings, read_json, trial_name, write_json
from ..harness import machine
from ..workers.common import Clock, Stamps
from .tasks import COLUMNS, STATES, TASKS, TEMPLATES, Data

__all__ = ["CLOCK", "Run", "read_labels"]

#: A decoder that takes longer than this is timed once.
_SLOW = 5.0
#: Decoding has one thread, whose processor time neighbours on the machine disturb less than the clock on the wall.
CLOCK = "processor"


@dataclass(frozen=True)
class Run:
    """A model of a corpus and what is done with it.

    Attributes
    ----------
    corpus : str
        Name of a task.
    model : {"crf", "latent"}
    seed : int
    settings : dict
        Of training: those of `Task`, and ``quick``.
    decoding : dict
        ``n_paths`` (of the published search), ``mbr_paths``, ``mass_paths``, ``mass_sentences``, ``repeats``,
        ``clock``.
    dev : bool
        Trained without a third of the training part, and judged by that; else judged by the test part.
    trial : dict
        Settings that differ from the usual ones, of a model trained to choose them.
    """

    corpus: str
    model: str
    seed: int
    settings: dict = field(hash=False)
    decoding: dict = field(hash=False)
    dev: bool = False
    trial: dict = field(default_factory=dict, hash=False)

    @property
    def name(self) -> str:
        """Beginning of the names of its files."""
        return f"{self.corpus}-{self.model}-{self.seed}{'-dev' if self.dev else ''}{trial_name(self.trial)}"

    def do(self, folder: Path, *, jobs: int, say: Callable[[str], None]) -> bool:
        """Do what the files in `folder` lack; False if that was nothing.

        Raises
        ------
        ValueError
            If a result that is there comes from other settings of training.
        """
        path = folder / f"{self.name}.json"
        result = read_json(path)
        if result is not None:
            check_settings(result, self.settings, path)
            if result.get("decoding", {}).get("settings") == self.decoding:
                say(f"{self.name}: there already")
                return False
        data = TASKS[self.corpus].data(quick=self.settings["quick"], dev=self.dev)
        vectorizer = TemplateVectorizer(
            TEMPLATES[self.settings["templates"]], columns=COLUMNS, min_df=self.settings["min_df"]
        )
        X, held = vectorizer.fit_transform(data.train), vectorizer.transform(data.test)
        model_path = folder / f"{self.name}.model.zip"
        if result is None:
            model, training = self._tried(folder) or (None, None)
            if model is None:
                say(f"{self.name}: training")
                model, training = self._train(X, data.train_labels, jobs, say)
            else:
                say(f"{self.name}: trained already to choose its settings")
            save_model(model, model_path)
            result = {
                "run": {"corpus": self.corpus, "model": self.model, "seed": self.seed, "dev": self.dev},
                "trial": self.trial,
                "settings": self.settings,
                "training": training,
            }
            write_json(path, result)
        else:
            model = load_model(model_path)
        del X  # decoding is timed without what only training needs
        say(f"{self.name}: decoding")
        result["decoding"] = self._decode(model, held, data, folder, jobs)
        write_json(path, result)
        best = result["decoding"]["decoders"]
        best = best.get("ldi_exact", best.get("viterbi"))
        say(f"{self.name}: F1 {best['f1']:.2f}, sentences right {best['sentence_accuracy']:.2f} %")
        return True

    def _tried(self, folder: Path) -> tuple[LatentCRFTagger, dict] | None:
        """The model of a trial with the settings of this run on the held-out part, and how it was trained."""
        if not self.dev or self.trial:
            return None
        for path in sorted(folder.glob(f"{self.name}-*=*.json")):
            result = read_json(path)
            if result is not None and result["settings"] == self.settings:
                return load_model(path.with_name(f"{path.stem}.model.zip")), result["training"]
        return None

    def _train(self, X: SequenceMatrix, y: list, jobs: int, say) -> tuple[LatentCRFTagger, dict]:
        stamps = Stamps()

        def callback(info) -> None:
            stamps()
            if info.n_iter % 25 == 0:
                say(f"  {info.n_iter} iterations, objective {info.objective:.1f}, {info.seconds:.0f} s")

        settings = self.settings
        model = LatentCRFTagger(
            STATES.get(settings["n_latent"], settings["n_latent"]),
            sigma=settings["sigma"],
            init_scale=settings["init_scale"],
            max_iter=settings["max_iter"],
            solver=settings["solver"],
            batch_size=settings["batch_size"],
            support=settings["support"],
            edge_features=_edges(settings["edges"], X),
            n_jobs=jobs,
            random_state=self.seed,
            callback=callback,
        )
        with warnings.catch_warnings(), Clock() as clock:
            # The number of iterations is limited on purpose; the result says whether it was enough.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, y)
        model.set_params(callback=None)  # what can't be saved
        return model, {
            "n_sentences": len(X),
            "n_tokens": X.n_tokens,
            "n_features": X.n_features,
            "n_labels": len(model.classes_),
            "n_states": len(model.state_labels_),
            "n_weights": sum(v.size for v in model._model.params.values()),
            "n_iter": int(model.n_iter_),
            "converged": bool(model.converged_),
            "objective": float(model.objective_),
            "seconds": clock.wall,
            "cpu": clock.cpu,
            "seconds_per_iteration": stamps.report()["iteration"],
            "threads": jobs,
            "machine": machine(),
        }

    def _plan(self) -> dict[str, tuple[str, dict]]:
        """Decoders and their options by the names they go by in the results."""
        if self.model == "crf":
            return {"viterbi": ("bhp", {})}
        plan: dict[str, tuple[str, dict]] = {"ldi_exact": ("ldi_exact", {})}
        if not self.trial:
            plan |= {"bhp": ("bhp", {}), "bmp": ("bmp", {}), "mbr": ("mbr", {"n_paths": self.decoding["mbr_paths"]})}
            plan |= {f"ldi_approx_{n}": ("ldi_approx", {"n_paths": n}) for n in self.decoding["n_paths"]}
        return plan

    def _decode(self, model: LatentCRFTagger, X: SequenceMatrix, data: Data, folder: Path, jobs: int) -> dict:
        gold, decoders, labels = data.test_labels, {}, {}
        model.set_params(n_jobs=1)  # times are those of one thread
        with one_blas_thread():
            lattices, times = _score(model, X, self.decoding["repeats"])
            for key, (decoder, options) in self._plan().items():
                codes, decoders[key] = _decode_lattices(model, lattices, decoder, options, self.decoding["repeats"])
                labels[key] = model._codec().decode(codes, X.offsets)
                decoders[key] |= _scores(gold, labels[key])
                decoders[key]["seconds_with_scores"] = decoders[key]["seconds"] + times["scores"]
        _write_labels(folder / f"{self.name}.labels.npz", gold, labels)
        if self.dev and self.model == "latent" and not self.trial:
            model.set_params(n_jobs=jobs)
            count, n = self.decoding["mass_sentences"], self.decoding["mass_paths"]
            # Evenly over the part, which goes by texts.
            chosen = np.unique(np.linspace(0, len(X) - 1, min(count, len(X))).round().astype(int))
            mass = model._latent_path_mass(X[chosen], n).astype(np.float32)
            with atomic_write(folder / f"{self.name}.mass.npz") as file:
                np.savez_compressed(file, mass=mass)
        return {
            "settings": self.decoding,
            "n_sentences": len(X),
            "n_tokens": X.n_tokens,
            "seconds": times,
            "decoders": decoders,
            "machine": machine(),
        }


def _edges(kind: str, X: SequenceMatrix) -> bool | list[int]:
    """Features with weights on pairs of states, as the tagger takes them; no callable, which could not be saved."""
    if kind in ("all", "none"):
        return kind == "all"
    return [k for k, name in enumerate(X.feature_names.tolist()) if name.startswith("w[0]=")]


def _score(model: LatentCRFTagger, X: SequenceMatrix, repeats: int) -> tuple[list[Lattice], dict]:
    """The scores of all sequences, and processor seconds of making them, of a forward pass and of a Viterbi pass."""
    seconds: dict[str, list[float]] = {"scores": [], "forward": [], "viterbi": []}
    for _ in range(repeats):
        lattices = None  # not two at a time
        began = time.process_time()
        lattices = [make()[0] for make in model._lattices([X], None)]
        seconds["scores"].append(time.process_time() - began)
    for _ in range(repeats):
        for name, walk in (("forward", lambda lattice: lattice.free_log_sum), ("viterbi", Lattice.best_path)):
            fresh = [_fresh(lattice) for lattice in lattices]
            began = time.process_time()
            for lattice in fresh:
                walk(lattice)
            seconds[name].append(time.process_time() - began)
    return lattices, {name: statistics.median(values) for name, values in seconds.items()}


def _fresh(lattice: Lattice) -> Lattice:
    """The same scores without what an earlier pass has kept (exponentials, sums)."""
    return Lattice(lattice.topology, lattice.node, lattice.arc, lattice.offsets)


def _decode_lattices(model, lattices: list[Lattice], decoder: str, options: dict, repeats: int):
    """Label ids, and what the decoder says of itself; its seconds are processor time after the scores."""
    known = {
        "decoder": decoder, "n_paths": model.n_paths, "alpha": 1.0, "mbr_metric": "chunk_f1",
        "max_search": model.max_search, "epsilon": 0.0,
    } | options  # fmt: skip
    method = make_decoder(known, model.classes_.tolist(), None)
    seconds: list[float] = []
    while len(seconds) < repeats and sum(seconds) < _SLOW:
        fresh = [_fresh(lattice) for lattice in lattices]
        began = time.process_time()
        parts = [method.decode(lattice) for lattice in fresh]
        seconds.append(time.process_time() - began)

    def joined(name: str) -> np.ndarray:
        return np.concatenate([getattr(part, name) for part in parts])

    codes = joined("codes")
    return codes, {
        "exactitude": 100 * float(joined("exact").mean()),
        "mean_paths": float(joined("n_paths").mean()),
        "mean_expanded": float(joined("n_expanded").mean()),
        "expanded_per_token": float(joined("n_expanded").sum() / max(1, len(codes))),
        "mean_log_prob": float(joined("log_prob").mean()),
        "seconds": statistics.median(seconds),
    }


def _scores(gold: list, labels: list) -> dict:
    def chunks(invalid: str) -> tuple:
        return chunk_precision_recall_fscore_support(
            gold, labels, average="micro", scheme="iob2", invalid=invalid, zero_division=0.0
        )

    precision, recall, f1, _ = chunks("conlleval")
    return {
        "precision": 100 * float(precision),
        "recall": 100 * float(recall),
        "f1": 100 * float(f1),
        # As the authors' scorer does: an I that no B opens is no chunk.
        "f1_discard": 100 * float(chunks("discard")[2]),
        "sentence_accuracy": 100 * float(sequence_accuracy_score(gold, labels)),
    }


def _write_labels(path: Path, gold: list, labels: dict[str, list]) -> None:
    """True and found labels as numbers; no word of the corpus."""
    every = [gold, *labels.values()]
    names = sorted({label for y in every for sequence in y for label in sequence})
    code = {name: k for k, name in enumerate(names)}

    def coded(y: list) -> np.ndarray:
        return np.array([code[label] for sequence in y for label in sequence], dtype=np.int16)

    buffer = io.BytesIO()
    np.savez_compressed(
        buffer, names=np.array(names), lengths=np.array([len(sequence) for sequence in gold]), gold=coded(gold),
        **{f"found_{key}": coded(y) for key, y in labels.items()},
    )  # fmt: skip
    with atomic_write(path) as file:
        file.write(buffer.getvalue())


def read_labels(path: Path) -> tuple[list, dict[str, list]]:
    """True labels and those found, by decoder."""
    with np.load(path, allow_pickle=False) as archive:
        names, ends = archive["names"], np.cumsum(archive["lengths"])[:-1]

        def labels(key: str) -> list:
            return [part.tolist() for part in np.split(names[archive[key]], ends)]

        found = {key.removeprefix("found_"): labels(key) for key in archive.files if key.startswith("found_")}
        return labels("gold"), found
