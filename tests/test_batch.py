"""Arrays of states: shapes, agreement with single games, refusals, what is hidden, and how fair the deal is."""

import io
import random
from hashlib import sha256

import numpy as np
import pytest

import splendor_sim as ss
from broken_positions import changed
from games import (
    CARD_BONUS,
    CARD_COST,
    CARD_PRESTIGE,
    JIT_DISABLED,
    RULES,
    at,
    jit_or,
    opening,
    play,
    random_games,
    random_walk,
    walk,
)
from splendor_sim.core import arrays
from splendor_sim.core.state import RULE_FIELDS

WRONG_SEEDS = [-1, 2**64, 1.0, "7", None, True, np.float64(3)]


def mixed(number, seed=1, decisions=60):
    """States of different rules, numbers of players and stages of the game."""
    rng = random.Random(seed)
    states = []
    for game in random_games(number, seed):
        walk(game, rng, rng.randrange(decisions))
        states.append(game.state)
    return np.concatenate(states)


def under_way(states):
    return states[states["phase"] != 4]


def random_legal(states, rng):
    """One legal decision a row, at random."""
    return np.array([rng.choice(np.flatnonzero(mask).tolist()) for mask in ss.legal_mask(states)], np.int64)


# ---------------------------------------------------------------------------------------------------- dealing and masks


@pytest.mark.kernel
@pytest.mark.parametrize("players", [2, 3, 4])
def test_row_i_is_game_i_of_the_run(players):
    states = ss.deal(jit_or(50, 4), players, seed=3, rules="italian")
    assert states.shape == (jit_or(50, 4),)
    assert states.dtype == ss.STATE_DTYPE
    for length in (0, 1, 3):
        assert ss.deal(length, players, seed=3, rules="italian").tobytes() == states[:length].tobytes()
    assert len({state.tobytes() for state in states}) == len(states)


def test_games_of_neighbouring_seeds_are_not_each_other():
    first, second = ss.deal(200, seed=1), ss.deal(200, seed=2)
    assert not {state["key"] for state in first} & {state["key"] for state in second}


@pytest.mark.kernel
def test_masks_are_the_legal_decisions_of_each_game():
    states = mixed(jit_or(120, 6))
    masks = ss.legal_mask(states)
    assert (masks.shape, masks.dtype) == ((len(states), 78), np.bool_)
    for state, mask in zip(states, masks, strict=True):
        assert np.flatnonzero(mask).tolist() == at(ss.to_position(state)).legal_actions()


def test_the_mask_is_empty_where_the_game_is_over():
    states = ss.deal(4, seed=1)
    ss.playout(states[1:3], seed=1)
    assert ss.legal_mask(states).any(axis=1).tolist() == [True, False, False, True]


@pytest.mark.parametrize("n", [-1, 1.0, True, "3", None, 2**70])
def test_a_number_of_games_that_is_none_is_refused(n):
    with pytest.raises(ss.StateError, match="number of games"):
        ss.deal(n)


@pytest.mark.parametrize("players", [1, 5, 0, 2.0, True, None])
def test_numbers_of_players_out_of_range_are_refused(players):
    with pytest.raises(ss.RulesError, match="players"):
        ss.deal(3, players)


@pytest.mark.parametrize("seed", WRONG_SEEDS)
def test_wrong_seeds_are_refused_everywhere(seed):
    states = ss.deal(2)
    before = states.tobytes()
    for call in (
        lambda: ss.deal(1, seed=seed),
        lambda: ss.determinize(states, 0, seed),
        lambda: ss.playout(states, seed),
    ):
        with pytest.raises(ss.SeedError, match="seed"):
            call()
    assert states.tobytes() == before


# ----------------------------------------------------------------------------------------------------------------- step


@pytest.mark.kernel
def test_steps_do_what_single_games_do():
    rng = random.Random(2)
    games = list(random_games(jit_or(60, 3), seed=4))
    states = np.concatenate([game.state for game in games])
    for _ in range(jit_or(120, 8)):
        going = np.flatnonzero(states["phase"] != 4)
        if not len(going):
            break
        part = states[going]
        actions = random_legal(part, rng)
        rewards, terminated = ss.step(part, actions)
        states[going] = part
        for row, index in enumerate(going):
            games[index].apply(int(actions[row]))
            assert games[index].state.tobytes() == states[index].tobytes()
            assert terminated[row] == games[index].is_over
            winners = games[index].winners()
            shares = [1 / len(winners) if seat in winners else 0 for seat in range(4)]
            assert rewards[row].tolist() == shares[: rewards.shape[1]]


