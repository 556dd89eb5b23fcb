# SPDX-License-Identifier: BSD-3-Clause
"""Model files: `save_model` and `load_model`.

A file is a zip of stored members::

    format.json       {"format": "sklearn-latent model", "version": 1, "package": "0.1.0"}
    model.json        {"model": {"object": 7}, "objects": [...], "arrays": 12}
    arrays/0.npy ...

`_archive` is the container, `_npy` the arrays, `_state` the JSON, `_adapters` what the classes put into it, and
`_checks` what must hold of it. Nothing here is imported with the package but this module and the container.
"""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from ._archive import Archive, ArchiveError, write_archive
from ._atomic import atomic_write

__all__ = ["load_model", "save_model"]

FORMAT = "sklearn-latent model"
VERSION = 1
_FIRST, _TREE = "format.json", "model.json"


def save_model(est, path) -> None:
    """Write a fitted model to a file, without pickle.

    The file takes the place of an old one in a single step: a process that is killed while it writes leaves the old
    file whole, and keeps its permissions. Equal models give equal files.

    Parameters
    ----------
    est : estimator
        A fitted `LatentCRFTagger`, `SPNCRFTagger`, `SequenceDictVectorizer`, `TemplateVectorizer`,
        `SequenceFeatureHasher` or `Window`, a `SequenceUnion` of such, or a scikit-learn ``Pipeline`` of such steps,
        None and ``"passthrough"``. Parameters and fitted state are written, with what ``partial_fit`` needs to go on as
        if nothing had been written. `PerToken` is taken if its transformer is one of these.
    path : str or path-like
        By habit ending in ``.zip``; nothing is added to it.

    Raises
    ------
    NotFittedError
        If the estimator or a step of it is not fitted.
    TypeError
        If `est` is of another class, or a parameter is what can't be written: a callable, a random generator, an
        estimator of another package. The message names the parameter, as in
        ``vectorizer.transformer_list[1].transformer``, and the step.
    ValueError
        If a weight is not finite.
    OSError
        If the file can't be written.

    See Also
    --------
    load_model : Reads the file.

    Notes
    -----
    The file is a zip of stored ``.npy`` members, each at a multiple of 64 bytes, and JSON. ``unzip`` and ``np.load``
    read it. An estimator's other attributes, such as metadata requests, are not written.

    Examples
    --------
    >>> import tempfile, os
    >>> from sklearn_latent import LatentCRFTagger
    >>> from sklearn_latent.io import load_model, save_model
    >>> X, y = [[{"word": "Ana"}, {"word": "met"}, {"word": "Bo"}]] * 5, [["B-PER", "O", "B-PER"]] * 5
    >>> tagger = LatentCRFTagger(n_latent=1).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(tagger, os.path.join(folder, "names.zip"))
    ...     load_model(os.path.join(folder, "names.zip")).predict(X[:1])
    [['B-PER', 'O', 'B-PER']]
    """
    from .. import __version__
    from ._adapters import adapters
    from ._npy import to_npy
    from ._state import Decoder, Encoder

    known = adapters()
    if not any(adapter.estimator and adapter.kind is type(est) for adapter in known.values()):
        names = ", ".join(adapter.kind.__name__ for adapter in known.values() if adapter.estimator)
        raise TypeError(f"save_model writes {names}, got {type(est).__module__}.{type(est).__qualname__}")
    _check_fitted(est)
    encoder = Encoder(known)
    root = encoder.encode(est)
    # What would not load is not written: the same checks, on the same objects.
    decoder = Decoder(known, encoder.arrays.__getitem__)
    for state in encoder.objects:
        decoder.add_object(state)

    head = {"format": FORMAT, "version": VERSION, "package": __version__}
    tree = {"model": root, "objects": encoder.objects, "arrays": len(encoder.arrays)}
    members = [(_FIRST, [_to_json(head)]), (_TREE, [_to_json(tree)])]
    with atomic_write(path) as file:
        write_archive(file, [*members, *((_array(k), to_npy(array)) for k, array in enumerate(encoder.arrays))])


