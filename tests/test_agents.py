"""Agent specs: what they mean and what is refused."""

import numpy as np
import pytest

import splendor_sim as ss
from splendor_sim.agents import KINDS, POLICY_NAMES, AgentError, parse_agent, parse_agents
from splendor_sim.core.policies import POLICIES
from splendor_sim.core.settings import EXPLORATION, SEARCH, TO_THE_END


def test_every_agent_that_can_be_asked_for_has_a_policy_that_kernels_know():
    assert tuple(POLICIES) == POLICY_NAMES
    found = {name: parse_agent(name).settings()["policy"].tolist() for name in KINDS}
    assert found == {name: [POLICIES.get(name, SEARCH)] for name in KINDS}


@pytest.mark.parametrize("spec", [*KINDS, "greedy:epsilon=0.1", "mcts:seconds=0.5,threads=2", "package.module:Class"])
def test_the_spec_of_an_agent_means_that_agent(spec):
    agent = parse_agent(spec)
    assert agent.spec == spec
    assert parse_agent(agent.spec) == parse_agent(agent) == agent


def test_options_come_out_as_kernels_read_them():
    assert parse_agent("greedy:epsilon=0.25").settings()["epsilon"].tolist() == [2**30]
    assert parse_agent("guide:epsilon=1").settings()["epsilon"].tolist() == [2**32]
    row = parse_agent("mcts:simulations=50,policy=random,leaf=playout,epsilon=0.5").settings()[0]
    assert (row["simulations"], row["leaf_policy"], row["turns"]) == (50, POLICIES["random"], TO_THE_END)
    assert row["leaf_epsilon"] == 2**31 and row["exploration"] == np.float32(EXPLORATION["playout"])
    row = parse_agent("mcts:turns=3,exploration=2").settings()[0]
    assert (row["simulations"], row["turns"], row["exploration"]) == (1000, 3, 2)


def test_no_agents_means_all_random():
    assert [agent.spec for agent in parse_agents(None, 3)] == ["random"] * 3


@pytest.mark.parametrize(
    "spec, told",
    [
        ("gredy", "random, greedy"),
        ("", "random, greedy"),
        ("Random", "random, greedy"),
        ("package.module", "module:Class"),
        ("package.module:", "module:Class"),
        ("greedy:depth=3", "no option 'depth'"),
        ("random:epsilon=0.1", "it has no options"),
        ("greedy:epsilon", "option=value"),
        ("greedy:", "option=value"),
        ("greedy:epsilon=1.5", "a number from 0 to 1, not '1.5'"),
        ("greedy:epsilon=nan", "a number from 0 to 1, not 'nan'"),
        ("greedy:epsilon=0.1,epsilon=0.2", "epsilon twice"),
        ("mcts:simulations=0", "a whole number from 1 to"),
        ("mcts:simulations=5,seconds=1", "not both"),
        ("mcts:leaf=wild", "evaluation or playout"),
        (3, "not 3"),
        (None, "not None"),
    ],
)
def test_an_unknown_agent_or_option_is_refused_with_what_there_is(spec, told):
    with pytest.raises(AgentError, match=told):
        parse_agent(spec)


@pytest.mark.parametrize("specs", [["random"], ["random"] * 3, [], "greedy", "ab", 2, {"random": 1}])
def test_agents_are_one_spec_a_seat(specs):
    with pytest.raises(AgentError, match="one spec a seat"):
        parse_agents(specs, 2)


@pytest.mark.parametrize("spec", ["package.module:Class", "mcts:seconds=1", "mcts:threads=2"])
def test_a_run_refuses_agents_that_no_kernel_plays(spec):
    with pytest.raises(AgentError, match="match and tournament only"):
        ss.simulate(10, agents=["random", spec])
    with pytest.raises(AgentError, match="match and tournament only"):
        ss.sweep({"target_prestige": [3]}, 10, agents=["random", spec])
