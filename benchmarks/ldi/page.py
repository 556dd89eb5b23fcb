# SPDX-License-Identifier: BSD-3-Clause
"""The page of the experiments, from result files only: no figure is copied by hand."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..experiments import read_json, sittings
from ..plots import draw
from ..rst import bullets, paragraph, table, title
from .compare import compare
from .published import PUBLISHED, TABLES
from .tasks import TASKS

__all__ = ["render"]

_HEAD = """\
Exact decoding: the experiments of Sun and Tsujii (2009)
========================================================

.. This page is written by ``python -m benchmarks.reproduce_ldi --render``.

"""
_NAMES = {
    "ldi_exact": "LDI-E: ``ldi_exact``",
    "ldi_approx": "LDI-A: ``ldi_approx``",
    "bhp": "BHP: ``bhp``",
    "bmp": "BMP: ``bmp``",
    "mbr": "MBR: ``mbr``",
    "crf": "CRF: ``n_latent=1``",
}
#: The number of latent paths of the paper's tables; the nearest of the grid is taken.
_PAPER_PATHS = 30
_LIKELY = 0.05
_COMMAND = "python -m benchmarks.reproduce_ldi"
#: Settings of training that the command line has, in its order.
_OPTIONS = ("max_iter", "sigma", "init_scale", "min_df")


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
        for corpus in TASKS:
            expected += [f"{corpus}-crf-0", *(f"{corpus}-latent-{k}" for k in range(n_seeds)), f"{corpus}-latent-0-dev"]
        out = cls(folder, runs, {}, [name for name in expected if name not in runs])
        for corpus in TASKS:
            for model in ("crf", "latent"):
                settings = [run["settings"] for run in out.of_model(corpus, model).values()]
                if any(s != settings[0] for s in settings):
                    raise ValueError(f"runs of {corpus}-{model} have different settings: they are no one experiment")
            for name in out.of_model(corpus, "latent"):
                out.tests[name] = compare(folder, name, f"{corpus}-crf-0", n_permutations=n_permutations)
        return out

    def of_model(self, corpus: str, model: str, *, dev: bool = False, trial: bool = False) -> dict[str, dict]:
        """Runs of a model, by name."""
        return {
            name: run
            for name, run in self.runs.items()
            if (run["run"]["corpus"], run["run"]["model"], run["run"]["dev"]) == (corpus, model, dev)
            and bool(run["trial"]) == trial
        }

    def decoders(self, corpus: str, key: str) -> list[dict]:
        """What a decoder found, one entry a seed; ``"crf"`` is the plain CRF's, ``"ldi_approx"`` that of the tables."""
        if key == "crf":
            return [run["decoding"]["decoders"]["viterbi"] for run in self.of_model(corpus, "crf").values()]
        found = []
        for run in self.of_model(corpus, "latent").values():
            decoders = run["decoding"]["decoders"]
            found.append(decoders[f"ldi_approx_{_paper_paths(run)}" if key == "ldi_approx" else key])
        return found


def _paper_paths(run: dict) -> int:
    return min(run["decoding"]["settings"]["n_paths"], key=lambda n: abs(n - _PAPER_PATHS))


def render(folder: Path, docs: Path, *, n_seeds: int, n_permutations: int, say: Callable[[str], None]) -> None:
    """Write ``experiments/ldi.rst`` and its pictures, ``images/ldi-*.svg``, into the documentation's folder.

    Parameters
    ----------
    folder : Path
        Of the results.
    docs : Path
    n_seeds : int
        Latent models of each corpus that the experiment asks for; the page names those that are missing.
    n_permutations : int
        Of the randomization test, where it was not made yet.
    say : callable
        Told what could not be drawn.
    """
    results = Results.of(folder, n_seeds, n_permutations)
    parts = [_HEAD + _introduction(results), _what_was_run(results)]
    for number in sorted(TABLES):
        parts.append(_paper_table(results, number))
    parts += [_searches(results), _significance(results, n_permutations), _pictures(results, docs / "images", say)]
    parts += [_trials(results), _differences(results), _machine(results)]
    page = docs / "experiments" / "ldi.rst"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text("\n".join(part for part in parts if part), encoding="utf-8")
    say(f"written: {page.name}" + (f"; missing: {', '.join(results.missing)}" if results.missing else ""))


