"""Operations as raw actions, done by silt through its library and by Spark through its OptimisticTransaction.

A table is written by hand: five files with partition values and statistics, no rows behind them, since only the log is
looked at. An operation says what it reads, what it removes and what it adds; both sides say the same.
"""
import ctypes
import json
import os

from silt_api import Library, SiltApiError

FEATURES = ["appendOnly", "invariants", "domainMetadata"]
SCHEMA = json.dumps({"type": "struct", "fields": [
    {"name": "id", "type": "long", "nullable": True, "metadata": {}},
    {"name": "p", "type": "string", "nullable": True, "metadata": {}}]})
FILES = {"f1": ("a", 1, 9), "f2": ("a", 11, 19), "f3": ("b", 31, 39), "f4": ("b", 41, 49)}
# Where an operation works, seen from the rows that the loser is about.
PLACES = {"overlapping": ("f1", "p = 'a' AND id = 1"), "statistics": ("f2", "p = 'a' AND id = 11"),
          "partition": ("f3", "p = 'b' AND id = 31")}


class Op:
    """What a transaction reads, removes and adds."""

    def __init__(self, name, reads=None, removes=(), adds=(), moves=False, **cells):
        self.name, self.reads, self.moves, self.cells = name, reads, moves, cells
        self.removes, self.adds = list(removes), list(adds)

    def __str__(self):
        return self.name


def operation(kind, place, number):
    """reads: None, "" for the whole table, or a predicate."""
    file, predicate = PLACES[place]
    part, low, high = FILES[file]
    new = (f"n{number}.parquet", part, low, high)
    made = {
        "INSERT": lambda: Op(kind, adds=[new]),
        "INSERT SELECT": lambda: Op(kind, predicate, adds=[new]),
        "UPDATE": lambda: Op(kind, predicate, [file], [new]),
        "DELETE": lambda: Op(kind, predicate, [file]),
        "OVERWRITE": lambda: Op(kind, "", list(FILES), [new]),
        "OPTIMIZE": lambda: Op(kind, None, [file], [new], moves=True),
        "ALTER": lambda: Op(kind, metadata=f"mx.{number}"),
        "ADD CONSTRAINT": lambda: Op(kind, "", metadata=f"mx.{number}"),
        "FEATURE": lambda: Op(kind, feature="vacuumProtocolCheck"),
        "STREAM": lambda: Op(kind, adds=[new], app=(f"app-{'other' if place == 'partition' else 'same'}",
                                                    4 if place == "statistics" else 5)),
        "DOMAIN": lambda: Op(kind, domain="mx.same" if place == "overlapping" else "mx.other"),
    }
    op = made[kind]()
    op.where = place
    return op


def stats(low, high):
    return json.dumps({"numRecords": 2, "minValues": {"id": low}, "maxValues": {"id": high}, "nullCount": {"id": 0}})


def add_action(path, part, low, high, data_change=True):
    return {"add": {"path": path, "partitionValues": {"p": part}, "size": 10, "modificationTime": 1,
                    "dataChange": data_change, "stats": stats(low, high)}}


def metadata_action(configuration):
    return {"metaData": {"id": "8a9c8a52-0000-4000-8000-000000000001", "format": {"provider": "parquet", "options": {}},
                         "schemaString": SCHEMA, "partitionColumns": ["p"], "configuration": configuration,
                         "createdTime": 1}}


def protocol_action(*more):
    readers = [name for name in more if name == "vacuumProtocolCheck"]
    action = {"minReaderVersion": 3 if readers else 1, "minWriterVersion": 7, "writerFeatures": FEATURES + list(more)}
    if readers:
        action["readerFeatures"] = readers
    return {"protocol": action}


def commit_path(path, version):
    return os.path.join(path, "_delta_log", f"{version:020}.json")