def test_rewards_have_a_column_a_seat_of_the_largest_game():
    two, four = ss.deal(2, 2), ss.deal(1, 4)
    assert ss.step(two.copy(), [0, 0])[0].shape == (2, 2)
    rewards, terminated = ss.step(np.concatenate([two, four]), [0, 0, 0])
    assert (rewards.shape, rewards.dtype, terminated.dtype) == ((3, 4), np.float64, np.bool_)
    assert not rewards.any()
    assert not terminated.any()


def test_the_actor_of_the_last_step_is_rewarded_although_the_move_has_passed_on():
    position = changed(
        opening(rules={"target_prestige": 1, "end": "immediate"}), ("seats.0.tokens", [0, 0, 4, 0, 0, 0])
    )
    game = at(changed(position, ("bank", [4, 4, 0, 4, 4, 5])))
    rewards, terminated = ss.step(game.state, [ss.parse_action("buy 1.1")])
    assert (rewards.tolist(), terminated.tolist(), game.seat_to_move) == ([[1.0, 0.0]], [True], 1)


@pytest.mark.kernel
def test_a_finished_row_is_refused_by_its_number_and_nothing_is_changed():
    states = ss.deal(4, seed=1)
    ss.playout(states[2:3], seed=1)
    before = states.tobytes()
    with pytest.raises(ss.IllegalActionError, match="row 2: the game is over"):
        ss.step(states, [0, 0, 0, 0])
    assert states.tobytes() == before


@pytest.mark.kernel
@pytest.mark.parametrize("action", [-1, 78, 10**6, 60, 77, 2**40, -(2**40)])
def test_an_action_that_is_not_legal_is_refused_by_its_row_and_nothing_is_changed(action):
    states = ss.deal(5, seed=1)
    before = states.tobytes()
    with pytest.raises(ss.IllegalActionError, match=f"row 3: .*{action}"):
        ss.step(states, [0, 1, 2, action, 3])
    assert states.tobytes() == before


@pytest.mark.parametrize(
    "actions",
    [
        [0.0, 0.0],
        [True, False],
        np.zeros(2, np.float32),
        np.zeros(2, bool),
        [None, 1],
        ["0", "1"],
        [0],
        [0, 0, 0],
        [[0, 0]],
        0,
        np.zeros((2, 1), int),
        np.array([0, 0], object),
        np.array([0, 1], "timedelta64[s]"),
    ],
)
def test_actions_of_a_wrong_type_or_shape_are_refused_and_nothing_is_changed(actions):
    states = ss.deal(2)
    before = states.tobytes()
    with pytest.raises(ss.StateError, match="actions must"):
        ss.step(states, actions)
    assert states.tobytes() == before


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint32, np.int64, np.uint64, ">i4"])
def test_actions_may_be_whole_numbers_of_any_width(dtype):
    states, expected = ss.deal(3), ss.deal(3)
    ss.step(expected, [0, 1, 30])
    ss.step(states, np.array([0, 1, 30], dtype))
    assert states.tobytes() == expected.tobytes()


def test_a_huge_unsigned_action_does_not_wrap_round():
    states = ss.deal(1)
    for action in (2**64 - 1, 2**63, 2**64 - 2**6):
        with pytest.raises(ss.IllegalActionError, match="row 0"):
            ss.step(states, np.array([action], np.uint64))


# ------------------------------------------------------------------------------------------------------ kinds of arrays


CALLS = {
    "legal_mask": ss.legal_mask,
    "step": lambda states: ss.step(states, np.zeros(np.shape(states)[:1] or (1,), int)),
    "observe": ss.observe,
    "determinize": lambda states: ss.determinize(states, 0, 1),
    "playout": lambda states: ss.playout(states, 1),
}
EACH_CALL = pytest.mark.parametrize("name", CALLS)


@EACH_CALL
@pytest.mark.parametrize(
    "states",
    [
        None,
        [],
        "states",
        np.zeros(3),
        np.zeros(3, np.uint8),
        np.zeros(3, ss.STATE_DTYPE.descr[:5]),
        np.zeros((2, 2), ss.STATE_DTYPE),
        np.zeros((), ss.STATE_DTYPE),
        np.zeros(3, ss.STATE_DTYPE.newbyteorder()),
    ],
    ids=["None", "list", "str", "floats", "bytes", "fewer fields", "two dimensions", "no dimension", "byte order"],
)
def test_what_is_no_array_of_states_is_refused(name, states):
    with pytest.raises(ss.StateError, match="states must"):
        CALLS[name](states)


