"""Paths in batches: the same points bit for bit, nothing tracked twice, and a killed worker loses nothing."""

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import shallows as sh
from shallows.mathematics.homotopy.batches import current, in_batches


def quartic():
    rng = np.random.default_rng(0)
    root = rng.standard_normal((5, 5))
    metric = sh.Metric(2, 4, root @ root.T + np.eye(5))
    return sh.Problem(sh.SymmetricTensor(rng.standard_normal(5), 2, 4), metric, 2)


class Counting(ThreadPoolExecutor):
    sent = 0

    def submit(self, *arguments, **options):
        self.sent += 1
        return super().submit(*arguments, **options)


def test_batches_give_the_same_chart_and_are_kept(tmp_path):
    problem = quartic()
    plain = sh.chart(problem)
    with Counting(2) as pool:
        with in_batches(pool, tmp_path, size=3):
            far = sh.chart(problem)
        first = pool.sent
        assert first > 3 and current() is None
        np.testing.assert_array_equal(far.losses, plain.losses)
        files = sorted(tmp_path.glob("*.npz"))
        files[0].write_bytes(files[0].read_bytes()[:50])  # damaged: tracked again
        with in_batches(pool, tmp_path, size=3):
            np.testing.assert_array_equal(sh.chart(problem).losses, plain.losses)
        assert pool.sent == first + 1


def test_an_address_at_which_nobody_answers_is_said(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("shallows.support.cluster.ANSWER", "1s")
    with pytest.raises(sh.InvalidProblem, match="No Dask scheduler answers"):
        sh.chart(quartic(), client="tcp://127.0.0.1:1")


@pytest.mark.thorough
def test_a_killed_worker_loses_nothing(tmp_path):
    distributed = pytest.importorskip("distributed")
    rng = np.random.default_rng(0)
    root = rng.standard_normal((10, 10))
    metric = sh.Metric(3, 3, root @ root.T + np.eye(10))
    problem = sh.Problem(sh.SymmetricTensor(rng.standard_normal(10), 3, 3), metric, 2)
    plain = sh.chart(problem)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):

        def kill():
            while not list(tmp_path.glob("*.json")):
                time.sleep(0.01)
            os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)

        threading.Thread(target=kill, daemon=True).start()
        with in_batches(client, tmp_path, size=10):
            far = sh.chart(problem)
    np.testing.assert_array_equal(far.losses, plain.losses)
    assert far.completeness == plain.completeness == "proved"
