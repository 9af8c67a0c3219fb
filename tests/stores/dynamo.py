#!/usr/bin/env python3
"""silt and (a double of) Delta Spark at one table on S3, whose commits go by DynamoDB: versitygw, dynalite, dynamo_double.py.

    tests/stores/dynamo.py        (tests/stores/run s3-dynamo calls it)

Each leaves commits unfinished at every step and the other one finishes them; both write at once; what must be refused is refused; and the
requests and rounds of docs/stores.md are counted. SILT names the program. Prints a line for each case; the last is "N passed, N failed".
"""
import contextlib
import csv
import io
import json
import os
import random
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time

import aws_client
import counting
import dynamo_double
import servers
import telling
from dynamo_double import COPY, ENTRY, TEMP, Double

HERE = os.path.dirname(os.path.abspath(__file__))
SILT = os.environ.get("SILT") or os.path.realpath(os.path.join(HERE, "..", "..", "build", "release", "bin", "silt"))
PATIENCE = 300
TABLE = "delta_log"
WRITERS, COMMITS = 4, 30  # of each kind, of each
STEPS = {TEMP: r"PUT .*/_delta_log/\.tmp/", ENTRY: "PutItem", COPY: r"PUT .*/_delta_log/\d{20}\.json$", "complete": "PutItem"}
DELAY = 0.04  # of a request, where rounds are counted: longer than what silt itself takes between two


class Wrong(Exception):
    """Something is not as it must be."""


def same(expected, found, what):
    if expected != found:
        raise Wrong(f"{what}: expected {expected!r:.300}, found {found!r:.300}")


def arguments(options):
    return [text for name, value in options.items() for text in ("--store-option", f"{name}={value}")]


class Place:
    """One table, and both sides of it."""

    def __init__(self, world):
        self.world = world
        self.path = f"{servers.BUCKET}/folder/t-{secrets.token_hex(5)}"
        self.uri = f"s3://{self.path}"
        self.options = dict(world.server.options, delta_dynamo_table_name=TABLE)
        self.double = self.spelled("s3a")
        self.s3 = world.s3

    def spelled(self, scheme, path=None):
        return Double(self.world.s3, self.world.dynamo, TABLE, scheme, path or self.path)

    def start(self, *args, **options):
        command = [SILT, *args, *arguments({**self.options, **options})]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, *args, code=0, **options):
        """What it printed; for an exit status other than 0, its errors."""
        process = self.start(*args, **options)
        out, errors = process.communicate(timeout=PATIENCE)
        said = (errors + out).strip().replace("\n", " | ")
        same(code, process.returncode, f"silt {args[0]} {args[1][:80]!r} ({said:.500})")
        return out if code == 0 else errors

    def sql(self, text, code=0, **options):
        text = text.replace("@", f"delta.`{self.uri}`")
        return self.run("sql", text, "-o", "csv", code=code, **options)

    def create(self, **options):
        self.sql("CREATE TABLE @ (id BIGINT)", **options)

    def insert(self, *ids, **options):
        return self.sql("INSERT INTO @ VALUES " + ", ".join(f"({i})" for i in ids), **options)

    def ids(self, **options):
        rows = list(csv.DictReader(io.StringIO(self.sql("SELECT id FROM @ ORDER BY id", **options))))
        return [int(row["id"]) for row in rows]

    def plain(self):
        """Options of a silt that is not told of DynamoDB."""
        return {name: value for name, value in self.options.items() if "dynamo" not in name and "locking" not in name}

    # the double's commits

    def lines(self, i):
        """A commit that appends the row i, with its file in place."""
        path, data, add = self.world.files[i]
        self.s3.put(f"{self.double.log[:-len('/_delta_log')]}/{path}", data)
        info = {"commitInfo": {"timestamp": int(time.time() * 1000), "operation": "WRITE", "operationParameters": {"mode": "Append"}}}
        return [json.dumps(info), json.dumps({"add": add})]

    def leave(self, version, i, step):
        """The double commits and stops after the step."""
        with contextlib.suppress(dynamo_double.Stopped):
            self.double.write(version, self.lines(i), stop_after=step)

    # what must hold

    def check_log(self, versions):
        """Versions without a gap, each the bytes of its entry's temporary file, all entries complete but perhaps the newest."""
        names = self.double.list_from(0)
        commits = [name for name in names if re.fullmatch(r"\d{20}\.json", name)]
        same([Double.name(v) for v in range(versions)], commits, "versions")
        entries = self.double.entries()
        same([], [entry for entry in entries if not entry["complete"] or not entry["expireTime"]], "entries that are not complete")
        for entry in entries:
            temp, file = (self.s3.get(self.double.key(entry[name])) for name in ("tempPath", "fileName"))
            same(temp, file, f"bytes of {entry['fileName']}")
        return entries


