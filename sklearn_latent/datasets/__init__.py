# SPDX-License-Identifier: BSD-3-Clause
"""Corpora: two shipped inside, some read from files the user has, and a simulator with known truth."""

from ._chunks import load_chunks
from ._conll2000 import fetch_conll2000
from ._digit_sequences import load_digit_sequences
from ._jnlpba import fetch_jnlpba
from ._ocr_letters import fetch_ocr_letters
from ._simulated import make_latent_sequences
from ._timit_lists import TIMIT_CORE_TEST_SPEAKERS, TIMIT_DEV_SPEAKERS, TIMIT_PHONE_FOLDING
from ._timit_sample import fetch_timit_sample

__all__ = [
    "TIMIT_CORE_TEST_SPEAKERS",
    "TIMIT_DEV_SPEAKERS",
    "TIMIT_PHONE_FOLDING",
    "fetch_conll2000",
    "fetch_jnlpba",
    "fetch_ocr_letters",
    "fetch_timit_sample",
    "load_chunks",
    "load_digit_sequences",
    "make_latent_sequences",
]
