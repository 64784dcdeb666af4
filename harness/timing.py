"""The times of a run, fitted to the machine it runs on.

T_m and T_p bound what the machine does to a message and to a node (A8, A9). A machine that
wakes its processes late breaks them by itself, so they grow with its own wake-up jitter and
with the number of nodes that share its cores. The periods follow: Check twice in 4 T, and
Timeout only when a whole election (at most n CALLs that time out) could have passed.
"""

import os
from time import monotonic_ns, sleep

from traces.run import Timing

LEAST_T_M_MS, LEAST_T_P_MS = 15.0, 20.0
NAPS, NAP_S = 40, 0.001
NODES_A_CORE = 8  # more than this, and they wait for each other


def timing_for(nodes: int, slowness: float = 1.0) -> Timing:
    """T_m, T_p and the periods for so many nodes, `slowness` times the least."""
    t_m, t_p = (round(least * slowness, 1) for least in (LEAST_T_M_MS, LEAST_T_P_MS))
    t = 2 * t_m + t_p
    return Timing(t_m_ms=t_m, t_p_ms=t_p, check_ms=2 * t, timeout_ms=(nodes + 1) * t)


def jitter_ms() -> float:
    """How late this machine wakes a sleeper, at the worst of a few naps."""
    worst = 0
    for _ in range(NAPS):
        due = monotonic_ns() + round(NAP_S * 1e9)
        sleep(NAP_S)
        worst = max(worst, monotonic_ns() - due)
    return worst / 1e6


def calibrated(nodes: int, patience: float = 1.0) -> tuple[Timing, str]:
    """The times for this machine now, and a note of how they came about."""
    jitter, cores = jitter_ms(), os.cpu_count() or 1
    slowness = patience * max(1.0, jitter / 2.5, nodes / (NODES_A_CORE * cores))
    timing = timing_for(nodes, slowness)
    note = f"times x{slowness:.1f}: this machine wakes up to {jitter:.2f} ms late, {cores} cores"
    return timing, note