@pytest.mark.kernel
@EACH_CALL
def test_rows_that_no_game_can_reach_are_refused_by_their_number(name):
    def broken(field, value):
        states = ss.deal(3, 3)
        states[field][1] = value
        return states

    for field, value in [
        ("players", 0),
        ("players", 1),
        ("players", 5),
        ("to_move", 3),
        ("phase", 5),
        ("phase", 2),
        ("phase", 3),
        ("phase", 1),
        ("take_fewer", 3),
        ("reserve_limit", 4),
        ("bank", 0),
        ("tokens", 2**63),
        ("deck", 2**63),
        ("on_offer", 0),
        ("card_at", 91),
        ("card_at", 90),
        ("nobles", 11),
        ("waiting", 1),
        ("reserved_count", 1),
        ("reserved_count", 255),
        ("hidden", 1),
    ]:
        states = broken(field, value)
        before = states.tobytes()
        with pytest.raises(ss.StateError, match="row 1"):
            CALLS[name](states)
        assert states.tobytes() == before, field
    with pytest.raises(ss.StateError, match="row 0"):
        CALLS[name](np.zeros(2, ss.STATE_DTYPE))


def test_arrays_of_noise_are_refused():
    rng = np.random.default_rng(1)
    for _ in range(300):
        noise = rng.integers(0, 256, 4 * ss.STATE_DTYPE.itemsize, np.uint8).view(ss.STATE_DTYPE)
        noise["players"], noise["to_move"], noise["phase"] = 2, 0, rng.integers(0, 5)
        for call in CALLS.values():
            with pytest.raises(ss.StateError):
                call(noise)


@pytest.mark.kernel
@EACH_CALL
def test_arrays_of_one_and_of_no_row_are_taken(name):
    CALLS[name](ss.deal(1))
    result = CALLS[name](ss.deal(1)[:0])
    for array in result if isinstance(result, tuple) else (result,):
        assert len(array) == 0


def test_no_actions_for_no_rows_are_taken():
    states = ss.deal(0)
    for actions in ([], (), np.zeros(0, int)):
        rewards, terminated = ss.step(states, actions)
        assert (rewards.shape[0], terminated.shape) == (0, (0,))


@pytest.mark.parametrize("name", ["step", "playout"])
def test_read_only_states_are_refused_where_they_would_be_changed(name):
    states = ss.deal(3)
    states.setflags(write=False)
    before = states.tobytes()
    with pytest.raises(ss.StateError, match="read-only"):
        CALLS[name](states)
    assert states.tobytes() == before


@pytest.mark.kernel
@pytest.mark.parametrize("name", ["legal_mask", "observe", "determinize"])
def test_read_only_states_are_read(name):
    states = ss.deal(3)
    expected = CALLS[name](states).tobytes()
    states.setflags(write=False)
    assert CALLS[name](states).tobytes() == expected
    assert CALLS[name](np.frombuffer(states.tobytes(), ss.STATE_DTYPE)).tobytes() == expected


def layouts(states):
    """The same states in memory of other layouts, all of them writable."""
    every_other = np.zeros(2 * len(states), ss.STATE_DTYPE)[::2]
    every_other[...] = states
    backwards = states[::-1].copy()[::-1]
    column = np.zeros((len(states), 3), ss.STATE_DTYPE)[:, 1]
    column[...] = states
    room = bytearray(states.nbytes + 3)
    skew = np.frombuffer(room, np.uint8)[3:].view(ss.STATE_DTYPE)
    skew[...] = states
    yield from (every_other, backwards, column, skew, states.copy().view(np.recarray))
    plain = {"names": ss.STATE_DTYPE.names, "itemsize": ss.STATE_DTYPE.itemsize}
    plain["formats"], plain["offsets"] = zip(*(ss.STATE_DTYPE.fields[name][:2] for name in plain["names"]), strict=True)
    yield states.copy().view(np.dtype(plain))


@pytest.mark.kernel
@EACH_CALL
def test_every_layout_of_memory_gives_the_same(name):
    states = under_way(mixed(jit_or(12, 4), decisions=1))
    left = states.copy()
    expected = CALLS[name](left)
    for other in layouts(states):
        found = CALLS[name](other)
        results = [part if isinstance(part, tuple) else (part,) for part in (expected, found)]
        assert [part.tobytes() for part in results[0]] == [part.tobytes() for part in results[1]]
        assert np.ascontiguousarray(other).tobytes() == left.tobytes()


