"""silt as a library: scans through the C API by ctypes, rows as an Arrow C stream that pyarrow takes over."""
import ctypes
import os

import pyarrow as pa

PROGRAM = os.environ["SILT"]


class Error(ctypes.Structure):
    """silt_error."""

    _fields_ = [("size", ctypes.c_uint32), ("status", ctypes.c_int), ("sys_code", ctypes.c_int32),
                ("position", ctypes.c_int32), ("version", ctypes.c_int64), ("code_name", ctypes.c_char * 72),
                ("path", ctypes.c_char * 192), ("message", ctypes.c_char * 768), ("hint", ctypes.c_char * 256)]


class Stream(ctypes.Structure):
    """ArrowArrayStream: pyarrow takes what it needs out of it."""

    _fields_ = [("get_schema", ctypes.c_void_p), ("get_next", ctypes.c_void_p), ("get_last_error", ctypes.c_void_p),
                ("release", ctypes.c_void_p), ("private_data", ctypes.c_void_p)]


class CheckpointOptions(ctypes.Structure):
    """silt_checkpoint_options."""

    _fields_ = [("size", ctypes.c_uint32), ("kind", ctypes.c_int), ("version", ctypes.c_int64),
                ("rows_per_part", ctypes.c_int64), ("files_per_sidecar", ctypes.c_int64), ("json_top", ctypes.c_bool)]


class SiltApiError(Exception):
    """A function of the library failed."""

    def __init__(self, error):
        self.code = error.code_name.decode()
        super().__init__(f"[{self.code}] {error.message.decode('utf-8', 'replace')}")


class Library:
    """libsilt beside the program, with one engine."""

    def __init__(self):
        build = os.path.dirname(os.path.dirname(os.path.abspath(PROGRAM)))
        self.lib = ctypes.CDLL(os.path.join(build, "lib", "libsilt.so"))
        for name in ("silt_engine_unref", "silt_table_unref", "silt_snapshot_unref", "silt_scan_unref",
                     "silt_scan_builder_free"):
            getattr(self.lib, name).argtypes = [ctypes.c_void_p]
            getattr(self.lib, name).restype = None
        self.lib.silt_snapshot_version.argtypes = [ctypes.c_void_p]
        self.lib.silt_snapshot_version.restype = ctypes.c_int64
        self.engine = self.make("silt_engine_default_new", ctypes.c_void_p(None))

    def call(self, name, *arguments):
        error = Error(size=ctypes.sizeof(Error), position=-1, version=-1)
        if getattr(self.lib, name)(*arguments, ctypes.byref(error)) != 0:
            raise SiltApiError(error)

    def make(self, name, *arguments):
        """A function whose last parameter before the error is where the new object goes."""
        made = ctypes.c_void_p()
        self.call(name, *arguments, ctypes.byref(made))
        return made

    def checkpoint(self, path, **options):
        """Writes a checkpoint of the newest version."""
        table = self.make("silt_table_for_path", self.engine, path.encode())
        try:
            how = CheckpointOptions(size=ctypes.sizeof(CheckpointOptions), version=-1, **options)
            self.call("silt_table_checkpoint", table, None, ctypes.byref(how), None)
        finally:
            self.lib.silt_table_unref(table)

    def read(self, path, version=None, columns=None):
        """The rows of a version as a pyarrow table."""
        table = self.make("silt_table_for_path", self.engine, path.encode())
        snapshot = builder = scan = None
        try:
            if version is None:
                snapshot = self.make("silt_table_latest_snapshot", table, None)
            else:
                snapshot = self.make("silt_table_snapshot_at_version", table, None, ctypes.c_int64(version))
            builder = self.make("silt_scan_builder_new", snapshot)
            if columns is not None:
                names = (ctypes.c_char_p * len(columns))(*[name.encode() for name in columns])
                self.call("silt_scan_builder_project", builder, names, ctypes.c_size_t(len(columns)))
            scan = self.make("silt_scan_builder_build", builder, None)
            stream = Stream()
            self.call("silt_scan_read", scan, None, ctypes.byref(stream))
            return pa.RecordBatchReader._import_from_c(ctypes.addressof(stream)).read_all()
        finally:
            if scan is not None:
                self.lib.silt_scan_unref(scan)
            if builder is not None:
                self.lib.silt_scan_builder_free(builder)
            if snapshot is not None:
                self.lib.silt_snapshot_unref(snapshot)
            self.lib.silt_table_unref(table)