class World:
    """Servers, and data files of one row each that the double appends."""

    def __init__(self, server, folder, n):
        self.server = server
        self.s3 = aws_client.S3(server, servers.BUCKET)
        self.dynamo = aws_client.DynamoDb(server.dynamo.port, server)
        self.files = self.make_files(os.path.join(folder, "made"), n)

    @staticmethod
    def make_files(table, n):
        text = f"CREATE TABLE delta.`{table}` (id BIGINT); " + "; ".join(f"INSERT INTO delta.`{table}` VALUES ({i})" for i in range(n))
        subprocess.run([SILT, "sql", text], check=True, stdout=subprocess.DEVNULL, timeout=PATIENCE)
        found = []
        for i in range(n):
            with open(os.path.join(table, "_delta_log", f"{i + 1:020}.json"), encoding="utf-8") as log:
                add = next(json.loads(line)["add"] for line in log if '"add"' in line)
            with open(os.path.join(table, add["path"]), "rb") as file:
                found.append((add["path"], file.read(), add))
        return found


# ---- silt finishes what the double left ----


def left_by_double(world, step):
    place = Place(world)
    place.create()
    place.insert(1000)
    place.leave(2, 7, step)
    committed = [] if step == TEMP else [7]
    same(committed + [1000], place.ids(), "rows that are seen")
    if committed:
        entry = place.double.get_entry(Double.name(2))
        same(True, entry["complete"] and entry["expireTime"] > time.time() + 80000, f"the entry is complete: {entry}")
    place.insert(1001)
    same(committed + [1000, 1001], place.ids(), "rows after another commit")
    place.check_log(3 + len(committed))


def silt_passes_over_a_temporary_file(world):
    left_by_double(world, TEMP)


def silt_finishes_an_entry_without_a_copy(world):
    left_by_double(world, ENTRY)


def silt_finishes_a_copy_that_is_not_complete(world):
    left_by_double(world, COPY)


def silt_writes_behind_an_entry_without_a_copy(world):
    place = Place(world)
    place.create()
    place.leave(1, 5, ENTRY)
    place.insert(1000)
    same([5, 1000], place.ids(), "rows")
    place.check_log(3)


def silt_takes_an_entry_without_expiry_as_it_is(world):
    place = Place(world)
    place.create()
    place.leave(1, 5, COPY)
    entry = place.double.get_entry(Double.name(1))
    place.double.put_entry({**entry, "complete": True}, overwrite=True)
    place.insert(1000)
    same([5, 1000], place.ids(), "rows")
    same(None, place.double.get_entry(Double.name(1))["expireTime"], "the expiry of another's complete entry")


def silt_finishes_the_first_commit(world):
    model, place = Place(world), Place(world)
    model.create()
    text = model.s3.get(model.double.key(Double.name(0))).decode().splitlines()
    with contextlib.suppress(dynamo_double.Stopped):
        place.double.write(0, text, stop_after=ENTRY)
    place.insert(3)
    same([3], place.ids(), "rows")
    place.check_log(2)


def a_commit_whose_bytes_are_gone_is_told(world):
    place = Place(world)
    place.create()
    place.leave(1, 5, ENTRY)
    place.s3.remove(place.double.key(place.double.get_entry(Double.name(1))["tempPath"]))
    for said in (place.insert(1, code=4), place.sql("SELECT * FROM @", code=4)):
        same(True, "[SILT_DYNAMODB_COMMIT_LOST]" in said, said)


def an_entry_that_leads_out_of_the_log_is_refused(world):
    place = Place(world)
    place.create()
    for temp in ("../../x", "/x", ".tmp/../../x", Double.name(1)):
        entry = {"fileName": Double.name(1), "tempPath": temp, "complete": False, "expireTime": None}
        place.double.put_entry(entry, overwrite=True)
        same(True, "names no temporary file" in place.sql("SELECT * FROM @", code=4), temp)


# ---- the double finishes what silt left ----