def _any(results: Results) -> dict:
    return next(iter(results.runs.values()))


def _settings(results: Results, corpus: str) -> dict | None:
    """Of training the latent models of a corpus, or, if there are none, of the plain one."""
    for model, dev in (("latent", False), ("latent", True), ("crf", False)):
        for run in results.of_model(corpus, model, dev=dev).values():
            return run["settings"]
    return None


def _introduction(results: Results) -> str:
    quick = _any(results)["settings"]["quick"]
    commands = ""
    for corpus in TASKS:
        settings = _settings(results, corpus)
        if settings is not None:
            options = " ".join(f"--{key.replace('_', '-')} {settings[key]}" for key in _OPTIONS)
            commands += f"   {_COMMAND} {'--quick ' if quick else ''}--corpus {corpus} {options} --results FOLDER\n"
    text = [
        paragraph(
            """X. Sun and J. Tsujii, "Sequential Labeling with Latent Variables: An Exact Inference Algorithm and Its
            Efficient Approximation" (EACL 2009), find the most probable *label* sequence of a latent chain by going
            through latent paths, best first, until no other label sequence can have more probability (LDI-E), or until
            30 paths are seen (LDI-A). Here their tables and figures are made again with this package. LDI-A is their
            search (``ldi_approx``); LDI-E is ours over label prefixes (:doc:`../decoding`), which has the same answer
            by definition and proves it sentence by sentence."""
        ),
        f"""\
.. code-block:: sh

{commands}\
   {_COMMAND} --results FOLDER --render    # this page
   {_COMMAND} --quick --results FOLDER2    # the corpus shipped inside, seconds
""",
    ]
    if quick:
        text.append(".. warning:: Quick mode: a small corpus stands in for both, and a few iterations of training.\n")
    return "\n".join(text)


def _what_was_run(results: Results) -> str:
    rows = []
    for corpus, task in TASKS.items():
        runs = results.of_model(corpus, "crf") | results.of_model(corpus, "latent")
        for run in [*runs.values(), *results.of_model(corpus, "latent", dev=True).values()]:
            t, s = run["training"], run["settings"]
            rows.append(
                [
                    f"{task.title}, {'CRF' if run['run']['model'] == 'crf' else 'latent'}",
                    "" if run["run"]["model"] == "crf" else str(run["run"]["seed"]),
                    "held-out" if run["run"]["dev"] else "test",
                    f"{t['n_labels']} x {s['n_latent']}",
                    f"{s['sigma']:g}",
                    "0" if run["run"]["model"] == "crf" else f"±{s['init_scale']:g}",
                    f"{t['n_features']:,}",
                    f"{t['n_weights']:,}",
                    f"{t['n_iter']}{'' if t['converged'] else ' (limit)'}",
                    f"{t['objective']:.1f}",
                    f"{t['seconds']:.0f}",
                ]
            )
    head = [
        "model", "seed", "judged by", "states", "sigma", "start", "features", "weights", "iterations", "objective",
        "training, s",
    ]  # fmt: skip
    text = [
        title("What was run"),
        paragraph(
            """Latent models start from weights drawn uniformly from a range (*start*) and have a limit of iterations of
            L-BFGS; the plain CRF has the same features and starts at zero. *(limit)*: the objective was still falling
            when the iterations ended. NP chunking:
            words only, every template also on pairs of states. Bio-NER: words, parts of speech, affixes and shapes, on
            states alone. Models judged by the held-out part were trained without it: a tenth of the training part,
            whole abstracts for Bio-NER, the last sentences for NP chunking. Scores are those of the test part, but
            in the pictures and among the choices."""
        ),
        table(head, rows),
        _missing(results),
    ]
    return "\n".join(text)