def write_table(path, level):
    os.makedirs(os.path.join(path, "_delta_log"))
    lines = [{"commitInfo": {"timestamp": 1, "operation": "CREATE TABLE", "operationParameters": {}}},
             protocol_action(), metadata_action({"delta.isolationLevel": level})]
    lines += [add_action(f"{name}.parquet", *rest) for name, rest in FILES.items()]
    with open(commit_path(path, 0), "w", encoding="utf-8") as file:
        file.write("".join(json.dumps(line) + "\n" for line in lines))
    # with a checksum Spark has metadata and protocol without a query
    checksum = {"tableSizeBytes": 10 * len(FILES), "numFiles": len(FILES), "numMetadata": 1, "numProtocol": 1, "setTransactions": [],
                "domainMetadata": [], **metadata_action({"delta.isolationLevel": level}), **protocol_action()}
    checksum["metadata"] = checksum.pop("metaData")
    with open(os.path.join(path, "_delta_log", f"{0:020}.crc"), "w", encoding="utf-8") as file:
        json.dump(checksum, file)


# ---- silt ----

class Value(ctypes.Structure):
    """silt_value of text."""

    _fields_ = [("kind", ctypes.c_int), ("is_null", ctypes.c_bool), ("precision", ctypes.c_uint8),
                ("scale", ctypes.c_uint8), ("text", ctypes.c_char_p), ("size", ctypes.c_size_t)]


class AddFile(ctypes.Structure):
    """silt_add_file up to checks_held."""

    _fields_ = [("size", ctypes.c_uint32), ("path", ctypes.c_char_p), ("size_bytes", ctypes.c_int64),
                ("modified_ms", ctypes.c_int64), ("values", ctypes.POINTER(Value)), ("n_values", ctypes.c_size_t),
                ("stats", ctypes.c_char_p), ("data_change", ctypes.c_bool), ("checks_held", ctypes.c_bool)]


class Result(ctypes.Structure):
    """silt_commit_result up to version."""

    _fields_ = [("size", ctypes.c_uint32), ("outcome", ctypes.c_int), ("conflict", ctypes.c_int),
                ("version", ctypes.c_int64)]


TYPE_STRING = 9  # SILT_TYPE_STRING
SKIPPED = 1  # SILT_COMMIT_SKIPPED


class SiltSide:
    name = "silt"

    def __init__(self):
        self.library = Library()
        self.library.lib.silt_env_default.restype = ctypes.c_void_p
        self.env = ctypes.c_void_p(self.library.lib.silt_env_default())
        for name in ("silt_txn_free", "silt_expr_unref"):
            getattr(self.library.lib, name).argtypes = [ctypes.c_void_p]
            getattr(self.library.lib, name).restype = None

    def begin(self, path, op, level):
        table = self.library.make("silt_table_for_path", self.library.engine, path.encode())
        txn = self.library.make("silt_txn_begin", table, None, op.name.encode())
        self.library.lib.silt_table_unref(table)
        self._read(txn, op)
        for name in op.removes:
            self.library.call("silt_txn_remove_file", txn, None, os.path.join(path, f"{name}.parquet").encode(),
                              ctypes.c_bool(not op.moves))
        for new in op.adds:
            self._add(txn, op, *new)
        self._cells(txn, op.cells)
        return txn

    def _read(self, txn, op):
        if op.reads is None:
            return
        predicate = None
        if op.reads:
            text = op.reads.encode()
            predicate = self.library.make("silt_expr_parse", self.env, text, ctypes.c_size_t(len(text)), None)
        self.library.call("silt_txn_read_predicate", txn, predicate)
        if predicate is not None:
            self.library.lib.silt_expr_unref(predicate)

    def _add(self, txn, op, path, part, low, high):
        value = Value(kind=TYPE_STRING, text=part.encode(), size=len(part))
        file = AddFile(size=ctypes.sizeof(AddFile), path=path.encode(), size_bytes=10, modified_ms=1,
                       values=ctypes.pointer(value), n_values=1, stats=stats(low, high).encode(),
                       data_change=not op.moves, checks_held=True)
        self.library.call("silt_txn_add_file", txn, ctypes.byref(file))

    def _cells(self, txn, cells):
        if "metadata" in cells:
            self.library.call("silt_txn_set_property", txn, cells["metadata"].encode(), b"1")
        if "feature" in cells:
            self.library.call("silt_txn_set_property", txn, f"delta.feature.{cells['feature']}".encode(), b"supported")
        if "app" in cells:
            self.library.call("silt_txn_set_app_id", txn, cells["app"][0].encode(), ctypes.c_int64(cells["app"][1]))
        if "domain" in cells:
            self.library.call("silt_txn_set_domain", txn, cells["domain"].encode(), b"{}")

    def commit(self, txn):
        """"committed", "skipped" or the class of the conflict, as in Spark's exceptions."""
        result = Result(size=ctypes.sizeof(Result))
        try:
            self.library.call("silt_txn_commit", txn, None, ctypes.byref(result))
        except SiltApiError as error:
            return {"DELTA_CONCURRENT_APPEND": "ConcurrentAppend", "DELTA_CONCURRENT_DELETE_READ":
                    "ConcurrentDeleteRead", "DELTA_CONCURRENT_DELETE_DELETE": "ConcurrentDeleteDelete",
                    "DELTA_METADATA_CHANGED": "MetadataChanged", "DELTA_PROTOCOL_CHANGED": "ProtocolChanged",
                    "DELTA_CONCURRENT_TRANSACTION": "ConcurrentTransaction"}.get(error.code, str(error))
        finally:
            self.library.lib.silt_txn_free(txn)
        return "skipped" if result.outcome == SKIPPED else "committed"