def test_saved_and_loaded_states_go_on():
    states = mixed(8)
    file = io.BytesIO()
    np.save(file, states)
    file.seek(0)
    loaded = np.load(file)
    assert ss.legal_mask(loaded).tobytes() == ss.legal_mask(states).tobytes()
    assert ss.playout(loaded, 3).tobytes() == ss.playout(states, 3).tobytes()
    assert loaded.tobytes() == states.tobytes()


@pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")
def test_each_kernel_is_compiled_once_whatever_it_was_given():
    states = ss.deal(6, 3)
    for other in layouts(states):
        for call in CALLS.values():
            call(other.copy())
    ss.step(states, np.zeros(6, np.uint8))
    ss.observe(states, np.zeros(6, np.int8))
    ss.determinize(states, np.uint16(1), np.uint64(2**64 - 1))
    ss.playout(states, 0, "greedy", np.int16(3))
    game = at(opening())
    game.apply(np.uint8(31), deal=np.int8(3))
    game.chance_outcomes("reserve 1.1")
    kernels = {name: kernel for name, kernel in vars(arrays).items() if hasattr(kernel, "signatures")}
    public = [name for name in kernels if name.endswith("_rows") or name in ("play", "legal_words", "dealing_level")]
    assert len(public) >= 9
    assert {name: len(kernels[name].signatures) for name in public} == dict.fromkeys(public, 1)


# ------------------------------------------------------------------------------------------------------------- playouts


@pytest.mark.kernel
def test_playouts_end_every_game_and_share_one_win_in_each():
    states = mixed(jit_or(80, 4))
    before = states.copy()
    shares = ss.playout(states, seed=5, max_turns=10_000)
    assert np.allclose(shares.sum(axis=1), states["phase"] == 4)
    assert (states["phase"] == 4).mean() > 0.8  # some rules let random play go on for ever
    for state, row, start in zip(states, shares, before, strict=True):
        game = at(ss.to_position(state))
        winners = game.winners()
        assert row.tolist() == [1 / len(winners) if seat in winners else 0.0 for seat in range(shares.shape[1])]
        assert game.players == start["players"]
        assert game.turn >= start["turn"]


@pytest.mark.kernel
def test_a_playout_is_a_function_of_state_seed_and_row():
    states = mixed(jit_or(40, 3))
    first, second, other = states.copy(), states.copy(), states.copy()
    second["key"] += np.uint64(1)  # the cards to come are drawn anew
    shares = ss.playout(first, seed=5)
    assert ss.playout(second, seed=5).tobytes() == shares.tobytes()
    assert first.tobytes() == second.tobytes()
    ss.playout(other, seed=6)
    assert other.tobytes() != first.tobytes()
    part = states[:2].copy()
    ss.playout(part, seed=5)
    assert part.tobytes() == first[:2].tobytes()


def test_blocks_of_a_playout_do_not_show(monkeypatch):
    from splendor_sim import batch

    whole, parts = ss.deal(100, 3), ss.deal(100, 3)
    shares = ss.playout(whole, 1)
    monkeypatch.setattr(batch, "_SOON", 0.0)  # one game a block
    assert ss.playout(parts, 1).tobytes() == shares.tobytes()
    assert parts.tobytes() == whole.tobytes()


@pytest.mark.kernel
@pytest.mark.parametrize("policy", ["random", "greedy"])
def test_a_playout_stops_at_the_limit_of_turns_and_counts_no_win(policy):
    states = ss.deal(jit_or(20, 2), 2, seed=1)
    shares = ss.playout(states, 3, policy, max_turns=jit_or(12, 5))
    assert (states["turn"] == jit_or(12, 5)).all()
    assert (states["phase"] != 4).all()
    assert not shares.any()
    again = ss.playout(states, 3, policy, max_turns=1)
    assert not again.any()
    assert (states["turn"] == jit_or(12, 5)).all()


def test_a_finished_game_keeps_its_result_in_a_playout():
    states = ss.deal(20, 3)
    shares = ss.playout(states, 1)
    seats = states[["prestige", "bought", "turn", "phase"]].copy()
    assert ss.playout(states, 2).tobytes() == shares.tobytes()
    assert (states[["prestige", "bought", "turn", "phase"]] == seats).all()


@pytest.mark.parametrize("policy", ["rnadom", "", None, 0, b"random", ["random"]])
def test_an_unknown_policy_is_refused(policy):
    with pytest.raises(ss.StateError, match="policy must be 'random' or"):
        ss.playout(ss.deal(1), 1, policy)


