"""Properties of positions, options and play, on whatever hypothesis thinks of."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
import splendor_sim as ss
from games import PRESETS

seeds = st.integers(0, 2**64 - 1)
counts = st.lists(st.integers(0, 7), min_size=3, max_size=3)
options = {
    "preset": st.sampled_from(PRESETS),
    "gem_tokens": st.lists(st.integers(1, 7), min_size=3, max_size=3),
    "gold_tokens": counts,
    "target_prestige": st.integers(1, 60),
    "token_limit": st.integers(3, 20),
    "reserve_limit": st.integers(0, 3),
    "take_two_min": st.integers(2, 7),
    "take_fewer": st.sampled_from(["when_scarce", "never", "up_to"]),
    "payment": st.sampled_from(["coloured_first", "choice"]),
    "tie_break": st.sampled_from(["fewest_cards", "shared"]),
    "end": st.sampled_from(["finish_round", "immediate"]),
}
rules = st.one_of(st.sampled_from(PRESETS), st.fixed_dictionaries({}, optional=options))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=8,
)


@st.composite
def games(draw):
    """A game of any rules after some decisions; each is drawn as a number that is taken modulo the legal ones."""
    game = ss.Game(draw(st.integers(2, 4)), draw(seeds), draw(rules))
    for number in draw(st.lists(st.integers(0, 10**6), max_size=60)):
        if game.is_over:
            break
        actions = game.legal_actions()
        game.apply(actions[number % len(actions)])
    return game


@given(games())
def test_a_position_is_lawful_and_gives_back_itself_and_the_state(game):
    position = json.loads(json.dumps(game.position()))
    reference.check_position(position)
    again = ss.Game.from_position(position)
    assert again.position() == position == game.position()
    again.state["key"] = game.state["key"]
    assert again.state.tobytes() == game.state.tobytes()


@given(games(), st.integers(0, 10**6), st.integers(0, 10**6))
def test_both_engines_make_the_same_of_a_decision(game, choice, card):
    plain = reference.Game.from_position(game.position())
    actions = game.legal_actions()
    assert actions == plain.legal_actions()
    assert ss.perft(game, 1) == reference.perft(plain, 1)
    if actions:
        action = actions[choice % len(actions)]
        outcomes = game.chance_outcomes(action)
        assert outcomes == plain.chance_outcomes(action)
        deal = outcomes[card % len(outcomes)] if outcomes else None
        game.apply(action, deal)
        plain.apply(action, deal)
        assert game.position() == plain.position()
        assert (game.winners(), game.ranks()) == (plain.winners(), plain.ranks())


@given(games(), seeds)
def test_a_determinization_changes_nothing_that_the_seat_sees(game, seed):
    for seat in range(game.players):
        other = game.determinize(seat, seed)
        reference.check_position(other.position())
        assert other.observe(seat).tobytes() == game.observe(seat).tobytes()
        assert other.determinize(seat, 1).state.tobytes() == game.determinize(seat, 1).state.tobytes()


@given(games(), st.data())
def test_a_changed_position_is_refused_by_both_engines_or_by_none(game, data):
    position = game.position()
    place = position
    while True:
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        if not place[key] or not isinstance(place[key], dict | list) or data.draw(st.booleans()):
            break
        place = place[key]
    place[key] = data.draw(
        json_values | st.integers(-1, 90) | st.sampled_from(["main", "pay", "return", "noble", "over"])
    )
    assert lawful(ss.from_position, position) == lawful(reference.check_position, position)


def lawful(check, position):
    if isinstance(position.get("turn"), int) and position["turn"] >= 2**32:
        return False  # lawful, but more than a state can count
    if isinstance(position.get("passes"), int) and position["passes"] > 255:
        return False
    try:
        check(position)
    except (ss.PositionError, reference.PositionLawError):
        return False
    return True


@given(json_values | st.fixed_dictionaries({}, optional=dict.fromkeys(options, json_values)))
def test_rules_are_taken_or_refused_alike_by_both_engines(value):
    def taken(check):
        try:
            check(value)
        except ValueError:
            return False
        return True

    assert taken(ss.Rules.of) == taken(lambda given: reference.resolve_rules(given, 2))


@given(rules, st.integers(2, 4))
def test_rules_mean_the_same_to_both_engines(value, players):
    plain = reference.resolve_rules(value, players)
    ours = ss.Rules.of(value).to_dict()
    for name in ("gem_tokens", "gold_tokens"):
        ours[name] = ours[name][players - 2]
    assert ours == plain


@given(json_values)
def test_whatever_is_no_position_is_refused_as_one(value):
    with pytest.raises(ss.PositionError):
        ss.from_position(value)


@given(st.text(max_size=20))
def test_a_name_means_one_decision_or_none(name):
    try:
        action = ss.parse_action(name)
    except ss.IllegalActionError:
        return
    assert ss.action_name(action) == " ".join(name.split())


@settings(max_examples=30)
@given(st.lists(games(), min_size=1, max_size=4), seeds)
def test_playouts_share_one_win_a_game(some, seed):
    import numpy as np

    states = np.concatenate([game.state for game in some])
    shares = ss.playout(states, seed, max_turns=5000)
    assert all(abs(row.sum() - (state["phase"] == 4)) < 1e-12 for row, state in zip(shares, states, strict=True))