def killed_at(world, step):
    """silt dies when the step's request was obeyed and not yet answered."""
    place = Place(world)
    place.create()
    place.insert(1000)
    seen = []
    with telling.Proxy(world.server.port) as s3, telling.Proxy(world.server.dynamo.port) as dynamo:
        options = {"aws_endpoint_url": s3.url, "aws_endpoint_url_dynamodb": dynamo.url}
        process = place.start("sql", f"INSERT INTO delta.`{place.uri}` VALUES (1001)", **options)

        def hook(label):
            if re.match(STEPS[step], label):
                seen.append(label)
                if len(seen) == (2 if step == "complete" else 1):
                    process.send_signal(signal.SIGKILL)
                    process.wait()
                    return True
            return False

        s3.hook = dynamo.hook = hook
        process.communicate(timeout=PATIENCE)
    same(-signal.SIGKILL, process.returncode, f"silt was killed at {step}")
    committed = [] if step == TEMP else [1001]
    entry = place.double.get_entry(Double.name(2))
    same(bool(committed), entry is not None, "the entry")
    same(step == "complete", bool(entry and entry["complete"]), "the entry is complete")
    same(step in (COPY, "complete"), place.s3.exists(place.double.key(Double.name(2))), "the copy")
    version = place.double.append(2, place.lines(4))
    same(2 + len(committed), version, "the version of the double's commit")
    same([4, 1000] + committed, place.ids(), "rows")
    place.check_log(3 + len(committed))


def the_double_passes_over_silts_temporary_file(world):
    killed_at(world, TEMP)


def the_double_finishes_silts_entry(world):
    killed_at(world, ENTRY)


def the_double_finishes_silts_copy(world):
    killed_at(world, COPY)


def silts_answer_does_not_matter_any_more(world):
    killed_at(world, "complete")


def a_lost_answer_of_the_entry_is_read_back(world):
    """The connection ends behind the effect: silt asks whose the entry is."""
    place = Place(world)
    place.create()
    lost = []
    with telling.Proxy(world.server.dynamo.port) as dynamo:
        dynamo.hook = lambda label: label == "PutItem" and not lost and not lost.append(label)
        place.insert(9, aws_endpoint_url_dynamodb=dynamo.url)
        same(["PutItem"], lost, "answers that were lost")
    same([9], place.ids(), "rows")
    place.check_log(2)


# ---- both at once ----


def double_appends(world, place, w, problems):
    """Stops after some step every third time; what went in by then counts. Returns through `problems` what was committed."""
    chance = random.Random(w)
    double, version = place.spelled("s3a"), 0
    for k in range(COMMITS):
        i = w * COMMITS + k
        try:
            step = chance.choice([None, None, None, TEMP, ENTRY, COPY])
            done = double.append(version, place.lines(i), stop_after=step)
            if done is None:  # only a temporary file: it does it again, as a job that is started again does
                done = double.append(version, place.lines(i))
            version = done
        except Exception as error:  # whatever it is, it is told in the end
            problems.append(f"double {w}, commit {k}: {error!r}")
            return


def both_write_at_once(world):
    place = Place(world)
    place.create()
    problems, silts, doubles = [], [], []
    for w in range(WRITERS):
        text = "; ".join(f"INSERT INTO delta.`{place.uri}` VALUES ({10000 + w * COMMITS + k})" for k in range(COMMITS))
        silts.append(place.start("sql", text))
        doubles.append(threading.Thread(target=double_appends, args=(world, place, w, problems)))
        doubles[-1].start()
    for process in silts:
        out, errors = process.communicate(timeout=PATIENCE)
        if process.returncode != 0:
            problems.append(f"silt ended with {process.returncode}: {errors.strip()[:300]}")
    for thread in doubles:
        thread.join()
    same([], problems, "writers")
    n = WRITERS * COMMITS
    same(list(range(n)) + list(range(10000, 10000 + n)), place.ids(), "rows")
    place.check_log(1 + 2 * n)
    place.run("fsck", place.uri)
    return f"{2 * n} commits"


LOSSES = 0.15  # of entries and copies, before their effect and after it


def lose(proxy, seed, losses):
    """Lets some of what commits are made of get lost."""
    chance, lock = random.Random(seed), threading.Lock()

    def lost(kind):
        def decide(label):
            with lock:
                hit = (label == "PutItem" or re.match(STEPS[COPY], label)) and chance.random() < LOSSES
                losses[kind] += bool(hit)
                return hit
        return decide

    proxy.gate, proxy.hook = lost("before"), lost("after")


