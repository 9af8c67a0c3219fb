"""A double of Delta Spark's side of commits through DynamoDB, written from the behaviour of S3DynamoDBLogStore and BaseExternalLogStore (github:delta-io/delta,
storage-s3-dynamodb), whose artifact cannot be had here. It does what they do, in their order, and can stop after each step, as a process that is
killed does.

    double = Double(s3, dynamo, "delta_log", "s3a", "bucket/path")
    double.write(3, lines)                      # raises FileExists when version 3 is taken
    double.write(3, lines, stop_after=ENTRY)    # raises Stopped
    double.list_from(0)                         # finishes the newest entry first
"""
import time
import uuid

from aws_client import Refused

TEMP, ENTRY, COPY = "temp", "entry", "copy"  # steps of a write that others have to finish, or to pass over
KEEP_SECONDS = 86400
FIX_TRIES = 3
MAX_WAITS = 20


class FileExists(Exception):
    """The version is taken."""


class Broken(Exception):
    """What Spark calls a FileSystemException."""


class Stopped(Exception):
    """As if the process had been killed."""


class Double:
    def __init__(self, s3, dynamo, table, scheme, path, create=True):
        self.s3, self.dynamo, self.table = s3, dynamo, table
        self.path = f"{scheme}://{path}"  # the key, as Hadoop spells it
        self.log = path.split("/", 1)[1] + "/_delta_log"
        if create:
            self.ensure_table()

    @staticmethod
    def name(version):
        return f"{version:020}.json"

    def key(self, relative):
        return f"{self.log}/{relative}"

    # ---- DynamoDB ----

    def ensure_table(self):
        for _ in range(MAX_WAITS):
            try:
                if self.dynamo.call("DescribeTable", {"TableName": self.table})["Table"]["TableStatus"] == "ACTIVE":
                    return
            except Refused as error:
                if error.name != "ResourceNotFoundException":
                    raise
                self.create_table()
            time.sleep(0.2)

    def create_table(self):
        names = ("tablePath", "fileName")
        try:
            self.dynamo.call("CreateTable", {
                "TableName": self.table,
                "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in names],
                "KeySchema": [{"AttributeName": name, "KeyType": kind} for name, kind in zip(names, ("HASH", "RANGE"))],
                "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5},
            })
        except Refused as error:
            if error.name != "ResourceInUseException":
                raise

    @staticmethod
    def entry_of(item):
        return {
            "fileName": item["fileName"]["S"], "tempPath": item["tempPath"]["S"], "complete": item["complete"]["S"] == "true",
            "expireTime": int(item["expireTime"]["N"]) if "expireTime" in item else None,
        }

    def put_entry(self, entry, overwrite):
        item = {
            "tablePath": {"S": self.path}, "fileName": {"S": entry["fileName"]}, "tempPath": {"S": entry["tempPath"]},
            "complete": {"S": "true" if entry["complete"] else "false"},
        }
        if entry["expireTime"] is not None:
            item["expireTime"] = {"N": str(entry["expireTime"])}
        body = {"TableName": self.table, "Item": item}
        if not overwrite:
            body["Expected"] = {"fileName": {"Exists": False}}
        try:
            self.dynamo.call("PutItem", body)
        except Refused as error:
            if error.name != "ConditionalCheckFailedException":
                raise
            raise FileExists(entry["fileName"]) from error

    def get_entry(self, name):
        key = {"tablePath": {"S": self.path}, "fileName": {"S": name}}
        item = self.dynamo.call("GetItem", {"TableName": self.table, "Key": key, "ConsistentRead": True}).get("Item")
        return self.entry_of(item) if item else None

    def query(self, **more):
        condition = {"tablePath": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": self.path}]}}
        return self.dynamo.call("Query", {"TableName": self.table, "ConsistentRead": True, "KeyConditions": condition, **more})

    def newest_entry(self):
        items = self.query(ScanIndexForward=False, Limit=1)["Items"]
        return self.entry_of(items[0]) if items else None

    def entries(self):
        """All of them, for checks."""
        found, more = [], {}
        while True:
            page = self.query(**more)
            found += [self.entry_of(item) for item in page["Items"]]
            if "LastEvaluatedKey" not in page:
                return found
            more = {"ExclusiveStartKey": page["LastEvaluatedKey"]}

    # ---- files ----

    def copy(self, temp, target):
        data = self.s3.get(self.key(temp))
        if self.s3.exists(self.key(target)):
            raise FileExists(target)
        self.s3.put(self.key(target), data)

    def complete(self, entry):
        self.put_entry({**entry, "complete": True, "expireTime": int(time.time()) + KEEP_SECONDS}, overwrite=True)

    def fix(self, entry):
        if entry["complete"]:
            return
        copied = False
        for attempt in range(FIX_TRIES + 1):
            try:
                if not copied and not self.s3.exists(self.key(entry["fileName"])):
                    self.copy(entry["tempPath"], entry["fileName"])
                    copied = True
                self.complete(entry)
                return
            except FileExists:
                copied = True
            except Refused:
                if attempt == FIX_TRIES:
                    raise

    # ---- the log store ----

    def list_from(self, version):
        entry = self.newest_entry()
        if entry:
            self.fix(entry)
        first = self.key(self.name(version))
        return [key.rsplit("/", 1)[1] for key in self.s3.keys(self.log + "/0") if key >= first]

    def check_before(self, version):
        name = self.name(version)
        if version == 0:
            entry = self.get_entry(name)
            if entry and entry["complete"] and not self.s3.exists(self.key(name)):
                raise Broken("old entries still exist")
            return
        before = self.name(version - 1)
        entry = self.get_entry(before)
        if entry and not entry["complete"]:
            self.fix(entry)
        elif not self.s3.exists(self.key(before)):
            raise Broken(f"the commit before, {before}, does not exist")

    def write(self, version, lines, stop_after=None):
        name = self.name(version)
        if self.s3.exists(self.key(name)):
            raise FileExists(name)
        self.check_before(version)
        temp = f".tmp/{name}.{uuid.uuid4()}"
        self.s3.put(self.key(temp), "".join(line + "\n" for line in lines).encode())
        if stop_after == TEMP:
            raise Stopped(TEMP)
        entry = {"fileName": name, "tempPath": temp, "complete": False, "expireTime": None}
        self.put_entry(entry, overwrite=False)
        if stop_after == ENTRY:
            raise Stopped(ENTRY)
        try:  # from here on it is committed
            self.copy(temp, name)
            if stop_after == COPY:
                raise Stopped(COPY)
            self.complete(entry)
        except (FileExists, Refused):
            pass

    def append(self, version, lines, stop_after=None):
        """Commits to the first free version from there on, as a blind append does; which one."""
        while True:
            try:
                self.write(version, lines, stop_after)
                return version
            except FileExists:
                self.list_from(version)
                version += 1
            except Stopped as stopped:
                return None if str(stopped) == TEMP else version
