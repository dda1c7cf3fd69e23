"""The two kernels that play blocks of games, held against each other."""

import os
import platform
import subprocess
import sys

import numpy as np
import pytest
from numba import config

import splendor_sim as ss
from splendor_sim.core.balance import BALANCE_DTYPE
from splendor_sim.core.counters import RECORD_DTYPE, TOTALS_DTYPE
from splendor_sim.core.playout import play_any_block, play_random_block
from splendor_sim.core.policies import RANDOM
from splendor_sim.core.rules import PRESETS, Rules
from splendor_sim.core.settings import SETTINGS_DTYPE
from splendor_sim.core.state import STATE_DTYPE
from splendor_sim.simulate import seatings

RULES = [
    *PRESETS,
    {"payment": "choice", "end": "immediate"},
    {"take_fewer": "up_to", "gold_tokens": [7, 1, 0]},
    {"take_fewer": "never", "gem_tokens": [1, 2, 3], "token_limit": 3},
    {"reserve_limit": 0, "payment": "choice", "target_prestige": 40},
]
GAMES = 3 if config.DISABLE_JIT else 300


def played(kernel, players, rules, max_turns, first=7, count=GAMES, full=True, orders=None):
    template = np.zeros(1, STATE_DTYPE)
    template["players"] = players
    for name, value in Rules.of(rules).for_players(players).items():
        template[name] = value
    totals, by_turns = np.zeros(1, TOTALS_DTYPE), np.zeros(max_turns + 1, np.int64)
    balance = np.zeros(2, BALANCE_DTYPE) if full else None
    records = np.zeros(count, RECORD_DTYPE) if full else None
    settings = np.zeros(players, SETTINGS_DTYPE)
    settings["policy"] = RANDOM
    seats = np.array(orders or seatings(players, True)), orders is not None
    with np.errstate(over="ignore"):
        kernel(template, settings, np.uint64(5), first, count, *seats, max_turns, totals, by_turns, balance, records)
    return totals, by_turns, balance, records


@pytest.mark.kernel
@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("rules", RULES, ids=str)
@pytest.mark.parametrize("max_turns", [1000, 40])
def test_random_play_in_lanes_plays_and_counts_the_games_of_the_plain_loop(players, rules, max_turns):
    if config.DISABLE_JIT and (players == 3 or max_turns == 40):
        max_turns = 20  # the same paths, in less time
    plain = played(play_any_block, players, rules, max_turns)
    lanes = played(play_random_block, players, rules, max_turns)
    assert [part.tobytes() for part in (*plain[:2], plain[2][:1], plain[3])] == [
        part.tobytes() for part in (*lanes[:2], lanes[2][:1], lanes[3])
    ]


@pytest.mark.kernel
def test_paired_games_have_one_deal_in_all_orders_and_streams_of_their_own():
    orders = [[0, 1, 1], [1, 0, 1], [1, 1, 0], [2, 2, 2]]
    count = 12 if config.DISABLE_JIT else 40
    plain, lanes = (
        played(kernel, 3, "official", 30, 3, count, orders=orders) for kernel in (play_any_block, play_random_block)
    )
    assert plain[0].tobytes() == lanes[0].tobytes() and plain[3].tobytes() == lanes[3].tobytes()
    found = plain[3]
    assert found["agents"][:, :3].tolist() == [orders[index % 4] for index in found["index"]]
    keys = {index // 4: key for index, key in zip(found["index"].tolist(), found["key"].tolist())}
    assert found["key"].tolist() == [keys[index // 4] for index in found["index"].tolist()]
    assert len(set(keys.values())) == len(keys) and len({row.tobytes()[16:] for row in found}) > len(keys)
    alone = played(play_any_block, 3, "official", 30, 0, 11)[3]
    assert keys[1] == alone["key"][1]


def test_what_is_counted_beside_does_not_change_a_game():
    full = played(play_random_block, 2, "official", 1000)
    summary = played(play_random_block, 2, "official", 1000, full=False)
    assert full[0].tobytes() == summary[0].tobytes() and full[1].tobytes() == summary[1].tobytes()


def test_records_say_what_the_totals_add_up():
    totals, by_turns, _, records = played(play_random_block, 3, "official", 70)
    assert records["index"].tolist() == list(range(7, 7 + GAMES))
    assert len(set(records["key"].tolist())) == GAMES
    assert np.bincount(records["turns"], minlength=71).tolist() == by_turns.tolist()
    assert (records["ending"] == 2).sum() == totals["truncated"][0] > 0
    assert ((records["winners"] == 0) == (records["ending"] == 2)).all()
    assert records["prestige"].sum() == totals["prestige"].sum()
    assert records["reserves"].sum() == totals["reserves"].sum()


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_a_processor_without_special_instructions_plays_the_same_games(tmp_path):
    # On x86-64 that means neither pdep, nor popcnt, nor AVX.
    name = "x86-64" if platform.machine() in ("x86_64", "AMD64") else "generic"
    program = "import splendor_sim as ss; print(ss.simulate(500, seed=3, threads=1).to_dict())"
    environment = {
        **os.environ,
        "NUMBA_CPU_NAME": name,
        "NUMBA_CPU_FEATURES": "",
        "NUMBA_CACHE_DIR": str(tmp_path),
    }
    plain = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert plain.stdout.strip() == str(ss.simulate(500, seed=3, threads=1).to_dict())
