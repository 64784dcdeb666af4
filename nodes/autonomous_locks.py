"""Locks on votes that nodes reassign by themselves: BGS86 3 on top of BGS86 4.

As published and hardened, each as in nodes.locks; the policy neither knows nor cares.
"""

from nodes.autonomous import AutonomousOne, AutonomousTwo
from nodes.locks import HardenedOne, HardenedTwo, LocksOne, LocksTwo


class AutonomousLocksOne(LocksOne, AutonomousOne):
    """Locks as published, under policies that only increase votes."""


class AutonomousLocksTwo(LocksTwo, AutonomousTwo):
    """Locks as published, under policies that give votes back."""


class AutonomousHardenedOne(HardenedOne, AutonomousOne):
    """Hardened locks, under policies that only increase votes."""


class AutonomousHardenedTwo(HardenedTwo, AutonomousTwo):
    """Hardened locks, under policies that give votes back."""