@pytest.mark.parametrize("max_turns", [0, -1, 1.0, True, None, "9"])
def test_a_limit_of_turns_that_is_none_is_refused(max_turns):
    states = ss.deal(1)
    before = states.tobytes()
    with pytest.raises(ss.StateError, match="max_turns"):
        ss.playout(states, 1, max_turns=max_turns)
    assert states.tobytes() == before


@pytest.mark.parametrize(("players", "turns"), [(2, 74.5), (3, 105.8), (4, 141.2)])
def test_random_games_have_their_known_length(players, turns):
    states = ss.deal(20_000, players, seed=1)
    ss.playout(states, 2)
    assert abs(states["turn"].mean() - turns) < 0.6


# -------------------------------------------------------------------------------------------------------- hidden things


def with_hidden_cards(number, seed=1):
    """States in which many seats hold hidden cards."""
    rng = random.Random(seed)
    states = []
    for game in random_games(number, seed):
        for _ in range(rng.randrange(40)):
            if not game.is_over:
                blind = [action for action in game.legal_actions() if 42 <= action < 45]
                game.apply(rng.choice(blind or game.legal_actions()))
        states.append(game.state)
    return np.concatenate(states)


@pytest.mark.kernel
def test_what_a_seat_cannot_know_changes_nothing_that_it_is_given():
    states = with_hidden_cards(jit_or(150, 4))
    assert states["hidden"].any()
    for seat in (0, 1):
        twins = ss.determinize(states, seat, seed=99)
        assert twins["key"].tobytes() != states["key"].tobytes()
        assert ss.observe(twins, seat).tobytes() == ss.observe(states, seat).tobytes()
        assert ss.determinize(twins, seat, 5).tobytes() == ss.determinize(states, seat, 5).tobytes()
        mine = states["to_move"] == seat
        assert ss.legal_mask(twins[mine]).tobytes() == ss.legal_mask(states[mine]).tobytes()


@pytest.mark.kernel
def test_determinized_copies_depend_on_seed_and_row_and_leave_the_states_alone():
    states = with_hidden_cards(jit_or(40, 3))
    before = states.tobytes()
    first = ss.determinize(states, 1, 7)
    assert states.tobytes() == before
    assert ss.determinize(states, 1, 7).tobytes() == first.tobytes() != ss.determinize(states, 1, 8).tobytes()
    assert ss.determinize(states[:2], 1, 7).tobytes() == first[:2].tobytes()
    assert len(set(first["key"].tolist())) == len(first)
    seats = np.arange(len(states)) % states["players"]
    by_row = ss.determinize(states, seats, 7)
    for seat in (0, 1):
        rows = seats == seat
        assert by_row[rows].tobytes() == ss.determinize(states, seat, 7)[rows].tobytes()


def test_every_card_a_determinization_draws_is_unseen_and_they_are_drawn_alike():
    game = play(ss.Game(seed=6), "reserve 1.deck", "reserve 1.deck", "reserve 1.deck", "take wug", "reserve 1.deck")
    states = np.repeat(game.state, 20_000)
    drawn = ss.determinize(states, 1, 3)
    positions = [ss.to_position(state) for state in drawn[:50]]
    assert all(at(position).position() == position for position in positions)
    first = game.position()["seats"]
    unseen = sorted([*game.position()["decks"][0], *(held["card"] for held in first[0]["reserved"])])
    hand = drawn["card_at"][:, 12:15].astype(int)
    assert (np.sort(hand, axis=1)[:, 1:] != np.sort(hand, axis=1)[:, :-1]).all()
    for place in range(3):
        cards, counts = np.unique(hand[:, place], return_counts=True)
        assert cards.tolist() == unseen
        expected = len(hand) / len(unseen)
        assert ((counts - expected) ** 2 / expected).sum() < 90  # some 36 degrees of freedom


@pytest.mark.parametrize(
    "seat", [-1, 2, 10**6, 2**70, 1.0, True, "0", None, [0], [0, 1, 0], [0, 2], [[0, 1]], [0.0, 1.0]]
)
def test_seats_out_of_range_or_of_another_shape_are_refused(seat):
    states = ss.deal(2)
    calls = [lambda: ss.determinize(states, seat, 1)]
    if seat is not None:
        calls.append(lambda: ss.observe(states, seat))
    for call in calls:
        with pytest.raises(ss.StateError, match="seat"):
            call()


def test_a_seat_must_be_one_of_its_own_game():
    states = np.concatenate([ss.deal(1, 4), ss.deal(1, 2)])
    ss.observe(states, [3, 1])
    with pytest.raises(ss.StateError, match="row 1: seat must lie in 0-1, not 3"):
        ss.observe(states, 3)


