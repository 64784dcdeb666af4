"""The properties the analyzer can judge, by id: what each claims, and on what it rests.

Rules: an id is a name the project uses everywhere. A property rests on assumptions, and one that
rests on A8 and A9 can be excused by them; an assumption rests on nothing. Each protocol is judged
by the properties its paper claims for it.
"""

PROPERTIES: dict[str, str] = {
    "GM82-1a": "two active nodes agree on the coordinator",
    "GM82-1b": "two Normal nodes agree on the task",
    "GM82-2": "without failures every node that is up is soon Normal under one coordinator",
    "GM82-3a": "two active nodes of one group agree on the coordinator",
    "GM82-3b": "two Normal nodes of one group agree on the task",
    "GM82-4": "every maximal set of nodes that all reach each other ends in one group",
    "S00-4'a": "once stable, every node is Normal in the group of a leader it can reach",
    "S00-4'b": "once stable, there are no more groups than cliques in a minimum cover",
    "GM82-RO": "no two groups perform conflicting restricted operations",
    "GM82-GH": "the group history in a task is the one that the trace shows",
    "S97-SLE1": "two nodes with status Norm agree on the leader",
    "S97-SLE2": "without failures every node is soon Norm under a leader that is up",
    "S97-ALE1": "two nodes with status Norm in one group agree on the leader",
    "S97-ALE2": "once stable, leaders are elected, of no more groups than a clique cover has",
    "S97-ALE2'": "once stable, every node is Norm in the group of its leader, which is up",
    "S97-FD1": "a monitored node that is down and stays down is reported within tau_FD",
    "S97-FD2": "a node is reported only if monitored, and down since",
    "S97-FD2'": "within a stable interval a node is reported only if it was down within tau_FD",
    "BGS86-MAJ": "no two groups both pass a majority test for conflicting events",
    "BGS86-L211": "no increment is used, by way of others, by itself",
    "BGS86-L212": "who uses an increment sees what that one saw",
    "BGS86-L213": "of two increments whose majorities share a node one sees the other",
    "BGS86-L214": "majorities that see what the other one uses share a node",
    "BGS86-T211": "of any two increments one sees the other",
    "BGS86-C211": "who starts to collect votes after an increment committed sees it",
    "BGS86-L221": "no vote change is used, by way of others, by itself",
    "BGS86-L222": "who uses a vote set sees what its increment saw",
    "BGS86-L223": "of two increments whose majorities share a node one sees the other",
    "BGS86-L224": "of two increments that see what the other one uses one sees the other",
    "BGS86-T221": "of any two increments one sees the other",
    "BGS86-C22": "no two transactions hold the lock on one object at once",
    "CJ97-c1": "when p halts itself no higher node is Normal",
    "CJ97-c2": "at p's election point no other node is Normal or acting coordinator",
    "CJ97-c3": "when p says Ready all of Up are in Reorganization under p",
    "CJ97-c4": "when p becomes Normal all of Up are Normal under p",
    "A3": "every message accepted was sent earlier by the life it names",
    "A4": "safe cells survive any crash, and are updated wholly or not at all",
    "A5": "a failed node halts at once and restarts from Down",
    "A6": "what is received is what was sent",
    "A7": "messages of a link are handled in the order they were sent",
    "A8": "a message to a node that is up is delivered within T_m",
    "A9": "a node never pauses and answers within T_p, or fails itself",
}

OBLIGATIONS = ("A3", "A4", "A5", "A6", "A7")
ENVIRONMENT = ("A8", "A9")
FIG108 = ("CJ97-c1", "CJ97-c2", "CJ97-c3", "CJ97-c4")
SYNCHRONOUS: tuple[str, ...] = ("GM82-1a", "GM82-1b", "GM82-2", *FIG108, *OBLIGATIONS, *ENVIRONMENT)
"""What is claimed of the Bully Algorithm, where A1-A9 hold."""
ASYNCHRONOUS: tuple[str, ...] = ("GM82-3a", "GM82-3b", "GM82-4", "S00-4'a", "S00-4'b", *OBLIGATIONS)
"""What is claimed in GM82's second environment, where only A1-A7 hold."""
RESTRICTED: tuple[str, ...] = (*ASYNCHRONOUS[:5], "GM82-RO", "GM82-GH", *OBLIGATIONS)
"""The same, of a group that may do what only one group may do (GM82 IV-B)."""
STOLLER_SYNCHRONOUS: tuple[str, ...] = (
    "S97-SLE1", "S97-SLE2", "S97-FD1", "S97-FD2", *OBLIGATIONS, *ENVIRONMENT,
)  # fmt: skip
"""What is claimed of Bully_FD (S97 3, 4), where A1-A9 hold."""
STOLLER_ASYNCHRONOUS: tuple[str, ...] = (
    "S97-ALE1", "S97-ALE2", "S97-ALE2'", "S97-FD1", "S97-FD2'", *OBLIGATIONS,
)  # fmt: skip
"""What is claimed of the Asynchronous Bully (S97 5, 6, 7); ALE2 is not, and is looked at."""
SCENARIO_ONE: tuple[str, ...] = (
    "BGS86-MAJ", "BGS86-L211", "BGS86-L212", "BGS86-L213", "BGS86-L214", "BGS86-T211",
    "BGS86-C211", *OBLIGATIONS,
)  # fmt: skip
"""What is claimed of votes that only increase (BGS86 2.1)."""
SCENARIO_TWO: tuple[str, ...] = (
    "BGS86-MAJ", "BGS86-L221", "BGS86-L222", "BGS86-L223", "BGS86-L224", "BGS86-T221",
    *OBLIGATIONS,
)  # fmt: skip
"""What is claimed of votes that increase and decrease (BGS86 2.2)."""
LOCKING_ONE: tuple[str, ...] = ("BGS86-C22", *SCENARIO_ONE)
LOCKING_TWO: tuple[str, ...] = ("BGS86-C22", *SCENARIO_TWO)
"""The same, of locks on such votes (BGS86 3)."""
RESTS_ON: dict[str, tuple[str, ...]] = {
    name: OBLIGATIONS + ENVIRONMENT if name in {*SYNCHRONOUS, *STOLLER_SYNCHRONOUS} else OBLIGATIONS
    for name in PROPERTIES
} | dict.fromkeys(OBLIGATIONS + ENVIRONMENT, ())
"""What each claim is conditional on; of these only the environment excuses."""
