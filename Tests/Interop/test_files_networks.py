"""An app sends photos while the network of the server's gates changes again and again.

TIDEMARK_NETWORK_ROUNDS sets the number of changes of the network (default 10), and
TIDEMARK_KILL_SEED the random seed.
"""

import os
import random
import types

import pytest

from storage.test_networks import Place
from test_files_kill_loop import PHOTOS, Life, compare, forget, photos

ROUNDS = int(os.environ.get("TIDEMARK_NETWORK_ROUNDS", "10"))
SEED = int(os.environ.get("TIDEMARK_KILL_SEED", "0")) or random.randrange(1 << 30)
BAD = ["captive", "refuse", "blackhole", "flaky-30", "backend-18s"]


@pytest.mark.bound(300 + 10 * ROUNDS)
def test_photos_are_sent_through_changing_networks(tmp_path):
    """Each bad network is met while photos wait. No portal and no failure ends an upload."""
    print(f"TIDEMARK_KILL_SEED={SEED}")
    dice = random.Random(SEED)
    files, cache, data = tmp_path / "files", tmp_path / "cache", tmp_path / "server"
    data.mkdir()
    hashes = photos(dice, files)
    # The first request of the app meets a portal.
    place = Place(data, "--network", BAD[0])
    life = Life(
        place, types.SimpleNamespace(host=f"127.0.0.1:{place.storage_port}"), cache, files, PHOTOS)
    met = set()
    while life.reader.is_alive() and not life.left():
        life.reader.join(0.1)
    for turn in range(ROUNDS):
        # Each network comes once before one comes again.
        bad = BAD[turn % len(BAD)]
        place.play(bad)
        life.reader.join(dice.uniform(0.5, 3))
        if life.left():
            met.add(bad)
        place.play("3g")
        life.reader.join(dice.uniform(0.2, 1.5))
    place.play("healthy")
    while life.reader.is_alive():
        life.reader.join(1)
        failed = [line for line in life.lines if line[0] == "failed"]
        assert not failed, failed
    assert life.process.wait(timeout=30) == 0
    forget(life, files)
    assert ["sent", "all"] in life.lines
    assert met == set(BAD), "the photos arrived before each network was played"
    compare(place, hashes)
    place.stop()
