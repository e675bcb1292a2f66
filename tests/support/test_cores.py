"""Work on several threads: order, errors, being stopped."""

import threading
import time

import pytest

from shallows.support.cores import each


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("count", [0, 1, 7])
def test_results_come_in_the_order_of_the_items(threads, count):
    told = []
    found = each(lambda k: (time.sleep(0.002 * (k % 3)), k)[1], range(count), threads, told.append)
    assert found == list(range(count)) and sum(told) == count


def test_items_are_shared_by_threads_and_none_is_taken_twice():
    taken, busy = [], set()
    both = threading.Barrier(2, timeout=10)

    def work(k):
        if k < 2:
            both.wait()  # two threads must be here at once
        taken.append(k)
        busy.add(threading.get_ident())

    each(work, range(20), 2)
    assert sorted(taken) == list(range(20)) and len(busy) == 2


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_stops_the_work_and_is_raised(threads):
    done = []

    def work(k):
        if k == 3:
            raise ValueError("three")
        time.sleep(0.001)
        done.append(k)

    with pytest.raises(ValueError, match="three"):
        each(work, range(1000), threads)
    assert len(done) < 20


def test_whoever_is_told_can_stop_it():
    done = []

    def stop(count):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        each(lambda k: (time.sleep(0.001), done.append(k)), range(1000), 2, stop)
    assert len(done) < 20
