# SPDX-License-Identifier: BSD-3-Clause
"""Is exact decoding better than each other decoder, or than the plain CRF? Tests on the labels that runs have kept."""

from __future__ import annotations

import hashlib
from pathlib import Path

from sklearn_latent.metrics import mcnemar_test, randomization_test, sequence_accuracy_score

from ..experiments import read_json, write_json
from .runs import read_labels

__all__ = ["compare"]


def compare(folder: Path, name: str, crf: str, *, n_permutations: int) -> dict:
    """Differences of ``ldi_exact`` from the others and their p-values; kept in a file, and made anew if labels changed.

    Parameters
    ----------
    folder : Path
    name : str
        Run of a latent model.
    crf : str
        Run of the plain CRF on the same sentences; left out if it is not there.
    n_permutations : int
        Of the randomization test.

    Returns
    -------
    dict of {str: dict}
        By decoder, and ``"crf"``: ``sentences`` and ``f1``, differences in per cent (exact minus other), ``mcnemar``
        and ``randomization``, p-values. ``"mbr over crf"`` is the same of ``mbr`` minus the CRF.
    """
    paths = [folder / f"{name}.labels.npz", folder / f"{crf}.labels.npz"]
    of = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths if path.exists()}
    kept_at = folder / f"{name}.tests.json"
    kept = read_json(kept_at)
    if kept is not None and kept["of"] == of and kept["n_permutations"] == n_permutations:
        return kept["tests"]
    gold, found = read_labels(paths[0])
    if paths[1].exists():
        crf_gold, crf_found = read_labels(paths[1])
        if crf_gold != gold:
            raise ValueError(f"{name} and {crf} were judged by different sentences")
        found["crf"] = crf_found["viterbi"]
    pairs = {key: ("ldi_exact", key) for key in found if key != "ldi_exact"}
    if "crf" in found:
        pairs["mbr over crf"] = ("mbr", "crf")
    tests = {key: _test(gold, found[a], found[b], n_permutations) for key, (a, b) in pairs.items()}
    write_json(kept_at, {"of": of, "n_permutations": n_permutations, "tests": tests})
    return tests


def _test(gold: list, a: list, b: list, n_permutations: int) -> dict:
    difference, p = randomization_test(
        gold, a, b, metric="chunk_f1", n_permutations=n_permutations, random_state=0
    )  # fmt: skip
    return {
        "sentences": 100 * float(sequence_accuracy_score(gold, a) - sequence_accuracy_score(gold, b)),
        "mcnemar": float(mcnemar_test(gold, a, b).pvalue),
        "f1": 100 * float(difference),
        "randomization": float(p),
    }