def _missing(results: Results) -> str:
    if not results.missing:
        return paragraph("Nothing is missing.")
    words = []
    for corpus, task in TASKS.items():
        gone = [name.removeprefix(f"{corpus}-") for name in results.missing if name.startswith(f"{corpus}-")]
        seeds = [name.removeprefix("latent-") for name in gone if name.removeprefix("latent-").isdigit()]
        if "crf-0" in gone:
            words.append(f"{task.title}: the plain CRF")
        if seeds:
            words.append(f"{task.title}: latent models of seed{'s'[: len(seeds) - 1]} {', '.join(seeds)}")
        if "latent-0-dev" in gone:
            words.append(f"{task.title}: the latent model of the pictures")
    gone = "; ".join(words)
    return paragraph(
        f"""**Missing.** {gone}. The commands above do these and leave what is there; means and standard deviations
        below are over the seeds that are there, and where there is one seed there is no deviation."""
    )


def _mean(found: list[dict], key: str, digits: int = 2) -> str:
    """Mean and standard deviation over seeds."""
    values = [entry[key] for entry in found]
    spread = f" ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.{digits}f}{spread}"


def _paper_table(results: Results, number: int) -> str:
    corpus, keys = TABLES[number]
    columns = {"sentence_accuracy": "S.A.", "precision": "Pre", "recall": "Rec", "f1": "F1", "seconds_with_scores": "s"}
    rows = []
    for key in keys:
        found = results.decoders(corpus, key)
        known = PUBLISHED[corpus].get(key, {})
        row = [_NAMES[key]]
        for column in columns:
            row += [_mean(found, column) if found else "not run", known.get(column, "")]
        rows.append(row)
    head = [""]
    for name in columns.values():
        head += [name, "paper"]
    text = [title(f"Table {number}: {TASKS[corpus].title}{', minimum Bayes risk' if number == 5 else ''}")]
    if number == min(TABLES):
        text.append(
            paragraph(
                f"""Of the test part, in per cent: sentences labelled right throughout (S.A.), precision, recall and F1
                of chunks, counted as the CoNLL script does; mean ± standard deviation over seeds. Beside each figure
                the published one; those marked † are recalled and were not read again, an empty cell is one that is not
                known. Seconds are processor time of one thread for the whole test part, features made beforehand; the
                paper's are of another program and machine. LDI-A takes {_paper_paths_text(results)} latent paths, MBR
                compares the {_decoding_settings(results)["mbr_paths"]} most probable label sequences."""
            )
        )
    text.append(table(head, rows))
    gap = _distance(results, corpus, keys)
    if gap and number != 5:
        text.append(gap)
    return "\n".join(text)


def _decoding_settings(results: Results) -> dict:
    return _any(results)["decoding"]["settings"]


def _paper_paths_text(results: Results) -> str:
    return str(_paper_paths(_any(results)))


def _distance(results: Results, corpus: str, keys: list[str]) -> str:
    """Sentences on how far the figures are from the published ones, and the latent model from the plain one."""
    words = []
    for key in keys:
        found, known = results.decoders(corpus, key), PUBLISHED[corpus].get(key)
        if found and known:
            difference = statistics.mean(entry["f1"] for entry in found) - float(known["f1"].rstrip("†"))
            words.append(f"{_NAMES[key].split(':')[0]} {difference:+.2f}")
    return paragraph(f"F1 here minus published: {', '.join(words)}.") if words else ""


