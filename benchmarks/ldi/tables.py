# SPDX-License-Identifier: BSD-3-Clause
"""Tables of scores, of searches and of tests of significance, as sections of the page."""

from __future__ import annotations

import statistics

from ..rst import paragraph, table, title
from .published import PUBLISHED, TABLES
from .results import Results, mean, paper_paths
from .tasks import TASKS

__all__ = ["other_table", "paper_table", "searches", "significance"]

_NAMES = {
    "ldi_exact": "LDI-E: ``ldi_exact``",
    "ldi_approx": "LDI-A: ``ldi_approx``",
    "bhp": "BHP: ``bhp``",
    "bmp": "BMP: ``bmp``",
    "mbr": "MBR: ``mbr``",
    "crf": "CRF: ``n_latent=1``",
}
_LIKELY = 0.05


def _score_table(results: Results, corpus: str, keys: list[str]) -> str:
    """Scores by decoder, beside the published ones where the task has any."""
    columns = {"sentence_accuracy": "S.A.", "precision": "Pre", "recall": "Rec", "f1": "F1", "seconds_with_scores": "s"}
    published = PUBLISHED.get(corpus)
    rows = []
    for key in keys:
        found = results.decoders(corpus, key)
        row = [_NAMES[key]]
        for column in columns:
            row.append(mean(found, column) if found else "not run")
            if published is not None:
                row.append(published.get(key, {}).get(column, ""))
        rows.append(row)
    head = [""]
    for name in columns.values():
        head += [name] if published is None else [name, "paper"]
    return table(head, rows)


def paper_table(results: Results, number: int) -> str:
    corpus, keys = TABLES[number]
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
    text.append(_score_table(results, corpus, keys))
    gap = _distance(results, corpus, keys)
    if gap and number != 5:
        text.append(gap)
    return "\n".join(text)


def other_table(results: Results, corpus: str) -> str:
    """Scores of a task that the paper does not have."""
    if not any(run["run"]["corpus"] == corpus for run in results.runs.values()):
        return ""
    keys = [key for key in _NAMES if results.decoders(corpus, key)]
    return "\n".join([title(TASKS[corpus].title), _score_table(results, corpus, keys)])


def _decoding_settings(results: Results) -> dict:
    return results.any_run["decoding"]["settings"]


def _paper_paths_text(results: Results) -> str:
    return str(paper_paths(results.any_run))


def _distance(results: Results, corpus: str, keys: list[str]) -> str:
    """Sentences on how far the figures are from the published ones, and the latent model from the plain one."""
    words = []
    for key in keys:
        found, known = results.decoders(corpus, key), PUBLISHED[corpus].get(key)
        if found and known:
            difference = statistics.mean(entry["f1"] for entry in found) - float(known["f1"].rstrip("†"))
            words.append(f"{_NAMES[key].split(':')[0]} {difference:+.2f}")
    return paragraph(f"F1 here minus published: {', '.join(words)}.") if words else ""


def searches(results: Results) -> str:
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
        keys = list(max((run["decoding"]["decoders"] for run in runs.values()), key=len))
        rows = [_search_row(results, corpus, key, len(runs)) for key in keys]
        if results.decoders(corpus, "crf"):
            rows.append(_search_row(results, corpus, "crf", 1))
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


def _search_row(results: Results, corpus: str, key: str, n_seeds: int) -> list[str]:
    found = results.decoders(corpus, key)

    def average(name: str) -> float:
        return statistics.mean(entry[name] for entry in found)

    if key == "crf":
        base = statistics.mean(entry["seconds"] for entry in results.decoders(corpus, "bhp"))
    else:  # that of the same runs
        every = [run["decoding"]["decoders"] for run in results.of_model(corpus, "latent").values()]
        base = statistics.mean(decoders["bhp"]["seconds"] for decoders in every if key in decoders)
    few = "" if len(found) == n_seeds else f", {len(found)} of {n_seeds} seeds"
    return [
        f"{_decoder_name(key)}{few}",
        mean(found, "f1"),
        mean(found, "f1_discard"),
        f"{average('exactitude'):.2f} %",
        f"{average('mean_paths'):.1f}",
        f"{average('expanded_per_token'):.2f}",
        f"{average('seconds'):.3f}",
        f"{average('seconds_with_scores'):.3f}",
        f"{average('seconds') / base:.2f}",
    ]


def _decoder_name(key: str) -> str:
    kind, _, n = key.rpartition("_")
    if kind == "ldi_approx":
        return f"``ldi_approx``, n = {int(n):,}"
    return "CRF, Viterbi" if key == "crf" else f"``{key}``"


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def significance(results: Results, n_permutations: int) -> str:
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
