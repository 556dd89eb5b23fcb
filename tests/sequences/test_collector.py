# SPDX-License-Identifier: BSD-3-Clause
import gc
import threading

import pytest

from sklearn_latent._sequences.collector import no_cycle_search


def test_it_is_off_inside_and_as_before_outside():
    assert gc.isenabled()
    with no_cycle_search():
        assert not gc.isenabled()
        with no_cycle_search():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(KeyError), no_cycle_search():
        raise KeyError
    assert gc.isenabled()


def test_who_had_it_off_keeps_it_off():
    gc.disable()
    try:
        with no_cycle_search():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_threads_may_leave_in_any_order():
    entered, leave = threading.Event(), threading.Event()

    def other():
        with no_cycle_search():
            entered.set()
            leave.wait()

    thread = threading.Thread(target=other)
    with no_cycle_search():
        thread.start()
        entered.wait()
    assert not gc.isenabled()  # the other is inside
    leave.set()
    thread.join()
    assert gc.isenabled()