def _searches(results: Results) -> str:
    text = [
        title("Proofs, paths and seconds"),
        paragraph(
            """Test part, means over seeds. *Proven*: share of the sentences whose labels are proven to be the most
            probable ones (the paper's exactitude). *Paths*: latent paths taken by the published search, or label
            sequences compared by ``mbr``, a sentence. *Expanded*: steps of the search a token. *Decoding*: seconds of
            processor time, on one thread, from scores on (exponentials, the search, the probability of the answer);
            *with scores*: those of the products of features and weights too, made once for all. Features are made
            before either. *F1, strict*: an I that no B opens counts for nothing, as in the authors' scorer."""
        ),
    ]
    for corpus, task in TASKS.items():
        runs = results.of_model(corpus, "latent")
        if not runs:
            continue
        base = statistics.mean(entry["seconds"] for entry in results.decoders(corpus, "bhp"))
        rows = []
        keys = list(next(iter(runs.values()))["decoding"]["decoders"])
        for key in [*keys, *(["crf"] if results.decoders(corpus, "crf") else [])]:
            found = results.decoders(corpus, key)
            seconds = statistics.mean(entry["seconds"] for entry in found)
            rows.append(
                [
                    _decoder_name(key),
                    _mean(found, "f1"),
                    _mean(found, "f1_discard"),
                    f"{statistics.mean(entry['exactitude'] for entry in found):.2f} %",
                    f"{statistics.mean(entry['mean_paths'] for entry in found):.1f}",
                    f"{statistics.mean(entry['expanded_per_token'] for entry in found):.2f}",
                    f"{seconds:.3f}",
                    f"{statistics.mean(entry['seconds_with_scores'] for entry in found):.3f}",
                    f"{seconds / base:.2f}",
                ]
            )
        head = ["", "F1", "F1, strict", "proven", "paths", "expanded", "decoding, s", "with scores, s", "times bhp"]
        passes = [run["decoding"]["seconds"] for run in runs.values()]
        forward, viterbi = (statistics.mean(p[name] for p in passes) for name in ("forward", "viterbi"))
        text += [
            f"{task.title}:\n",
            table(head, rows),
            paragraph(
                f"""In the same run one forward pass took {forward:.3f} s and one Viterbi pass over the states
                {viterbi:.3f} s, exponentials included where there are any. ``bhp`` is that Viterbi pass and the
                probability of its labels."""
            ),
        ]
    return "\n".join(text)


def _decoder_name(key: str) -> str:
    kind, _, n = key.rpartition("_")
    if kind == "ldi_approx":
        return f"``ldi_approx``, n = {int(n):,}"
    return "CRF, Viterbi" if key == "crf" else f"``{key}``"


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _significance(results: Results, n_permutations: int) -> str:
    text = [
        title("Are the differences more than luck?"),
        paragraph(
            f"""Differences in per cent, mean over seeds, the first named minus the second; p-values of McNemar's test
            on sentences right or wrong (Gillick and Cox 1989) and of a randomization test on F1 ({n_permutations:,}
            swappings): the median over seeds, and for how many seeds it is below {_LIKELY}. Each seed is tested by
            itself: a test within a seed says nothing of other starts of training."""
        ),
    ]
    for corpus, task in TASKS.items():
        tests = [results.tests[name] for name in results.of_model(corpus, "latent")]
        if not tests:
            continue
        rows = []
        for key in tests[0]:
            if not all(key in t for t in tests):
                continue
            row = ["``mbr`` - CRF" if key == "mbr over crf" else f"``ldi_exact`` - {_decoder_name(key)}"]
            for difference, test in (("sentences", "mcnemar"), ("f1", "randomization")):
                values = [t[key][test] for t in tests]
                below = sum(value < _LIKELY for value in values)
                # Adding zero takes the sign from a zero.
                row.append(f"{round(statistics.mean(t[key][difference] for t in tests), 2) + 0.0:+.2f}")
                row.append(f"{_p(statistics.median(values))} ({below} of {len(values)})")
            rows.append(row)
        head = ["", "sentences right", "McNemar's p", "F1", "randomization p"]
        text += [f"{task.title}:\n", table(head, rows)]
    return "\n".join(text)


