"""A run under way: the verbs a scenario speaks.

Every verb resolves its targets, becomes a Step of the schedule, is stamped in the trace and
then done by the engine; driving a run from a recorded schedule goes through the same door.
Waits look at the trace: `seen` at everything since the last fault was injected, the others at
the state it shows now.
"""

from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from random import Random
from typing import Any

import msgspec

from harness import partitions
from harness.checks import RULES, check, check_request, rule_of
from harness.engine import Engine
from harness.live import Live
from harness.rules import Drop, Link, Rule
from harness.schedule import FAULTS, Schedule, ScheduleError, Step
from harness.targets import Target, resolve
from nodes.config import Ask, Point, load_protocol
from traces.events import Injected, Waited
from traces.run import RunInfo
from traces.words import fault_in_words

MS = 1_000_000


class GaveUp(Exception):  # noqa: N818 (it is what happened, not a bug)
    """A wait ended without what it waited for."""


class Run:
    """What a scenario function is handed."""

    def __init__(
        self, info: RunInfo, engine: Engine, narrate: Callable[[str], None] = lambda _: None
    ) -> None:
        self.info, self.engine, self._narrate = info, engine, narrate
        self.nodes = tuple(range(1, info.nodes + 1))
        self.live = Live(engine.events)
        self.steps: list[Step] = []
        self._random = Random(info.seed)
        self._rules: dict[int, tuple[str, tuple[Link, ...]]] = {}
        self._dropping: dict[int, int] = {}  # paused node -> the rule that drops meanwhile
        self._mark = self._number = 0
        self._highest_rule = self._asked = 0
        self._finishing = False
        self._began = engine.now()

    # --- processes --------------------------------------------------------------------------

    def start(self, target: Target = "all") -> None:
        """Start nodes; all of them unless told otherwise."""
        self.apply(Step("start", nodes=self._resolve(target)))

    def kill(self, target: Target) -> int:
        """SIGKILL. Returns the node (the first, if it was several)."""
        return self._to("kill", target)

    def restart(self, target: Target) -> int:
        """Start dead nodes again, each in its next incarnation."""
        return self._to("restart", target)

    def pause(self, target: Target, contract: str = "buffer") -> int:
        """SIGSTOP. `buffer`: the kernel queues meanwhile; `drop`: the relay discards."""
        nodes = self._resolve(target)
        for node in nodes:
            self._to("pause", node, contract=contract)
        return nodes[0]

    def resume(self, target: Target) -> int:
        """SIGCONT."""
        return self._to("resume", target)

    def arm(self, target: Target, event: str, **where: Any) -> int:
        """Make a node stop itself right after it writes such an event, before its effect."""
        return self._to("arm", target, event=event, where=where)

    def ask(self, target: Target, kind: str, **args: Any) -> int:
        """Ask something of a node, as a client of it would: what its protocol offers."""
        return self._to("ask", target, kind=kind, args=args)

    # --- links ------------------------------------------------------------------------------

    def cut(self, links: Iterable[Link]) -> int:
        """Nothing passes on these directed links. Returns the rule, for `mend`."""
        return self._on("cut", links)

    def split(self, *groups: Collection[int]) -> int:
        """Cut every link between the groups, both ways."""
        return self._cut(partitions.split, *groups)

    def one_way(self, a: Target, b: Target) -> int:
        """Nothing from a reaches b; what b sends still reaches a."""
        return self._cut(partitions.one_way, self._resolve(a), self._resolve(b))

    def isolate(self, target: Target) -> int:
        """Nothing to it, nothing from it."""
        return self._cut(partitions.isolate, self._resolve(target)[0])

    def bridge(self, target: Target) -> int:
        """Two halves of the nodes that share only this one."""
        return self._cut(partitions.bridge, self._resolve(target)[0])

    def ring(self) -> int:
        """A ring of majorities: each node reaches one, and no two the same."""
        return self._cut(partitions.ring_of_majorities)

    def graph(self, edges: Iterable[Link]) -> int:
        """Only these undirected edges stay."""
        return self._cut(partitions.graph, list(edges))

    def overlap(self, *groups: Collection[int]) -> int:
        """Components that may share nodes: only who is in one with another reaches it."""
        return self._cut(partitions.overlap, *groups)

    def hold(self, links: Iterable[Link]) -> int:
        """Keep everything on these links until it is released."""
        return self._on("hold", links)

    def delay(self, links: Iterable[Link], ms: float, jitter_ms: float = 0.0) -> int:
        """Deliver later."""
        return self._on("delay", links, ms=ms, jitter_ms=jitter_ms)

    def lose(self, links: Iterable[Link], p: float) -> int:
        """Drop each datagram with probability p."""
        return self._on("lose", links, p=p)

    def duplicate(self, links: Iterable[Link], p: float = 1.0, after_ms: float = 0.0) -> int:
        """Deliver twice, the second time later."""
        return self._on("duplicate", links, p=p, after_ms=after_ms)

    def reorder(self, links: Iterable[Link], p: float, ms: float) -> int:
        """Deliver some later, so that others overtake them."""
        return self._on("reorder", links, p=p, ms=ms)

    def mend(self, rule: int | None = None) -> None:
        """Take a rule off its links; all rules when none is named."""
        for rule_id in list(self._rules) if rule is None else [rule]:
            if rule_id not in self._dropping.values():
                self.apply(Step("mend", rule=rule_id))

    release = mend

    def links(self, a: Target = "all", b: Target = "all") -> tuple[Link, ...]:
        """The directed links from a to b."""
        to = self._resolve(b)
        return tuple((i, j) for i in self._resolve(a) for j in to if i != j)

    # --- waits ------------------------------------------------------------------------------

    def settled(self, among: Target = "all", within_ms: float | None = None) -> None:
        """Until all that run of these nodes are Normal under one coordinator of them."""
        args = {"within_ms": within_ms} if within_ms else {}
        self.apply(Step("settled", nodes=self._resolve(among), args=args))

    def calm(self, ms: float | None = None, within_ms: float | None = None) -> None:
        """Until all that run have been Normal for so long without a change of state.

        As long as any procedure waits for a CALL or for its turn, unless told otherwise.
        """
        timing = self.info.timing
        args = {"ms": ms or 2 * timing.check_ms + (self.info.nodes + 1) * timing.t_ms}
        self.apply(Step("calm", args=args | ({"within_ms": within_ms} if within_ms else {})))

    def seen(self, event: str, within_ms: float | None = None, **where: Any) -> None:
        """Until such an event is in the trace (since the last fault)."""
        args: dict[str, Any] = {"event": event, "where": where}
        self.apply(Step("seen", args=args | ({"within_ms": within_ms} if within_ms else {})))

    def reached(self, target: Target) -> int:
        """Until an armed node has stopped itself at its point."""
        return self._to("reached", target)

    def elapse(self, ms: float) -> None:
        """Let this much time pass."""
        self.apply(Step("elapse", args={"ms": ms}))

    def until(self, ms: float) -> None:
        """Let time pass until so long after the start of the run."""
        self.elapse(max(0.0, ms - self.passed_ms))

    @property
    def passed_ms(self) -> float:
        """How long this run has gone on."""
        return (self.engine.now() - self._began) / MS

    @property
    def next_step(self) -> int:
        """The number the next step will have."""
        return self._number + 1

    # --- how it is done -----------------------------------------------------------------------

    def finish(self) -> None:
        """Every run ends mended: rules off, paused nodes on, and time to settle.

        That is no part of the schedule: whoever drives it ends in the same way.
        """
        self._finishing = True
        self.live.catch_up()
        stopped = sorted(self.live.stopped & self.live.up)
        self._note_what_is_left(stopped)
        for node in stopped:
            self.resume(node)
        self.mend()
        if self.live.up and self.info.elects:
            with suppress(GaveUp):  # whether it had to settle is for the analyzer to say
                self.settled(within_ms=1.1 * self.info.settles_ms)

    def _note_what_is_left(self, stopped: list[int]) -> None:
        left = [f"node {node} stopped" for node in stopped]
        left += [f"{verb} (rule {rule})" for rule, (verb, _) in self._rules.items()]
        if left:
            note = f"the script left in force, and the end mended: {', '.join(left)}"
            self.info.notes.append(note)
            self._narrate(note)

    def drive(self, schedule: Schedule) -> None:
        """Do what a recorded schedule says."""
        for number, step in enumerate(schedule.steps, 1):
            nodes = step.nodes or (self.nodes if step.verb in ("start", "settled") else ())
            try:
                self.apply(msgspec.structs.replace(step, nodes=nodes))
            except ScheduleError as error:
                raise ScheduleError(f"step {number}: {error}") from None

    def apply(self, step: Step) -> None:
        """One step: into the schedule, into the trace, into the world."""
        self.live.catch_up()
        if step.verb in RULES:
            step.rule = self._fresh(step)
        check(step, self.nodes, self.live, self._rules)
        if step.verb == "ask" and not self.info.command:
            check_request(step, load_protocol(self.info.protocol))
        self._number += 1
        if not self._finishing:
            self.steps.append(step)
        step.at_ms = round(self.passed_ms, 3)
        if step.verb in FAULTS:
            self._narrate(fault_in_words(step))
            self._inject(step)
        else:
            self._wait(step)
        self.live.catch_up()

    def _fresh(self, step: Step) -> int:
        """The number of its rule. What a rule did is told by its number: none is used twice."""
        least = self._highest_rule + 1
        if step.rule and step.rule < least:
            raise ScheduleError(f"{step.verb}: rule {step.rule}; the next one is {least} or more")
        return step.rule or least

    def _inject(self, step: Step) -> None:
        if step.verb == "pause" and step.args.get("contract") == "drop":
            step.rule = self._highest_rule + 1
        if step.verb == "mend":
            step.links = self._rules[step.rule][1]
        self._mark = len(self.engine.events)
        self.engine.record(
            Injected(
                step=self._number, verb=step.verb, nodes=step.nodes, links=step.links,
                rule=step.rule, args=step.args,
            )
        )  # fmt: skip
        if step.verb in RULES:
            self._install(step.rule, rule_of(step), step.verb, step.links)
        elif step.verb == "mend":
            self._remove(step.rule)
        else:
            self._to_nodes(step)

    def _to_nodes(self, step: Step) -> None:
        engine = self.engine
        if step.verb in ("start", "restart"):
            engine.spawn({node: self.live.inc.get(node, 0) + 1 for node in step.nodes})
        for node in step.nodes:
            if step.verb == "kill":
                engine.kill(node)
                self._take_in(node)
            elif step.verb == "pause":
                if step.rule:
                    inbound = tuple((j, node) for j in self.nodes if j != node)
                    self._install(step.rule, Drop(), "pause", inbound)
                    self._dropping[node] = step.rule
                engine.suspend(node)
                engine.witness(self._number, node)
            elif step.verb == "resume":
                engine.witness(self._number, node)
                engine.resume(node)
                self._take_in(node)
            elif step.verb == "arm":
                engine.arm(node, [Point(step.args["event"], step.args.get("where", {}))])
            elif step.verb == "ask":
                self._asked += 1
                engine.ask(node, Ask(self._asked, step.args["kind"], step.args.get("args", {})))

    def _take_in(self, node: int) -> None:
        """End what the drop contract of its pause did to a node that is paused no more."""
        if node in self._dropping:
            self._remove(self._dropping.pop(node))

    def _install(self, rule_id: int, rule: Rule, verb: str, links: tuple[Link, ...]) -> None:
        self._highest_rule = max(self._highest_rule, rule_id)
        self.engine.install(rule_id, rule, links)
        self._rules[rule_id] = (verb, links)

    def _remove(self, rule_id: int) -> None:
        self.engine.remove(rule_id)
        del self._rules[rule_id]

    def _wait(self, step: Step) -> None:
        args = step.args
        if step.verb == "elapse":
            self.engine.advance(None, self.engine.now() + round(args["ms"] * MS))
            self._waited(step, False)
            return
        within_ms = args.get("within_ms") or 2 * self.info.settles_ms
        conditions: dict[str, Callable[[], bool]] = {
            "settled": lambda: self.live.settled(step.nodes),
            "calm": lambda: self._calm(round(args.get("ms", 0.0) * MS)),
            "reached": lambda: set(step.nodes) <= self.live.stopped,
            "seen": lambda: self._saw(args.get("event", ""), args.get("where", {})),
        }
        condition = conditions[step.verb]

        def done() -> bool:
            self.live.catch_up()
            return condition()

        came = self.engine.advance(done, self.engine.now() + round(within_ms * MS))
        self._waited(step, not came)
        if not came:
            raise GaveUp(f"{fault_in_words(step)} did not come true within {within_ms / 1000:g} s")

    def _waited(self, step: Step, gave_up: bool) -> None:
        what = {"nodes": step.nodes, **step.args} if step.nodes else step.args
        self.engine.record(Waited(step=self._number, what=step.verb, gave_up=gave_up, args=what))

    def _calm(self, ns: int) -> bool:
        return self.live.normal() and self.engine.now() - self.live.changed >= ns

    def _saw(self, event: str, where: dict[str, Any]) -> bool:
        point = Point(event, where)
        fresh = self.engine.events[self._mark :]
        return any(point.matches(event) for event in fresh)

    # --- targets ----------------------------------------------------------------------------

    def _to(self, verb: str, target: Target, **args: Any) -> int:
        nodes = self._resolve(target)
        self.apply(Step(verb, nodes=nodes, args=args))
        return nodes[0]

    def _on(self, verb: str, links: Iterable[Link], **args: Any) -> int:
        step = Step(verb, links=tuple(sorted(set(links))), args=args)
        self.apply(step)
        return step.rule

    def _cut(self, shape: Callable[..., Collection[Link]], *args: Any) -> int:
        try:
            return self.cut(shape(self.nodes, *args))
        except ValueError as error:
            raise ScheduleError(f"{shape.__name__}: {error}") from None

    def _resolve(self, target: Target) -> tuple[int, ...]:
        self.live.catch_up()
        return resolve(target, self.nodes, self.live, self._random)