# --------------------------------------------------------------------------------------------------------- observations

BY_SEAT = [
    "seated",
    "to_move",
    "starts",
    "tokens",
    "bonuses",
    "prestige",
    "bought",
    "nobles",
    "reserved_count",
    "reserved_level",
    "reserved_hidden",
]
OF_CARDS = ["reserved_card", "reserved_cost", "reserved_bonus", "reserved_prestige"]
OF_ALL = [
    "players",
    "phase",
    "passes",
    "rounds",
    "bank",
    "deck_sizes",
    "board_card",
    "board_cost",
    "board_bonus",
    "board_prestige",
    "noble",
    "noble_requirement",
    "pending_card",
    "pending_cost",
    "pending_bonus",
    "pending_prestige",
    "pending_gold_for",
    "rules",
]


def seen(states, seat=None):
    return ss.observe(states, seat).view(ss.OBSERVATION_DTYPE)[:, 0]


def test_states_have_no_gaps_that_copies_could_leave_unset():
    assert sum(field[0].itemsize for field in ss.STATE_DTYPE.fields.values()) == ss.STATE_DTYPE.itemsize
    assert ss.STATE_DTYPE.itemsize % 8 == 0
    assert not mixed(6)["filler"].any()


def test_observations_are_bytes_without_gaps():
    assert ss.observe(ss.deal(3)).shape == (3, ss.OBSERVATION_SIZE)
    assert ss.observe(ss.deal(3)).dtype == np.uint8
    assert sum(field[0].itemsize for field in ss.OBSERVATION_DTYPE.fields.values()) == ss.OBSERVATION_SIZE
    assert all(field[0].base == np.uint8 for field in ss.OBSERVATION_DTYPE.fields.values())
    assert {*BY_SEAT, *OF_CARDS, *OF_ALL, "unseen", "legal"} == set(ss.OBSERVATION_DTYPE.names)
    assert ss.Game().observe(1).shape == (ss.OBSERVATION_SIZE,)


@pytest.mark.kernel
def test_an_observation_says_what_the_position_says():
    for game in random_games(jit_or(60, 3), seed=12):
        walk(game, random.Random(3), jit_or(60, 8))
        position = game.position()
        for viewer in range(game.players):
            check_observation(seen(game.state, viewer)[0], game, position, viewer)


