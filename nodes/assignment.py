"""The votes that a run begins with, from its parameters (BGS86 5.1).

`votes`, one number for each node in their order; or `links`, the topology as pairs of nodes, of
which they are made; neither: one each, and one more for the first node where that is even.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from nodes.policies import initial_votes


def topology(parameters: Mapping[str, Any]) -> list[tuple[int, int]] | None:
    """The links, if the parameters name any."""
    links = parameters.get("links")
    return None if links is None else [(i, j) for i, j in links]


def first_votes(parameters: Mapping[str, Any], nodes: Sequence[int]) -> dict[int, int]:
    """The original assignment: as given, or from the topology (BGS86 5.1)."""
    if parameters.get("votes"):
        return dict(zip(nodes, parameters["votes"], strict=True))
    return initial_votes(nodes, topology(parameters))


def refused_votes(parameters: Mapping[str, Any], nodes: Sequence[int]) -> str:
    """Why these cannot be the votes to start with, or no threshold for them."""
    given, threshold = parameters.get("votes"), parameters.get("threshold")
    if given and (len(given) != len(nodes) or min(given) < 0 or not any(given)):
        return f"votes {given}: one number for each of {len(nodes)} nodes, and not all 0"
    for link in parameters.get("links") or ():
        if len(link) != 2 or not set(link) <= set(nodes):
            return f"links: {link} is no pair of nodes"
    most = max(first_votes(parameters, nodes).values())
    if threshold and threshold <= most:
        return f"threshold {threshold}: a node has {most} votes to start with"
    return ""