def _pictures(results: Results, folder: Path, say: Callable[[str], None]) -> str:
    """Figures 2, 4 and 5, of models that were trained without the part that judges them."""
    devs = {}
    for corpus in TASKS:
        for name, run in results.of_model(corpus, "latent", dev=True).items():
            devs[corpus] = (run, results.folder / f"{name}.mass.npz")
    if not devs:
        return ""
    text = [
        title("Figures"),
        paragraph("Of the held-out part of the training data, which the models of these pictures were not trained on."),
    ]
    figures = {}
    masses = {corpus: _read_mass(path) for corpus, (_, path) in devs.items() if path.exists()}
    if masses:
        held = "; ".join(
            f"{TASKS[corpus].title}: {_share(mass, 1)} by the best one, {_share(mass, 30)} by 30, "
            f"{_share(mass, mass.shape[1])} by {mass.shape[1]:,}"
            for corpus, mass in masses.items()
        )
        figures["mass"] = (
            lambda figure: _draw_masses(figure, masses),
            f"""The paper's figure 2: probability of the most probable latent paths together. Mean over sentences:
            {held}.""",
        )
    for number, corpus in ((4, "bio"), (5, "np")):
        if corpus in devs:
            run = devs[corpus][0]
            figures[corpus] = (
                lambda figure, run=run: _draw_curve(figure, run),
                f"""The paper's figure {number}, {TASKS[corpus].title}: F1, share of the sentences proven, latent paths
                taken and seconds of decoding (scores made beforehand, {run["decoding"]["n_sentences"]:,} sentences)
                against the most latent paths that the published search may take; dashed, the exact search over label
                prefixes.""",
            )
    for name, (plot, words) in figures.items():
        path = folder / f"ldi-{name}.svg"
        drawn = draw(plot, path)
        if not drawn:
            say(f"{path.name}: matplotlib is not installed, not drawn")
        if drawn or path.exists():
            words = " ".join(words.split())
            text.append(f".. figure:: ../images/{path.name}\n   :alt: {words}\n\n   {words}\n")
    return "\n".join(text)


def _read_mass(path: Path) -> np.ndarray:
    with np.load(path, allow_pickle=False) as archive:
        return archive["mass"]


def _share(mass: np.ndarray, n: int) -> str:
    return f"{100 * float(mass[:, min(n, mass.shape[1]) - 1].mean()):.0f} %"


def _draw_masses(figure, masses: dict[str, np.ndarray]) -> None:
    from sklearn_latent.inspection import LatentMassDisplay

    axes = figure.subplots(1, len(masses), squeeze=False)[0]
    for ax, (corpus, mass) in zip(axes, masses.items(), strict=True):
        LatentMassDisplay(mass.astype(np.float64)).plot(ax=ax)
        ax.set_title(TASKS[corpus].title)
    for ax in axes[1:]:
        ax.get_legend().remove()  # the first one serves all, and there is no room


def _draw_curve(figure, run: dict) -> None:
    from sklearn_latent.inspection import DecoderCurveDisplay

    figure.set_size_inches(7.2, 5.0)
    points, decoders = run["decoding"]["settings"]["n_paths"], run["decoding"]["decoders"]
    found, exact = [decoders[f"ldi_approx_{n}"] for n in points], decoders["ldi_exact"]
    DecoderCurveDisplay(
        n_paths=points,
        score=[entry["f1"] for entry in found],
        exactitude=[entry["exactitude"] for entry in found],
        mean_paths=[entry["mean_paths"] for entry in found],
        seconds=[entry["seconds"] for entry in found],
        score_name="chunk F1",
        exact={"score": exact["f1"], "exactitude": exact["exactitude"], "seconds": exact["seconds"]},
    ).plot(axes=figure.subplots(2, 2))


