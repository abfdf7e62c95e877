"""A real Dask cluster on this machine: the same result as in this process, even if a worker is killed half way."""

import os
import signal

import pytest
from support.package import run_command
from support.runs.pybullet_runs import timeless

from cylcollide.crosscheck.run.plan import FamiliesPlan
from cylcollide.crosscheck.run.run import run_plan
from cylcollide.crosscheck.workers import executor_of

distributed = pytest.importorskip("distributed", reason="needs the extra cluster")

pytestmark = pytest.mark.filterwarnings("ignore")

PLAN = FamiliesPlan(("rim", "elbow", "generic", "side-graze"), 4000, 2, tried=6)


@pytest.mark.long
@pytest.mark.ci_long
def test_a_worker_killed_half_way_changes_nothing(tmp_path):
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    )
    killed = []
    with cluster, distributed.Client(cluster) as client:

        def kills(what, done, _of):
            if what == "chunks" and done == 1 and not killed:
                killed.append(min(client.run(os.getpid).values()))
                os.kill(killed[0], signal.SIGKILL)

        with executor_of(None, cluster.scheduler_address) as executor:
            found = run_plan(PLAN, executor, tmp_path, progress=kills)
    assert len(killed) == 1
    assert timeless(found) == timeless(run_plan(PLAN))
    assert len(list((tmp_path / "chunks").iterdir())) == len(PLAN.keys)


def test_no_scheduler_there_is_one_line(tmp_path):
    environment = os.environ | {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "1s"}
    options = ["--families", "rim", "--rays", "100", "--scheduler", "tcp://127.0.0.1:9", "--out", str(tmp_path)]
    done = run_command("crosscheck", *options, env=environment)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "127.0.0.1:9" in done.stderr