def check_observation(o, game, position, viewer):
    players = position["players"]
    assert o["players"] == players
    assert o["phase"].tolist() == [phase == position["phase"] for phase in ("main", "pay", "return", "noble", "over")]
    assert (o["passes"], o["rounds"]) == (position["passes"], min(255, position["turn"] // players))
    assert o["bank"].tolist() == position["bank"]
    assert o["deck_sizes"].tolist() == [len(deck) for deck in position["decks"]]
    cards = sum(position["board"], [])
    check_cards(o, "board", cards)
    assert o["noble"].tolist() == [tile + 1 if tile is not None else 0 for tile in position["nobles"]] + [0] * (
        4 - players
    )
    unseen = set(sum(position["decks"], []))
    for ahead in range(players):
        seat = position["seats"][(viewer + ahead) % players]
        assert o["seated"][ahead] == 1
        assert o["to_move"][ahead] == ((viewer + ahead) % players == position["to_move"])
        assert o["starts"][ahead] == ((viewer + ahead) % players == 0)
        assert o["tokens"][ahead].tolist() == seat["tokens"]
        assert o["prestige"][ahead] == game.prestige[(viewer + ahead) % players]
        assert (o["bought"][ahead], o["nobles"][ahead]) == (len(seat["cards"]), len(seat["nobles"]))
        assert o["bonuses"][ahead].sum() == len(seat["cards"])
        assert o["reserved_count"][ahead] == len(seat["reserved"])
        known = []
        for place, held in enumerate(seat["reserved"]):
            level = 0 if held["card"] < 40 else 1 if held["card"] < 70 else 2
            assert o["reserved_level"][ahead, place].tolist() == [level == each for each in range(3)]
            assert o["reserved_hidden"][ahead, place] == held["hidden"]
            known.append(None if held["hidden"] and ahead else held["card"])
            if known[-1] is None:
                unseen.add(held["card"])
        check_cards(
            o[["reserved_card", "reserved_cost", "reserved_bonus", "reserved_prestige"]], "reserved", known, ahead
        )
    for ahead in range(players, 4):
        assert not any(o[name][ahead].any() for name in [*BY_SEAT, *OF_CARDS])
    assert np.flatnonzero(o["unseen"]).tolist() == sorted(unseen)
    pending = position.get("pending")
    assert o["pending_card"] == (pending["card"] + 1 if pending else 0)
    assert o["pending_gold_for"].tolist() == (pending["gold_for"] if pending else [0] * 5)
    assert o["rules"].tolist() == [int(game.state[name][0]) for name in RULE_FIELDS]
    mine = game.legal_actions() if position["to_move"] == viewer else []
    assert np.flatnonzero(o["legal"]).tolist() == mine


def check_cards(o, name, cards, *place):
    fields = [o[f"{name}_{part}"][place] for part in ("card", "cost", "bonus", "prestige")]
    for index, (ident, cost, bonus, prestige) in enumerate(zip(*fields, strict=True)):
        card = cards[index] if index < len(cards) else None
        if card is None:
            assert not (ident.any() or cost.any() or bonus.any() or prestige.any())
        else:
            assert (ident, prestige, cost.tolist()) == (card + 1, CARD_PRESTIGE[card], CARD_COST[card])
            assert bonus.tolist() == [colour == CARD_BONUS[card] for colour in range(5)]


@pytest.mark.kernel
@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_view_of_the_next_seat_is_each_field_turned_by_one_seat(players):
    states = with_hidden_cards(jit_or(90, 9), seed=players)
    states = states[states["players"] == players]
    assert len(states)
    views = [seen(states, seat) for seat in range(players)]
    for seat in range(players):
        here, there = views[seat], views[(seat + 1) % players]
        for name in BY_SEAT:
            assert (np.roll(here[name][:, :players], -1, axis=1) == there[name][:, :players]).all(), name
        for name in OF_ALL:
            assert (here[name] == there[name]).all(), name
        open_to_all = here["reserved_hidden"] == 0
        turned = {name: np.roll(here[name][:, :players], -1, axis=1) for name in OF_CARDS}
        public = np.roll(open_to_all[:, :players], -1, axis=1)
        for name in OF_CARDS:
            assert (turned[name][public] == there[name][:, :players][public]).all(), name
    # All the way round, it is the first view again.
    for name in BY_SEAT:
        turned = views[0][name][:, :players]
        for _ in range(players):
            turned = np.roll(turned, -1, axis=1)
        assert (turned == views[0][name][:, :players]).all()


@pytest.mark.kernel
def test_the_owner_sees_a_hidden_card_and_the_others_its_level():
    game = play(ss.Game(3, seed=2), "reserve 2.deck")
    (card,) = [held["card"] for held in game.position()["seats"][0]["reserved"]]
    for viewer in range(3):
        o = seen(game.state, viewer)[0]
        ahead = -viewer % 3
        assert o["reserved_level"][ahead, 0].tolist() == [0, 1, 0]
        assert o["reserved_hidden"][ahead, 0] == 1
        assert o["reserved_card"][ahead, 0] == (card + 1 if viewer == 0 else 0)
        assert o["unseen"][card] == (viewer != 0)
        assert o["reserved_cost"][ahead, 0].any() == (viewer == 0)


def test_without_a_seat_the_one_to_move_is_the_viewer():
    states = np.concatenate([ss.deal(3, 4), play(ss.Game(4), "take wug").state])
    assert ss.observe(states).tobytes() == ss.observe(states, states["to_move"]).tobytes()
    assert ss.observe(states).tobytes() == ss.observe(states, [0, 0, 0, 1]).tobytes()
    assert seen(states)["legal"].any(axis=1).all()
    assert not seen(states, 2)["legal"].any()
    game = play(ss.Game(4), "take wug")
    assert game.observe().tobytes() == game.observe(1).tobytes()


def test_rounds_are_counted_to_255():
    states = ss.deal(3, 2)
    states["turn"] = [0, 509, 10**6]
    assert seen(states)["rounds"].tolist() == [0, 254, 255]


# ------------------------------------------------------------------------------------------------- how fair the deal is


def chi_square(counts):
    expected = counts.sum() / counts.size
    return float(((counts - expected) ** 2 / expected).sum())


def test_every_slot_is_dealt_uniformly_and_slots_are_independent():
    states = ss.deal(60_000, 2, seed=5)
    board = states["card_at"][:, :12].astype(int)
    for level, (first, size) in enumerate([(0, 40), (40, 30), (70, 20)]):
        for column in range(4):
            counts = np.bincount(board[:, 4 * level + column] - first, minlength=size)
            assert len(counts) == size
            assert chi_square(counts) < size + 6 * (2 * size) ** 0.5
        for one in range(4):
            for two in range(one):
                pairs = (board[:, 4 * level + one] - first) * size + board[:, 4 * level + two] - first
                counts = np.bincount(pairs, minlength=size * size)
                counts = np.delete(counts, np.arange(size) * (size + 1))
                assert chi_square(counts) < counts.size + 6 * (2 * counts.size) ** 0.5
    across = np.bincount((board[:, 0]) * 30 + board[:, 4] - 40, minlength=1200)
    assert chi_square(across) < 1200 + 6 * 2400**0.5


def test_the_120_rows_of_nobles_are_uniform():
    states = ss.deal(60_000, 2, seed=6)
    rows = np.sort(states["nobles"][:, :3].astype(int), axis=1)
    _, counts = np.unique(rows @ [100, 10, 1], return_counts=True)
    assert counts.size == 120
    assert chi_square(counts) < 120 + 6 * 240**0.5


def test_the_card_that_refills_a_slot_is_uniform_among_those_left():
    states = np.repeat(at(opening()).state, 20_000)
    states["key"] = np.random.default_rng(1).integers(0, 2**63, len(states), np.uint64)
    ss.step(states, np.full(len(states), ss.parse_action("reserve 3.2")))
    cards, counts = np.unique(states["card_at"][:, 9], return_counts=True)
    assert cards.tolist() == opening()["decks"][2]
    assert chi_square(counts) < 16 + 6 * 32**0.5


def test_the_deal_does_not_depend_on_rules_or_decisions():
    games = [ss.Game(2, seed=3, rules=rules) for rules in RULES]
    boards = [game.position()["board"] for game in games]
    assert boards == boards[:1] * len(games)
    one, two = ss.Game(seed=8), ss.Game(seed=8)
    play(one, "take wug", "take wug", "reserve 1.1")
    play(two, "reserve 1.1")
    assert one.position()["board"] == two.position()["board"]


# --------------------------------------------------------------------------------------------------------- conservation


@pytest.mark.kernel
def test_tokens_cards_and_nobles_are_conserved_at_every_step():
    rng = random.Random(13)
    for game in random_games(jit_or(30, 2), seed=14):
        options = ss.Rules.of(game.rules).for_players(game.players)
        for each in random_walk(game, rng, jit_or(300, 12)):
            position = each.position()
            seats = position["seats"]
            held = [position["bank"], *(seat["tokens"] for seat in seats)]
            assert [sum(counts) for counts in zip(*held, strict=True)] == [options["gem_tokens"]] * 5 + [
                options["gold_tokens"]
            ]
            assert min(min(counts) for counts in held) >= 0
            cards = [card for row in position["board"] for card in row if card is not None]
            cards += sum(position["decks"], [])
            cards += [card for seat in seats for card in seat["cards"]]
            cards += [entry["card"] for seat in seats for entry in seat["reserved"]]
            cards += [position["pending"]["card"]] if "pending" in position else []
            assert sorted(cards) == list(range(90))
            tiles = [tile for tile in position["nobles"] if tile is not None]
            tiles += [tile for seat in seats for tile in seat["nobles"]]
            assert len(tiles) == len(set(tiles)) == each.players + 1
            assert sum(each.prestige) == sum([ss_prestige(card) for seat in seats for card in seat["cards"]]) + 3 * sum(
                len(seat["nobles"]) for seat in seats
            )


def ss_prestige(card):
    from games import CARD_PRESTIGE

    return CARD_PRESTIGE[card]


# --------------------------------------------------------------------------------------------------------- golden games


def test_games_of_known_seeds_end_as_they_always_did(golden):
    lines = ["players seed rules: turns prestige sha256 of the positions of all its decisions\n"]
    for players in (2, 3, 4):
        for number, rules in enumerate(RULES):
            game = ss.Game(players, seed=number, rules=rules)
            rng = random.Random(number)
            digest = sha256()
            for each in random_walk(game, rng, 2000):
                digest.update(repr(each.position()).encode())
            lines.append(f"{players} {number} {rules}: {game.turn} {game.prestige} {digest.hexdigest()[:32]}\n")
    for players in (2, 3, 4):
        states = ss.deal(500, players, seed=1)
        for policy in ("random", "greedy"):
            played = states.copy()
            shares = ss.playout(played, 2, policy)
            fields = np.concatenate(
                [played["prestige"], played["bought"], played["tokens"].view(np.uint8).reshape(500, -1)], axis=1
            )
            digest = sha256(fields.tobytes() + shares.tobytes() + played["turn"].tobytes())
            lines.append(f"{players} playout {policy}: {digest.hexdigest()[:32]}\n")
    golden("games.txt", "".join(lines))