def lost_answers_lose_nothing(world):
    """Four processes of silt, whose entries and copies get lost, before the effect or after it."""
    place = Place(world)
    place.create()
    losses = {"before": 0, "after": 0}
    with telling.Proxy(world.server.port) as s3, telling.Proxy(world.server.dynamo.port) as dynamo:
        lose(s3, 1, losses)
        lose(dynamo, 2, losses)
        options = {"aws_endpoint_url": s3.url, "aws_endpoint_url_dynamodb": dynamo.url}
        writers = []
        for w in range(WRITERS):
            text = "; ".join(f"INSERT INTO delta.`{place.uri}` VALUES ({w * COMMITS + k})" for k in range(COMMITS))
            writers.append(place.start("sql", text, **options))
        for process in writers:
            errors = process.communicate(timeout=PATIENCE)[1]
            same(0, process.returncode, f"a writer ({errors.strip()[:300]})")
    same(list(range(WRITERS * COMMITS)), place.ids(), "rows")
    place.check_log(1 + WRITERS * COMMITS)
    same(True, min(losses.values()) > 10, f"losses {losses}")
    return f"{WRITERS * COMMITS} commits, {losses['before']} requests and {losses['after']} answers lost"


# ---- tables from elsewhere, and what is refused ----


def a_table_without_entries_goes_on(world):
    place = Place(world)
    place.options, told = place.plain(), place.options
    place.create()
    place.insert(1)
    place.options = told
    place.insert(2)
    same(3, place.double.append(0, place.lines(3)), "the double's version")
    place.insert(4)
    same([1, 2, 3, 4], place.ids(), "rows")
    same([Double.name(v) for v in (2, 3, 4)], [entry["fileName"] for entry in place.check_log(5)], "entries")


def expired_entries_are_not_missed(world):
    place = Place(world)
    place.create()
    place.insert(1)
    for entry in place.double.entries():
        key = {"tablePath": {"S": place.double.path}, "fileName": {"S": entry["fileName"]}}
        world.dynamo.call("DeleteItem", {"TableName": TABLE, "Key": key})
    place.insert(2)
    same([1, 2], place.ids(), "rows")
    place.check_log(3)


def silt_that_is_not_told_reads_and_does_not_commit(world):
    place = Place(world)
    place.create()
    place.insert(1)
    told, place.options = place.options, place.plain()
    same([1], place.ids(), "rows that are read")
    for said in (place.insert(2, code=1), place.sql("TRUNCATE TABLE @", code=1)):
        same(True, "[SILT_DYNAMODB_NEEDED]" in said and "aws_s3_locking_provider=dynamodb" in said, said)
    place.options = told
    place.run("checkpoint", place.uri)  # from here on the log is not listed from its beginning
    place.options = place.plain()
    same(True, "[SILT_DYNAMODB_NEEDED]" in place.insert(2, code=1), "refused with a checkpoint, too")
    place.insert(2, silt_dynamo_is_past="true")
    same([1, 2], place.ids(), "rows")


def a_table_that_is_named_is_meant(world):
    place = Place(world)
    place.create()
    place.options = place.plain()
    said = place.insert(1, code=1, delta_dynamo_table_name=TABLE)
    same(True, "aws_s3_locking_provider=dynamodb" in said, said)


def other_spellings_are_refused(world):
    for scheme, slash in (("s3", ""), ("s3n", ""), ("s3a", "/"), ("s3", "/")):
        place = Place(world)
        place.create(silt_dynamo_scheme="s3" if (scheme, slash) == ("s3", "") else "s3a")
        if (scheme, slash) != ("s3", ""):
            for entry in place.double.entries():
                place.spelled(scheme, place.path + slash).put_entry(entry, overwrite=True)
        said = place.insert(1, code=1)
        same(True, f"[SILT_DYNAMODB_SPELLING]" in said and f"under {scheme}://{place.path}{slash}," in said, said)
        same([], place.ids(), "reads go on")
        if (scheme, slash) == ("s3", ""):
            place.insert(1, silt_dynamo_scheme="s3")
            same([1], place.ids(silt_dynamo_scheme="s3"), "rows")


