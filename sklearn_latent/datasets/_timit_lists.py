# SPDX-License-Identifier: BSD-3-Clause
"""Conventions of work on TIMIT: the folding of its phones, and who is in which set of speakers."""

__all__ = ["TIMIT_CORE_TEST_SPEAKERS", "TIMIT_DEV_SPEAKERS", "TIMIT_PHONE_FOLDING"]

_PHONES = (
    "aa ae ah ao aw ax ax-h axr ay b bcl ch d dcl dh dx eh el em en eng epi er ey f g gcl h# hh hv ih ix iy jh k kcl l "
    "m n ng nx ow oy p pau pcl q r s sh t tcl th uh uw ux v w y z zh"
)
_VARIANTS = {
    "aa": "ao", "ah": "ax ax-h", "er": "axr", "hh": "hv", "ih": "ix", "l": "el", "m": "em", "n": "en nx", "ng": "eng",
    "sh": "zh", "uw": "ux", "sil": "pcl tcl kcl bcl dcl gcl h# pau epi",
}  # fmt: skip

#: The 61 phones of TIMIT and what each becomes among the 39 classes of Lee and Hon (1989), whose results are compared;
#: None: the glottal stop, which is left out.
TIMIT_PHONE_FOLDING: dict[str, str | None] = (
    {phone: phone for phone in _PHONES.split()}
    | {variant: phone for phone, variants in _VARIANTS.items() for variant in variants.split()}
    | {"q": None}
)

#: The 24 speakers of the core test set; of each, the eight sentences that are not read by all (sx and si) are used.
TIMIT_CORE_TEST_SPEAKERS: tuple[str, ...] = (
    "mdab0", "mwbt0", "felc0", "mtas1", "mwew0", "fpas0", "mjmp0", "mlnt0", "fpkt0", "mlll0", "mtls0", "fjlm0",
    "mbpm0", "mklt0", "fnlp0", "mcmj0", "mjdh0", "fmgd0", "mgrt0", "mnjm0", "fdhc0", "mjln0", "mpam0", "fmld0",
)  # fmt: skip

#: The 50 other speakers of the test directory that serve to choose settings, as in Kaldi's recipe; none is in the core
#: test set.
TIMIT_DEV_SPEAKERS: tuple[str, ...] = (
    "faks0", "fdac1", "fjem0", "mgwt0", "mjar0", "mmdb1", "mmdm2", "mpdf0", "fcmh0", "fkms0", "mbdg0", "mbwm0",
    "mcsh0", "fadg0", "fdms0", "fedw0", "mgjf0", "mglb0", "mrtk0", "mtaa0", "mtdt0", "mthc0", "mwjg0", "fnmr0",
    "frew0", "fsem0", "mbns0", "mmjr0", "mdls0", "mdlf0", "mdvc0", "mers0", "fmah0", "fdrw0", "mrcs0", "mrjm4",
    "fcal1", "mmwh0", "fjsj0", "majc0", "mjsw0", "mreb0", "fgjd0", "fjmg0", "mroa0", "mteb0", "mjfc0", "mrjr0",
    "fmml0", "mrws1",
)  # fmt: skip
