# SPDX-License-Identifier: BSD-3-Clause
"""Processes that do one measured piece of work and print one line of JSON."""