def a_dropped_table_leaves_no_entries(world):
    place = Place(world)
    place.create()
    place.insert(1)
    folder, name = place.uri.rsplit("/", 1)
    place.run("sql", f"DROP TABLE `{name}`", "--warehouse", folder)
    same([], place.double.entries(), "entries")
    place.create()
    same([], place.ids(), "rows of the new table")


def old_entries_are_refused(world):
    """The files are gone, the entries are not: Spark refuses as well."""
    place = Place(world)
    place.create()
    for key in place.s3.keys(place.path.split("/", 1)[1] + "/"):
        place.s3.remove(key)
    said = place.sql("CREATE TABLE @ (id BIGINT)", code=1)
    same(True, "[SILT_DYNAMODB_OLD_ENTRIES]" in said and place.double.path in said, said)


def the_table_of_entries_is_made(world):
    place = Place(world)
    names = {"delta_dynamo_table_name": f"made-{secrets.token_hex(4)}",
             "spark.io.delta.storage.S3DynamoDBLogStore.provisionedThroughput.rcu": "7"}
    place.create(**names)
    table = world.dynamo.call("DescribeTable", {"TableName": names["delta_dynamo_table_name"]})["Table"]
    same([("tablePath", "HASH"), ("fileName", "RANGE")], [(key["AttributeName"], key["KeyType"]) for key in table["KeySchema"]], "keys")
    same((7, 5), tuple(table["ProvisionedThroughput"][name] for name in ("ReadCapacityUnits", "WriteCapacityUnits")), "units")
    same([], place.ids(**names), "rows")


def sparks_names_choose_it(world):
    place = Place(world)
    options = {
        "spark.delta.logStore.s3a.impl": "io.delta.storage.S3DynamoDBLogStore",
        "spark.io.delta.storage.S3DynamoDBLogStore.ddb.tableName": TABLE,
        "io.delta.storage.S3DynamoDBLogStore.ddb.region": "us-east-1",
        "aws_endpoint_url_dynamodb": world.server.dynamo.url,
    }
    place.options = place.plain()
    place.create(**options)
    same([Double.name(0)], [entry["fileName"] for entry in place.double.entries()], "entries")


def the_doctor_tells_how_commits_go(world):
    place = Place(world)
    place.create()
    same(True, f"through DynamoDB, table {TABLE} at {world.server.dynamo.url}/, as s3a://" in place.run("doctor", place.uri), "with it")
    place.options = place.plain()
    same(False, "through DynamoDB, table" in place.run("doctor", place.uri), "without")


# ---- how many requests ----


def count(place, action, **options):
    """Requests by kind, and rounds, of what action(options) asks for."""
    world = place.world
    with telling.Proxy(world.server.port, DELAY) as s3, telling.Proxy(world.server.dynamo.port, DELAY) as dynamo:
        action(aws_endpoint_url=s3.url, **({"aws_endpoint_url_dynamodb": dynamo.url} if options.get("told", True) else {}))
        asked = s3.log + dynamo.log
    return asked, counting.rounds(asked)


def kinds(place, asked):
    """Labels without what differs from run to run."""
    found = []
    for one in asked:
        label = one.label.replace(f"/{place.path}", "").replace(place.path.split("/", 1)[1], "")
        label = re.sub(r"\.tmp/.*", ".tmp/T", re.sub(r"/[^/ ]*\.parquet", "/DATA", label))
        found.append(re.sub(r"0{10,}(\d)", r"\1", label))
    return sorted(found)


def reads_cost_one_query_more(world):
    place = Place(world)
    place.create()
    place.insert(1)
    asked, told_rounds = count(place, place.ids)
    same(1, len([one for one in asked if one.label == "Query"]), "queries of a first read")
    same(0, len([one for one in asked if ".tmp" in one.label]), "requests for temporary files")
    place.options = place.plain()
    plain, plain_rounds = count(place, place.ids, told=False)
    same(len(plain) + 1, len(asked), f"requests {kinds(place, asked)} with and {kinds(place, plain)} without")
    same((4, 5), (plain_rounds, told_rounds), "rounds without and with")


