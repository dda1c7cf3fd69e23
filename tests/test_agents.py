"""Agent specs: what they mean and what is refused."""

import pytest

from splendor_sim.agents import KINDS, AgentError, parse_agent, parse_agents
from splendor_sim.core.policies import POLICIES


def test_every_agent_that_can_be_asked_for_has_a_policy_that_kernels_know():
    assert {name: parse_agent(name).policy for name in KINDS} == {name: POLICIES[name] for name in KINDS}


@pytest.mark.parametrize("spec", KINDS)
def test_the_spec_of_an_agent_means_that_agent(spec):
    agent = parse_agent(spec)
    assert agent.spec == spec
    assert parse_agent(agent.spec) == parse_agent(agent) == agent


def test_no_agents_means_all_random():
    assert [agent.spec for agent in parse_agents(None, 3)] == ["random"] * 3


@pytest.mark.parametrize(
    "spec, told",
    [
        ("gredy", "random, greedy"),
        ("", "random, greedy"),
        ("Random", "random, greedy"),
        ("package.module:Class", "random, greedy"),
        ("greedy:depth=3", "no option 'depth'"),
        ("greedy:depth", "option=value"),
        ("greedy:", "option=value"),
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
