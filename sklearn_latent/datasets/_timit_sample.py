# SPDX-License-Identifier: BSD-3-Clause
"""A sample of TIMIT: read speech with the phones marked."""

from __future__ import annotations

import numpy as np
from sklearn.utils import Bunch

from .._sequences.labels import LabelSequences
from ._base import check_offsets, find_file, label_names, read_arrays
from ._timit_lists import TIMIT_PHONE_FOLDING

__all__ = ["fetch_timit_sample"]

DESCRIPTION = """\
Sample of TIMIT: phones of read speech
--------------------------------------

160 utterances of 16 speakers, a woman and a man from each of 8 dialect regions of American English, ten sentences each;
7,841,548 samples at 16 kHz, 16 bit, mono, which is 8.17 minutes. By hand, each utterance was cut into phones: 6,185
segments of 61 kinds, which follow each other without gaps. The task is to name the segments.

The 61 kinds are usually folded into 39 (Lee and Hon 1989, `TIMIT_PHONE_FOLDING`): closures and pauses become sil,
variants of a phone become one, and the glottal stop q is deleted. Utterances sa1 and sa2 are read by every speaker and
usually left out of experiments: `utterance` tells them. `groups` is the speaker; the sample has no official split, so
split by speaker.

Terms: Copyright 1993 Linguistic Data Consortium; the sample is under a Creative Commons licence that asks for
attribution, rules out commercial use and has derived works shared alike. The whole corpus, LDC93S1, needs a licence.
This package neither contains nor downloads any of it.

References: J. S. Garofolo et al., "TIMIT Acoustic-Phonetic Continuous Speech Corpus", LDC93S1, 1993; K.-F. Lee and
H.-W. Hon, "Speaker-independent phone recognition using hidden Markov models", IEEE Transactions on Acoustics, Speech,
and Signal Processing 37, 1989.
"""

_TERMS = (
    "The sample of TIMIT may not be used commercially, so it is not downloaded: make timit_sample.npz from the sample "
    "in NLTK's data, with the arrays that the documentation of fetch_timit_sample lists."
)
_ARRAYS = ("utt", "audio", "audio_offset", "phone", "phone_start", "phone_end", "phone_offset")


