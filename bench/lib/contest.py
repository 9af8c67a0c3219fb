"""Running contestants and keeping what they took. All processes are started by bench_time, bound to as many processors as threads.

Contestants of a case take turns, round after round, so that a machine that slows down does so for all of them.
"""
import json
import os
import subprocess
import tempfile

TOOLS = os.environ["SILT_BENCH_TOOLS"]
ROUNDS = 3
SLOW_US = 2_000_000


class Failed(Exception):
    """A contestant did not run."""


def tool(name):
    return os.path.join(TOOLS, name)


def run_timed(command, cpus, repeat=1, drop=0):
    """(what bench_time says, standard output of the last run)."""
    with tempfile.NamedTemporaryFile(mode="r", encoding="utf-8") as out:
        done = subprocess.run(
            [tool("bench_time"), "--cpus", str(cpus), "--repeat", str(repeat), "--drop", str(drop), "--out", out.name,
             *command], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Failed(f"{command[0]}: {done.stderr.strip()[-2000:]}")
        return json.loads(done.stdout), out.read()


class Measured:
    """What one contestant took: times in microseconds. times and cpu belong together, one of each for a repetition."""

    def __init__(self, who, role):
        self.who = who
        self.role = role  # "silt", "peer", "limit", or "info": shown but not compared with
        self.times = []
        self.first = []
        self.cpu = []
        self.rss_kb = 0
        self.rows = None
        self.is_slow = False
        self.said = None

    def take_process(self, process):
        self.rss_kb = max([self.rss_kb, *process["max_rss_kb"]])

    def take(self, said, skip):
        """What a process said of its repetitions; the first `skip` of them are not among the times."""
        self.first.append(said["open_us"] + said["times_us"][0])
        self.times += said["times_us"][skip:]
        self.cpu += said["cpu_us"][skip:]
        self.rows = said["rows"]
        self.said = said


def inside(contestants, cpus, repeat, between=None):
    """Repetitions inside of a process, in rounds of fresh processes. The first of each round is kept apart: it opens files, parses
    footers, starts threads. contestants: (who, role, command for a number of repetitions[, what makes of the output what bench_query
    prints])."""
    found = [Measured(who, role) for who, role, *_ in contestants]
    each = -(-repeat // ROUNDS)
    for _ in range(ROUNDS):
        for measured, (who, _, command, *read) in zip(found, contestants):
            try:
                process, text = run_timed(command(each + 1), cpus)
            except Failed as fault:
                raise Failed(f"{who}: {fault}") from fault
            measured.take_process(process)
            measured.take((read or [json.loads])[0](text), 1)
            if between:
                between(who)
    return found


def inside_cold(report, case, contestants, cpus, repeat):
    """The same for what may take seconds: the first round is one repetition a process, which gives the peak of memory and tells how long
    it takes. Above SLOW_US the other rounds are of one repetition too, and all of them count. Who fails is reported and left out."""
    found = [Measured(who, role) for who, role, *_ in contestants]
    each = -(-repeat // (ROUNDS - 1))
    failed = set()
    for number in range(ROUNDS):
        for measured, (who, _, command, *read) in zip(found, contestants):
            if who in failed:
                continue
            alone = number == 0 or measured.is_slow
            try:
                process, text = run_timed(command(1 if alone else each + 1), cpus)
            except Failed as fault:
                failed.add(who)
                report.faults.append(f"{case}: {who}: {fault}")
                continue
            if number == 0:
                measured.take_process(process)
            said = (read or [json.loads])[0](text)
            measured.is_slow = measured.is_slow or (number == 0 and said["times_us"][0] > SLOW_US)
            measured.take(said, 0 if measured.is_slow else 1)
    return [measured for measured in found if measured.who not in failed]


def processes(contestants, cpus, repeat):
    """Whole processes, each fresh. contestants: (who, role, command)."""
    found = [Measured(who, role) for who, role, _ in contestants]
    each = -(-repeat // ROUNDS)
    for number in range(ROUNDS):
        for measured, (_, _, command) in zip(found, contestants):
            process, text = run_timed(command, cpus, each, drop=2 if number == 0 else 0)
            measured.take_process(process)
            measured.times += process["wall_us"]
            measured.cpu += process["cpu_us"]
            measured.rows = text
    return found
