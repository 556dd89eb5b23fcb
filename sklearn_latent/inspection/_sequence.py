# SPDX-License-Identifier: BSD-3-Clause
"""A labelled sequence that shows itself in a notebook, as text with coloured spans or as a row of images."""

from __future__ import annotations

from base64 import b64encode
from html import escape
from io import BytesIO

import numpy as np
import scipy.sparse as sp

from ..metrics import get_chunks
from ._fitted import FittedTagger, token_texts
from ._plotting import pyplot

__all__ = ["SequenceDisplay", "show_sequence"]

#: Pale tints of the colours of Okabe and Ito: black text on them is readable, and labels are always written too.
_TINTS = ("#b3d9f2", "#ffd1a8", "#b3e6d4", "#f2cfe3", "#fff3a8", "#c9d2ff", "#e3d5c5", "#d0ecb0")
_BOX = (
    "display:inline-block;color:#111;border-radius:4px;padding:1px 5px;margin:2px 1px;line-height:1.5;"
    "background:{tint};border-bottom:{width}px solid #333"
)
_SMALL = "font-size:75%;color:#333"


class SequenceDisplay:
    """One labelled sequence: spans of tokens with their labels and probabilities.

    In a notebook it shows itself as HTML, elsewhere as text. All text is escaped.

    Parameters
    ----------
    tokens : sequence of T str
    spans : list of (start, stop, name, probability)
        In order and without overlap, `stop` exclusive; tokens in no span are shown plain.
    images : ndarray of shape (T, height, width) or None, default=None
        An image for each token, shown in the place of its text.
    classes : sequence of str, default=()
        All names, which are given colours in this order.

    See Also
    --------
    show_sequence : Label a sequence and show it.
    """

    def __init__(self, tokens, spans, *, images=None, classes=()):
        self.tokens = tokens
        self.spans = spans
        self.images = images
        self.classes = classes

    def __repr__(self) -> str:
        """Tokens with the spans in brackets."""
        out = []
        for start, stop, name, probability in self._runs():
            text = " ".join(self.tokens[start:stop])
            out.append(text if name is None else f"[{text}]{name}:{probability:.2f}")
        return " ".join(out)

    def _repr_html_(self) -> str:
        """Tokens with the spans as coloured boxes; a thick line below them says 0.9 or more."""
        names = list(dict.fromkeys([*self.classes, *(name for _, _, name, _ in self.spans)]))
        tint = {name: _TINTS[k % len(_TINTS)] for k, name in enumerate(names)}
        parts = []
        for start, stop, name, probability in self._runs():
            inside = " ".join(self._token(t) for t in range(start, stop))
            if name is None:
                parts.append(inside)
                continue
            style = _BOX.format(tint=tint[name], width=3 if probability >= 0.9 else 1)
            note = f'<span style="{_SMALL}"><b>{escape(str(name))}</b> {probability:.2f}</span>'
            parts.append(f'<span style="{style};text-align:center">{inside} {note}</span>')
        return f'<div style="line-height:2.1">{" ".join(parts)}</div>'

    def _runs(self) -> list[tuple]:
        """The spans, and what is between them as spans without a name."""
        out, at = [], 0
        for span in [*self.spans, (len(self.tokens), len(self.tokens), None, None)]:
            if at < span[0]:
                out.append((at, span[0], None, None))
            if span[0] < span[1]:
                out.append(tuple(span))
            at = span[1]
        return out

    def _token(self, t: int) -> str:
        if self.images is None:
            return escape(str(self.tokens[t]))
        data = b64encode(_png(self.images[t], *self._range())).decode()
        text = escape(str(self.tokens[t]))
        style = "display:block;height:40px;margin:2px auto;image-rendering:pixelated"
        return f'<img alt="{text}" title="{text}" style="{style}" src="data:image/png;base64,{data}">'

    def _range(self) -> tuple[float, float]:
        return float(np.min(self.images)), float(np.max(self.images))


def show_sequence(estimator, x, *, scheme=None, tokens=None, image_shape=None) -> SequenceDisplay:
    """Label one sequence and show it: as text with coloured spans, or as images with their labels.

    Where labels spell chunks (IOB2 and the like) a span is a chunk and its probability that of exactly this chunk
    (``predict_spans``). Otherwise each token is a span, with the probability of its label.

    Parameters
    ----------
    estimator : fitted LatentCRFTagger or SPNCRFTagger, or a Pipeline that ends in one
    x : one sequence, an entry of what ``estimator.predict`` takes
    scheme : str or None, default=None
        How labels spell chunks, as in ``predict_spans``. None: the scheme that ``constraints`` names, else what the
        labels' prefixes say.
    tokens : sequence of T str, default=None
        Text of the tokens; None: the words of `x` if it holds words, else their positions.
    image_shape : (int, int), default=None
        Height and width: the features of a token are pixels, and are shown as an image. Small values are light.

    Returns
    -------
    SequenceDisplay

    Raises
    ------
    ImportError
        If images are asked for and matplotlib, which writes them, is not installed.
    ValueError
        If `tokens` or `image_shape` does not fit the sequence.

    Examples
    --------
    >>> from sklearn_latent import LatentCRFTagger
    >>> from sklearn_latent.datasets import load_chunks
    >>> from sklearn_latent.feature_extraction import TemplateVectorizer
    >>> from sklearn_latent.inspection import show_sequence
    >>> X, y = load_chunks(return_X_y=True)
    >>> tagger = LatentCRFTagger(n_latent=1, vectorizer=TemplateVectorizer("chunking"), tol=1e-3).fit(X, y)
    >>> show_sequence(tagger, [("The", "DT"), ("bridge", "NN"), ("is", "VBZ"), ("closed", "VBN")])
    [The bridge]NP:1.00 [is closed]VP:0.92
    """
    fitted = FittedTagger(estimator)
    tagger = fitted.tagger
    corpus = tagger._check_X(fitted.corpus(x))
    T = corpus.n_tokens
    if tokens is None:
        tokens = token_texts(x, T) or [str(t) for t in range(T)]
    elif len(tokens) != T:
        raise ValueError(f"tokens has {len(tokens)} entries, the sequence {T} tokens")
    images = None if image_shape is None else _images(corpus.values, image_shape)
    labels = tagger.predict(corpus)[0]
    scheme = fitted.scheme if scheme is None else scheme
    if scheme is None:
        marginals = tagger.predict_marginals(corpus)[0]
        code = {label: k for k, label in enumerate(fitted.classes)}
        spans = [(t, t + 1, str(label), float(marginals[t, code[label]])) for t, label in enumerate(labels)]
        names = [str(label) for label in fitted.classes]
    else:
        chunks = get_chunks(labels, scheme=scheme, invalid="discard")
        spans = tagger.predict_spans(corpus, [chunks], scheme=scheme)[0]
        names = sorted({label.split("-", 1)[-1] for label in fitted.classes} - {"O"})
    return SequenceDisplay(list(tokens), spans, images=images, classes=names)


def _images(values, shape) -> np.ndarray:
    """Rows of pixels as images."""
    height, width = shape
    if height * width != values.shape[1]:
        raise ValueError(
            f"image_shape={tuple(shape)} has {height * width} pixels, a token has {values.shape[1]} features"
        )
    rows = values.toarray() if sp.issparse(values) else np.asarray(values)
    return rows.reshape(-1, height, width)


def _png(image: np.ndarray, low: float, high: float) -> bytes:
    """The bytes of a PNG file, dark for large values."""
    out = BytesIO()
    pyplot().imsave(out, image, cmap="gray_r", vmin=low, vmax=max(high, low + 1e-12), format="png")
    return out.getvalue()
