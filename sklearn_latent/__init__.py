# SPDX-License-Identifier: BSD-3-Clause
"""Latent-variable conditional random fields for labelling sequences with scikit-learn."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._sequences import LabelSequences, SequenceMatrix
    from ._taggers import LatentCRFTagger, RowClassifier, SPNCRFTagger

__all__ = ["LabelSequences", "LatentCRFTagger", "RowClassifier", "SPNCRFTagger", "SequenceMatrix", "__version__"]

__version__ = "0.1.0.dev0"


def __getattr__(name: str):
    # With the first name that is used comes all the rest, scikit-learn included. Until then, for the help of the
    # command or to complete a word of it, there is no need to wait.
    if name not in __all__ and name not in ("metrics", "exceptions"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ._sequences import LabelSequences, SequenceMatrix
    from ._taggers import LatentCRFTagger, RowClassifier, SPNCRFTagger

    known = (LabelSequences, LatentCRFTagger, RowClassifier, SPNCRFTagger, SequenceMatrix)
    globals().update((each.__name__, each) for each in known)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