# ---- Spark ----

class SparkSide:
    name = "spark"

    def __init__(self, session):
        self.session, self.jvm, self.predicates = session, session._jvm, {}
        self.delta = self.jvm.org.apache.spark.sql.delta
        self.operation = getattr(getattr(self.delta, "DeltaOperations$ManualUpdate$"), "MODULE$")

    def _seq(self, items):
        array = self.jvm.java.util.ArrayList()
        for item in items:
            array.add(item)
        return self.jvm.org.apache.spark.api.python.PythonUtils.toSeq(array)

    def _conjuncts(self, predicate):
        """As Spark's own statements give them, resolved and without a cast to long: else it would not look at statistics."""
        if predicate not in self.predicates:
            rows = self.session.createDataFrame([], "id long, p string").where(predicate + "L")
            condition = rows._jdf.queryExecution().analyzed().condition()
            self.predicates[predicate] = [condition.left(), condition.right()]
        return self.predicates[predicate]

    def begin(self, path, op, level):
        self.delta.DeltaLog.clearCache()
        log = self.delta.DeltaLog.forTable(self.session._jsparkSession, path)
        txn = log.startTransaction()
        if op.reads == "":
            txn.readWholeTable()
        elif op.reads is not None:
            txn.filterFiles(self._seq(self._conjuncts(op.reads)), False)
        if "app" in op.cells:
            txn.txnVersion(op.cells["app"][0])
        return txn, self._seq([self.delta.actions.Action.fromJson(json.dumps(action)) for action in
                               self.actions(op, level)])

    @staticmethod
    def actions(op, level):
        found = []
        for name in op.removes:
            part, low, high = FILES[name]
            found.append({"remove": {"path": f"{name}.parquet", "deletionTimestamp": 1, "dataChange": not op.moves,
                                     "extendedFileMetadata": True, "partitionValues": {"p": part}, "size": 10,
                                     "stats": stats(low, high)}})
        found += [add_action(*new, data_change=not op.moves) for new in op.adds]
        if "metadata" in op.cells:
            found.append(metadata_action({"delta.isolationLevel": level, op.cells["metadata"]: "1"}))
        if "feature" in op.cells:
            found.append(protocol_action(op.cells["feature"]))
        if "app" in op.cells:
            found.append({"txn": {"appId": op.cells["app"][0], "version": op.cells["app"][1]}})
        if "domain" in op.cells:
            found.append({"domainMetadata": {"domain": op.cells["domain"], "configuration": "{}", "removed": False}})
        return found

    def commit(self, begun):
        txn, actions = begun
        try:
            txn.commit(actions, self.operation)
        except Exception as error:  # py4j's, which is there only once Spark runs; or Delta's own, once another area has loaded its package
            java = getattr(error, "java_exception", None)
            name = type(error).__name__ if java is None else java.getClass().getSimpleName()
            if not name.endswith("Exception") or "Concurrent" not in name and "Changed" not in name:
                raise
            return name[:-len("Exception")]
        return "committed"
