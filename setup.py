# SPDX-License-Identifier: BSD-3-Clause
"""Builds the kernels. Everything that is not an extension is declared in pyproject.toml."""

import os
import sys
import sysconfig
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

PACKAGE = "sklearn_latent"
KERNELS = sorted(str(path) for path in Path(PACKAGE).rglob("*.pyx"))

# The stable ABI does not exist on free-threaded builds.
ABI3 = not sysconfig.get_config_var("Py_GIL_DISABLED")
# A debug build checks every index: SKLEARN_LATENT_DEBUG=1 pip install ...
DEBUG = os.environ.get("SKLEARN_LATENT_DEBUG", "") not in ("", "0")

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": DEBUG,
    "initializedcheck": DEBUG,
    "wraparound": False,
    "cdivision": True,
    "embedsignature": True,
    "freethreading_compatible": True,
}

macros = [("Py_LIMITED_API", "0x030B0000")] if ABI3 else []
# -fopenmp-simd reads the `omp simd` hints and links nothing. Never -ffast-math: infinities and rounding mean
# something here.
flags = [] if sys.platform == "win32" else ["-O3", "-fopenmp-simd", "-Wno-psabi"]
if flags and not DEBUG:
    flags.append("-g0")  # symbols for a debugger would be most of the wheel


def extension(path: str) -> Extension:
    name = path[: -len(".pyx")].replace(os.sep, ".")
    return Extension(
        name,
        [path],
        include_dirs=[str(Path(PACKAGE) / room) for room in ("_lattice", "_scorers", "_optim", "_decoding")],
        depends=[str(p) for p in Path(PACKAGE).rglob("*.pxd")] + [str(p) for p in Path(PACKAGE).rglob("*.h")],
        define_macros=macros,
        extra_compile_args=flags,
        py_limited_api=ABI3,
    )


setup(
    ext_modules=cythonize([extension(path) for path in KERNELS], compiler_directives=DIRECTIVES),
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if ABI3 else {},
)