def commits_take_four_rounds(world):
    """The second of a session; in the first, other spellings are looked for beside the rest."""
    place = Place(world)
    place.create()
    asked, _ = count(place, lambda **o: place.sql("INSERT INTO @ VALUES (1); INSERT INTO @ VALUES (2)", **o))
    commits = []
    for one in sorted(asked, key=lambda one: one.begin):
        if ".tmp/" in one.label:
            commits.append([])
        if commits and (".tmp/" in one.label or one.label in ("GetItem", "PutItem") or re.search(r"_delta_log/\d{20}\.json$", one.label)):
            commits[-1].append(one)
    same(2, len(commits), "commits")
    begin, end = min(one.begin for one in asked if one.label == "GetItem"), max(one.end for one in commits[0] if one.label == "PutItem")
    first = [one for one in asked if one.begin > begin - DELAY / 2 and one.end <= end]
    same(5, len([one for one in first if one.label == "Query"]), "queries for other spellings")
    same(4, counting.rounds(first), f"rounds of the first commit {kinds(place, first)}")
    begin = max(one.begin for one in asked if one.label == "GetItem")
    end = max(one.end for one in asked if one.label == "PutItem")
    second = [one for one in asked if one.begin > begin - DELAY / 2 and one.end <= end]
    log = f"/{place.path}/_delta_log"
    wanted = ["GetItem", f"HEAD {log}/1.json", f"HEAD {log}/2.json", f"PUT {log}/.tmp/T", f"PUT {log}/2.json", "PutItem", "PutItem"]
    same([one.replace(f"/{place.path}", "") for one in wanted], kinds(place, second), "requests of the second commit")
    same(4, counting.rounds(second), "rounds of the second commit")


def a_silt_that_is_not_told_asks_once(world):
    place = Place(world)
    place.options = {**place.plain(), "aws_conditional_put": "trust"}
    place.create()
    asked, _ = count(place, lambda **o: place.sql("INSERT INTO @ VALUES (1); INSERT INTO @ VALUES (2)", **o), told=False)
    same(0, len([one for one in asked if ".tmp" in one.label]), "requests for temporary files, without a checkpoint")
    place.run("checkpoint", place.uri)
    asked, _ = count(place, lambda **o: place.sql("INSERT INTO @ VALUES (3); INSERT INTO @ VALUES (4)", **o), told=False)
    searches = [one for one in asked if ".tmp" in one.label]
    same(1, len(searches), "requests for temporary files, with one")
    beside = [one for one in asked if one.label.endswith(".parquet") and one.begin < searches[0].end and searches[0].begin < one.end]
    same(1, len(beside), f"uploads beside it {kinds(place, asked)}")
    asked, _ = count(place, place.ids, told=False)
    same(0, len([one for one in asked if ".tmp" in one.label]), "requests for temporary files of a read")


CASES = [
    silt_passes_over_a_temporary_file, silt_finishes_an_entry_without_a_copy, silt_finishes_a_copy_that_is_not_complete,
    silt_writes_behind_an_entry_without_a_copy, silt_takes_an_entry_without_expiry_as_it_is, silt_finishes_the_first_commit,
    a_commit_whose_bytes_are_gone_is_told, an_entry_that_leads_out_of_the_log_is_refused, the_double_passes_over_silts_temporary_file,
    the_double_finishes_silts_entry, the_double_finishes_silts_copy, silts_answer_does_not_matter_any_more,
    a_lost_answer_of_the_entry_is_read_back, lost_answers_lose_nothing, both_write_at_once, a_table_without_entries_goes_on, expired_entries_are_not_missed,
    silt_that_is_not_told_reads_and_does_not_commit, a_table_that_is_named_is_meant, other_spellings_are_refused,
    a_dropped_table_leaves_no_entries, old_entries_are_refused, the_table_of_entries_is_made, sparks_names_choose_it, the_doctor_tells_how_commits_go,
    reads_cost_one_query_more, commits_take_four_rounds, a_silt_that_is_not_told_asks_once,
]


def main():
    wanted = sys.argv[1:]
    passed = failed = 0
    with servers.VersitygwDynamo() as server, tempfile.TemporaryDirectory(prefix="silt-dynamo-") as folder:
        world = World(server, folder, WRITERS * COMMITS)
        for case in CASES:
            if wanted and case.__name__ not in wanted:
                continue
            started = time.monotonic()
            try:
                note = case(world)
                passed += 1
                print(f"ok - {case.__name__} ({time.monotonic() - started:.1f} s{', ' + note if note else ''})", flush=True)
            except (Wrong, aws_client.Refused, dynamo_double.FileExists, dynamo_double.Broken, subprocess.TimeoutExpired, KeyError) as error:
                failed += 1
                print(f"not ok - {case.__name__}: {type(error).__name__}: {error}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