def _trials(results: Results) -> str:
    """What was tried on the held-out part, if anything was."""
    rows = []
    for corpus, task in TASKS.items():
        for model in ("crf", "latent"):
            for run in results.of_model(corpus, model, dev=True, trial=True).values():
                found = next(iter(run["decoding"]["decoders"].values()))
                setting = ", ".join(f"{key} = {value:g}" for key, value in run["trial"].items())
                rows.append(
                    [
                        f"{task.title}, {'CRF' if model == 'crf' else 'latent'}",
                        setting,
                        str(run["training"]["n_iter"]),
                        f"{found['f1']:.2f}",
                        f"{found['sentence_accuracy']:.2f}",
                    ]
                )
    if not rows:
        return ""
    return "\n".join(
        [
            title("Choices"),
            paragraph(
                """Tried on the held-out part, trained on the rest, decoded exactly (``--tune``); what is not here is as
                in the paper or was not tried. The start of NP chunking was looked into after a first model, from ±0.1,
                had done worse than the plain CRF on the test part; which start is better was then decided here."""
            ),
            table(["model", "setting", "iterations", "F1", "S.A."], rows),
        ]
    )


def _differences(results: Results) -> str:
    settings = [s for s in (_settings(results, corpus) for corpus in TASKS) if s is not None]
    starts = " and ".join(sorted({f"±{s['init_scale']:g}" for s in settings}))
    rare = " and ".join(sorted({str(s["min_df"]) for s in settings}))
    runs = [run for corpus in TASKS for run in results.of_model(corpus, "latent").values()]
    iterations = [run["training"]["n_iter"] for run in runs]
    strict = max(
        (abs(d["f1"] - d["f1_discard"]) for run in runs for d in run["decoding"]["decoders"].values()), default=0.0
    )
    items = [
        """Parts of speech and shapes of words (Bio-NER). The parts of speech are those that a tagger gave the corpus we
        have; the paper's are another tagger's. Its classes of prefix, suffix and case are not given; ours are affixes
        of one to four characters at the token and runs of character classes in windows.""",
        f"""Scorer. Chunks are counted as the CoNLL script counts, where an I that follows no chunk of its type opens
        one; in the authors' scorer only a B does. Only outputs that are no valid labelling differ, which models without
        constraints can produce, ``bmp`` most of all: by at most {strict:.2f} of F1 here.""",
        """Held-out part. The paper's is not known; ours is described above. So its figures and ours are of different
        sentences.""",
        f"""Rare features. The paper leaves them out and does not say which; here those of fewer than {rare} training
        tokens.""",
        f"""Training. The authors extended the L-BFGS of another library, whose start is uniform in ±1; here it is our
        L-BFGS from {starts}, stopped after {_range(iterations)} iterations, a limit that was set by time.
        More iterations and a choice among starts may change the scores.""",
        """Edge features. The paper puts every template on pairs of states in both tasks. Bio-NER has 44 states here as
        there: with such features each token has a table of 1,936 scores of its own, where now one table serves all.
        They are left out of the plain CRF too, so that the two rows compare; both therefore see less than the paper's
        models.""",
        """Sentences. Bio-NER has 18,546 training and 3,856 test sentences; larger counts in the literature include the
        lines that name an abstract.""",
        """MBR. The paper's candidates are the label sequences that LDI-A came across, ours the most probable ones,
        found exactly.""",
        """Seconds. Another program on another machine, many years later: only ratios within a column can be
        compared.""",
    ]
    return "\n".join([title("What differs from the paper"), bullets(items)])


def _range(values: list[int]) -> str:
    if not values:
        return "a limited number of"
    return str(min(values)) if min(values) == max(values) else f"{min(values)} to {max(values)}"


def _machine(results: Results) -> str:
    runs = list(results.runs.values())
    machine = sittings([run["decoding"]["machine"] for run in runs])
    threads = " or ".join(map(str, sorted({run["training"]["threads"] for run in runs})))
    return "\n".join(
        [
            title("The machine"),
            paragraph(f"{machine} Training used {threads} thread(s), decoding one."),
        ]
    )