def fetch_timit_sample(*, phones=39, data_home=None, return_X_y=False, download_if_missing=True):
    """Load a sample of TIMIT, speech with its phones marked, from a file you have.

    Parameters
    ----------
    phones : {39, 61}, default=39
        Label with the 39 classes that results are reported in, segments of the glottal stop q being left
        out of both data and target; or with the 61 phones as transcribed.
    data_home : str, path-like or None, default=None
        Folder that holds ``timit_sample/timit_sample.npz``. None: ``~/sklearn_latent_data``. After it, the
        folder named by the environment variable ``SKLEARN_LATENT_DATA`` is looked into. Nothing is written
        to either.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a `Bunch`.
    download_if_missing : bool, default=True
        Without effect, since nothing is downloaded; here so that every fetcher is called alike.

    Returns
    -------
    data : sklearn.utils.Bunch
        ``data``: list of n_utterances pairs (audio, ranges), where audio is an int16 ndarray of shape
        (n_samples,) at 16 kHz, and ranges an int64 ndarray of shape (T, 2), first sample of each segment and
        the one after its last; ``target``: `LabelSequences` of n_utterances lists of T phones (str);
        ``target_names``: sorted phones that occur; ``groups``: ndarray of str of shape (n_utterances,), the
        speaker, beginning with f or m; ``utterance``: ndarray of str of shape (n_utterances,), the sentence;
        ``DESCR``.
    (data, target) : tuple
        If `return_X_y`.

    Raises
    ------
    FileNotFoundError
        If the file is missing; the message says where it goes.
    ValueError
        If `phones` is neither 39 nor 61, or the file is damaged.

    Notes
    -----
    ``timit_sample.npz`` holds, without pickled objects: ``utt`` (n_utterances,) of str such as
    ``dr1-fvmh0/sa1`` (dialect region, speaker, sentence); ``audio`` (n_samples,) int16, all utterances joined,
    and ``audio_offset`` (n_utterances + 1,); ``phone``, ``phone_start``, ``phone_end`` (n_segments,), sample
    numbers within the utterance, and ``phone_offset`` (n_utterances + 1,). Other arrays are ignored.

    Folding (`TIMIT_PHONE_FOLDING`) gives neighbours the same label (``pcl`` after ``h#``); they stay two segments.

    For the whole corpus, `TIMIT_CORE_TEST_SPEAKERS` and `TIMIT_DEV_SPEAKERS` name the speakers that results are usually
    reported on and settings are chosen on; none of them is in this sample.

    References
    ----------
    K.-F. Lee and H.-W. Hon, "Speaker-independent phone recognition using hidden Markov models", IEEE
    Transactions on Acoustics, Speech, and Signal Processing 37, 1989.

    Examples
    --------
    >>> from sklearn_latent.datasets import fetch_timit_sample
    >>> speech = fetch_timit_sample()  # doctest: +SKIP
    >>> audio, ranges = speech.data[0]  # doctest: +SKIP
    >>> len(ranges), speech.target[0][:3]  # doctest: +SKIP
    (37, ['sil', 'sh', 'iy'])
    """
    if isinstance(phones, bool) or phones not in (39, 61):
        raise ValueError(f"phones must be 39 or 61, got {phones!r}")
    path = find_file(data_home, "timit_sample", ["timit_sample.npz"], _TERMS)
    arrays = read_arrays(path, _ARRAYS)
    _check(path, arrays)
    audio_offset = check_offsets(path, "audio_offset", arrays["audio_offset"], len(arrays["audio"]))
    phone_offset = check_offsets(path, "phone_offset", arrays["phone_offset"], len(arrays["phone"]))
    names = arrays["utt"].tolist()
    if not len(audio_offset) == len(phone_offset) == len(names) + 1:
        raise ValueError(f"{path}: utt, audio_offset and phone_offset are not of the same number of utterances")
    ranges = np.column_stack([arrays["phone_start"], arrays["phone_end"]]).astype(np.int64)
    data, target = [], LabelSequences()
    for i in range(len(names)):
        audio = arrays["audio"][audio_offset[i] : audio_offset[i + 1]]
        own = slice(phone_offset[i], phone_offset[i + 1])
        labels, cuts = arrays["phone"][own].tolist(), ranges[own]
        if len(cuts) and (cuts.min() < 0 or cuts.max() > len(audio) or (cuts[:, 0] >= cuts[:, 1]).any()):
            raise ValueError(f"{path}: {names[i]} has phones outside its {len(audio)} samples, or empty ones")
        if phones == 39:
            folded = [TIMIT_PHONE_FOLDING.get(label, label) for label in labels]
            cuts = cuts[[label is not None for label in folded]]
            labels = [label for label in folded if label is not None]
        data.append((audio, cuts))
        target.append(labels)
    if return_X_y:
        return data, target
    parts = [name.replace("/", "-").split("-") for name in names]
    return Bunch(
        data=data,
        target=target,
        target_names=label_names(target),
        groups=np.array([speaker for _, speaker, _ in parts], dtype=str),
        utterance=np.array([sentence for _, _, sentence in parts], dtype=str),
        DESCR=DESCRIPTION,
    )


def _check(path, arrays) -> None:
    """Refuse arrays of wrong kinds or shapes."""
    n = len(arrays["phone"])
    for name, kind, shape in (
        ("utt", "U", None),
        ("audio", "i", None),
        ("phone", "U", (n,)),
        ("phone_start", "iu", (n,)),
        ("phone_end", "iu", (n,)),
    ):
        array = arrays[name]
        if array.ndim != 1 or array.dtype.kind not in kind or (shape is not None and array.shape != shape):
            what = "str" if kind == "U" else "integers"
            raise ValueError(
                f"{path}: {name} must be {what} of {'one dimension' if shape is None else f'shape {shape}'}, got dtype "
                f"{array.dtype} and shape {array.shape}"
            )
    if arrays["audio"].dtype != np.int16:
        raise ValueError(f"{path}: audio must be int16, got {arrays['audio'].dtype}")
    for name in arrays["utt"].tolist():
        if name.count("/") != 1 or name.partition("/")[0].count("-") != 1:
            raise ValueError(
                f"{path}: {name!r} in utt is not a region, a speaker and a sentence, such as dr1-fvmh0/sa1"
            )