def load_model(path, *, mmap_mode: str | None = None):
    """Read a model that `save_model` wrote.

    Parameters
    ----------
    path : str or path-like
    mmap_mode : {None, "r"}, default=None
        ``"r"``: weights and other arrays are read-only views of the file, shared between the processes that map it.
        The file must not be overwritten in place meanwhile (`save_model` replaces it, which is safe). A pickle of
        such a model holds ordinary arrays.

    Returns
    -------
    estimator
        Of the class that was saved, with the same predictions to the bit on the same machine.

    Raises
    ------
    ValueError
        If the file is no model file, cut short, altered, or of a later version; the message says which. Checksums
        are always compared.
    OSError
        If the file can't be read.

    See Also
    --------
    save_model : Writes the file, with an example.
    """
    if mmap_mode not in (None, "r"):
        raise ValueError(f"mmap_mode must be None or 'r', got {mmap_mode!r}")
    from ._adapters import adapters
    from ._state import Decoder

    name = os.fsdecode(path)
    with open(path, "rb") as file:
        try:
            archive = Archive(file, _FIRST, _judge_version)
            mapped = None if mmap_mode is None else np.memmap(file, np.uint8, "r")
            tree = _from_json(archive.read(_TREE, mapped).tobytes())
            arrays = _arrays(archive, mapped, tree)
        except ArchiveError as error:
            raise ValueError(f"{name!r} {error}") from None
    decoder = Decoder(adapters(), lambda k: arrays[_array(k)])
    try:
        for state in tree["objects"]:
            decoder.add_object(state)
        est = decoder.decode(tree["model"])
        if not any(adapter.estimator and adapter.kind is type(est) for adapter in adapters().values()):
            raise ValueError(f"{type(est).__name__} is no estimator")
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError) as error:
        # Checksums hold, so this is a file that something else made, or a version that forgot to count up.
        raise ValueError(
            f"{name!r} is altered: what it holds is no model of this version ({type(error).__name__}: {error})"
        ) from error
    return est


def _check_fitted(est) -> None:
    from sklearn.pipeline import Pipeline
    from sklearn.utils.validation import check_is_fitted

    if not isinstance(est, Pipeline):
        check_is_fitted(est)
        return
    for _, step in est.steps:
        # Others are the encoder's to refuse, by name.
        if hasattr(step, "fit") and type(step).__module__.partition(".")[0] == __name__.partition(".")[0]:
            check_is_fitted(step)
        elif isinstance(step, Pipeline):
            _check_fitted(step)


def _array(k: int) -> str:
    return f"arrays/{k}.npy"


def _arrays(archive: Archive, mapped: np.ndarray | None, tree: dict[str, Any]) -> dict[str, np.ndarray]:
    from ._npy import from_npy

    n = tree.get("arrays") if isinstance(tree, dict) else None
    if type(n) is not int:
        raise ArchiveError(f"is altered: {_TREE!r} doesn't say how many arrays there are")
    wanted = [_FIRST, _TREE, *map(_array, range(min(n, len(archive.names))))]
    if archive.names != wanted or len(wanted) != n + 2:
        odd = next((a for a in archive.names if a not in wanted), None)
        raise ArchiveError(
            f"has a member {odd!r} that is not of the model"
            if odd
            else f"lacks members: {len(archive.names)} of {n + 2}"
        )
    arrays = {}
    for member in wanted[2:]:
        data = archive.read(member, mapped)
        try:
            arrays[member] = from_npy(data)
        except ValueError as error:
            raise ArchiveError(f"is altered: the member {member!r} {error}") from None
    return arrays


def _judge_version(data: bytes) -> None:
    head = _from_json(data)
    if not isinstance(head, dict) or head.get("format") != FORMAT or type(head.get("version")) is not int:
        raise ArchiveError("is a zip, but no model file: it doesn't say what it is")
    if head["version"] > VERSION:
        raise ArchiveError(
            f"is of a later version of the format, {head['version']}; this version of sklearn_latent reads up to "
            f"{VERSION} (written by sklearn_latent {head.get('package')!s})"
        )
    if head["version"] < 1:
        raise ArchiveError(f"is of version {head['version']} of the format, which never was")


def _to_json(value) -> bytes:
    # Lone surrogates may be in labels and words; escapes would join two of them into one character on reading.
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode(
        "utf-8", "surrogatepass"
    )


def _from_json(data: bytes):
    try:
        return json.loads(data.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as error:
        raise ArchiveError(f"is altered: its JSON can't be read ({error})") from None
