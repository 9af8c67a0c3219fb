#!/usr/bin/env python3
"""The test servers of the remote stores: each on a free port of 127.0.0.1, with an empty data folder, ended by its own process id.

    tests/stores/servers.py NAME... -- COMMAND [ARGUMENT...]

starts the servers (tests/stores/setup NAME... installs them), runs the command with their endpoints in its environment, and stops them.
The exit status is the command's. When it failed, the servers' logs are kept and named.

    versitygw        AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION
    moto, s3s-fs     the same, for negative controls; moto also serves STS and instance metadata
    dynalite         AWS_ENDPOINT_URL_DYNAMODB
    azurite          AZURE_STORAGE_ENDPOINT, AZURE_STORAGE_ACCOUNT_NAME, AZURE_STORAGE_ACCOUNT_KEY
    fake-gcs-server  STORAGE_EMULATOR_HOST
    minidfs          SILT_TEST_WEBHDFS (host:port)
    toxiproxy        SILT_TEST_TOXIPROXY (the control API)

and SILT_TEST_URI_<NAME>, a folder in a bucket that is there. Python: with Versitygw() as server: server.uri, server.options, …
"""
import base64
import contextlib
import ctypes
import email.utils
import glob
import hashlib
import hmac
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
DEPS = os.environ.get("SILT_DEPS_DIR") or os.path.join(HERE, "..", "..", ".deps")
INSTALLED = os.path.realpath(os.path.join(DEPS, "stores"))
BUCKET = "silt-test"
PATIENCE = 300  # seconds until a server answers: machines are busy now and then
TRIES = 3  # another process may take a free port first
PR_SET_PDEATHSIG = 1


class ServerError(Exception):
    """A server could not be started."""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def die_with_parent():
    """In the child: a test that is killed leaves no server behind."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def request(method, url, body=None, headers=None):
    """Returns (code, text); errors of HTTP are codes, too."""
    wanted = urllib.request.Request(url, data=body, method=method, headers=headers or {})
    try:
        with urllib.request.urlopen(wanted, timeout=30) as answer:
            return answer.status, answer.read().decode(errors="replace")
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode(errors="replace")


def demand(method, url, body=None, headers=None):
    code, text = request(method, url, body, headers)
    if code >= 300:
        raise ServerError(f"{method} {url}: {code} {text:.300}")
    return text


class Server:
    """One server. A subclass says how it is started and what its clients are to be told."""

    name = ""
    scheme = None  # of its URIs
    wrong = {}  # store options with which the server must refuse access
    missing_uri = None  # a folder in a bucket that is not there
    refused = ""  # kinds of names that its store refuses (cases_names.c)
    left_out = ""  # kinds that the server takes for others
    endpoint_option = None
    upload_size = None  # "small" or "large": what it can take in reasonable time
    keeps_files = False  # what it keeps lies in files of its folder "root"

    def __init__(self):
        self.process = self.folder = self.log = None
        self.port = 0

    # what subclasses fill

    def command(self):
        raise NotImplementedError

    def extra_environment(self):
        """For the server's own process."""
        return {}

    def is_ready(self):
        with socket.create_connection(("127.0.0.1", self.port), timeout=1):
            return True

    def prepare(self):
        """Buckets and the like, once it runs."""

    def environment(self):
        return {}

    def unfinished(self):
        """What was begun and never finished, where the server tells."""
        return []

    @property
    def options(self):
        """Store options of clients."""
        return {}

    # what callers use

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def uri(self):
        return f"{self.scheme}://{BUCKET}/folder" if self.scheme else None

    def unreachable(self):
        """Options that lead where nobody listens."""
        return {self.endpoint_option: f"http://127.0.0.1:{free_port()}"} if self.endpoint_option else {}

    def installed(self, *path):
        found = os.path.join(INSTALLED, self.name, *path)
        if not os.path.exists(found):
            raise ServerError(f"{self.name} is not installed: there is no {found} (tests/stores/setup {self.name})")
        return found

    def data(self, name):
        path = os.path.join(self.folder, name)
        os.makedirs(path, exist_ok=True)
        return path

    def start(self):
        for attempt in range(TRIES):
            self.folder = tempfile.mkdtemp(prefix=f"silt-{self.name}-")
            self.port = free_port()
            try:
                self._run()
                self.prepare()
                return self
            except BaseException as error:
                text = self.tail()
                self.stop()
                if attempt + 1 == TRIES or not isinstance(error, (ServerError, OSError)):
                    raise ServerError(f"{self.name} does not start: {error}\n{text}") from error
        return self

    def _run(self):
        command = self.command()
        with open(os.path.join(self.folder, "log"), "wb") as log:
            self.log = log.name
            self.process = subprocess.Popen(
                command, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, cwd=self.folder,
                env={**os.environ, **self.extra_environment()}, preexec_fn=die_with_parent,
            )
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise ServerError(f"it ended with {self.process.returncode}")
            with contextlib.suppress(OSError):
                if self.is_ready():
                    return
            time.sleep(0.05)
        raise ServerError(f"no answer within {PATIENCE} s")

    def tail(self):
        if self.log is None or not os.path.exists(self.log):
            return ""
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return "".join(file.readlines()[-30:])

    def keep_log(self):
        """Moves the log where it outlives the server; its path."""
        kept = os.path.join(tempfile.gettempdir(), f"silt-{self.name}-{os.getpid()}.log")
        if self.log and os.path.exists(self.log):
            shutil.copyfile(self.log, kept)
        return kept

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process = None
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
        self.folder = None

    def __enter__(self):
        return self.start()

    def __exit__(self, kind, error, trace):
        if error is not None and not isinstance(error, KeyboardInterrupt):
            print(f"the log of {self.name}: {self.keep_log()}", file=sys.stderr)
        self.stop()


# ---- S3 ----


class S3Server(Server):
    scheme = "s3"
    key, secret, region = "AKIATESTSILT", "secret/of+the=tests", "us-east-1"
    missing_uri = "s3://silt-missing/folder"
    endpoint_option = "aws_endpoint_url"

    def environment(self):
        return {
            "AWS_ENDPOINT_URL": self.url, "AWS_ACCESS_KEY_ID": self.key, "AWS_SECRET_ACCESS_KEY": self.secret,
            "AWS_REGION": self.region, "AWS_ALLOW_HTTP": "true",
        }

    @property
    def options(self):
        return {
            "aws_endpoint_url": self.url, "aws_access_key_id": self.key, "aws_secret_access_key": self.secret,
            "aws_region": self.region, "allow_http": "true",
        }


    def put(self, key, body):
        """Creates an object of the bucket; names of plain characters only."""
        now = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        scope = f"{now[:8]}/{self.region}/s3/aws4_request"
        path, host = f"/{BUCKET}/{key}", f"127.0.0.1:{self.port}"
        headers = {"host": host, "x-amz-content-sha256": hashlib.sha256(body).hexdigest(), "x-amz-date": now}
        names = ";".join(headers)
        canonical = "\n".join(["PUT", path, "", *(f"{name}:{value}" for name, value in headers.items()), "", names,
                               headers["x-amz-content-sha256"]])
        signing = ("AWS4" + self.secret).encode()
        for part in scope.split("/"):
            signing = hmac.new(signing, part.encode(), hashlib.sha256).digest()
        text = "\n".join(["AWS4-HMAC-SHA256", now, scope, hashlib.sha256(canonical.encode()).hexdigest()])
        signature = hmac.new(signing, text.encode(), hashlib.sha256).hexdigest()
        headers["Authorization"] = f"AWS4-HMAC-SHA256 Credential={self.key}/{scope}, SignedHeaders={names}, Signature={signature}"
        demand("PUT", self.url + path, body, headers)


class Versitygw(S3Server):
    """S3 over a folder: checks signatures, and a condition on a PUT holds."""

    name = "versitygw"
    wrong = {"aws_secret_access_key": "another+secret/of=tests"}
    upload_size, keeps_files = "large", True

    def command(self):
        os.makedirs(os.path.join(self.data("root"), BUCKET))
        return [
            self.installed("versitygw"), "--port", f"127.0.0.1:{self.port}", "--health", "/health", "--keep-alive", "--quiet",
            "--region", self.region, "--iam-dir", self.data("iam"), "posix", self.data("root"),
        ]

    def extra_environment(self):
        return {"ROOT_ACCESS_KEY": self.key, "ROOT_SECRET_KEY": self.secret}

    def is_ready(self):
        return request("GET", self.url + "/health")[0] == 200


class Moto(S3Server):
    """STS and instance metadata. Its S3 is a negative control: now and then two writers create one name."""

    name = "moto"

    def command(self):
        return [self.installed("bin", "python"), self.installed("bin", "moto_server"), "-H", "127.0.0.1", "-p", str(self.port)]

    def is_ready(self):
        return request("GET", self.url + "/moto-api/")[0] == 200

    def prepare(self):
        demand("PUT", f"{self.url}/{BUCKET}", body=b"")


class S3sFs(S3Server):
    """A negative control: it looks, then writes, so that most contested names have several creators."""

    name = "s3s-fs"

    def command(self):
        os.makedirs(os.path.join(self.data("root"), BUCKET))
        return [
            self.installed("bin", "s3s-fs"), "--host", "127.0.0.1", "--port", str(self.port),
            "--access-key", self.key, "--secret-key", self.secret, self.data("root"),
        ]


class Dynalite(Server):
    """DynamoDB."""

    name = "dynalite"

    def command(self):
        return [
            "node", self.installed("node_modules", "dynalite", "cli.js"), "--host", "127.0.0.1", "--port", str(self.port),
            "--createTableMs", "0",
        ]

    def environment(self):
        return {"AWS_ENDPOINT_URL_DYNAMODB": self.url}


class VersitygwDynamo(Versitygw):
    """S3 whose commits go by DynamoDB."""

    table = "silt-test"

    def __init__(self):
        super().__init__()
        self.dynamo = Dynalite()

    def start(self):
        self.dynamo.start()
        try:
            return super().start()
        except BaseException:
            self.dynamo.stop()
            raise

    def stop(self):
        super().stop()
        self.dynamo.stop()

    @property
    def options(self):
        return {
            **super().options, "aws_s3_locking_provider": "dynamodb", "delta_dynamo_table_name": self.table,
            "aws_endpoint_url_dynamodb": self.dynamo.url,
        }


# ---- the others ----


class Azurite(Server):
    """Azure blobs; there are no calls of hierarchical accounts (dfs)."""

    name = "azurite"
    scheme = "az"
    account = "devstoreaccount1"
    # The public, well-known key of the emulators.
    key = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
    wrong = {"azure_storage_account_key": base64.b64encode(b"another key of the same length..another key of the same length..").decode()}
    missing_uri = "az://silt-missing/folder"
    endpoint_option = "azure_storage_endpoint"
    left_out = "backslash"  # comes back as a slash
    upload_size = "small"

    def command(self):
        script = self.installed("node_modules", "azurite", "dist", "src", "blob", "main.js")
        return [
            "node", script, "--silent", "--disableTelemetry", "--skipApiVersionCheck", "--inMemoryPersistence",
            "--blobHost", "127.0.0.1", "--blobPort", str(self.port),
        ]

    def signed(self, method, resource, query):
        """Headers of a request without a body (SharedKey)."""
        date = email.utils.formatdate(usegmt=True)
        lines = [method] + [""] * 11
        lines += [f"x-ms-date:{date}", "x-ms-version:2021-12-02", f"/{self.account}/{self.account}/{resource}"]
        lines += [f"{name}:{value}" for name, value in sorted(query.items())]
        digest = hmac.new(base64.b64decode(self.key), "\n".join(lines).encode(), hashlib.sha256).digest()
        signature = base64.b64encode(digest).decode()
        return {"x-ms-date": date, "x-ms-version": "2021-12-02", "Authorization": f"SharedKey {self.account}:{signature}"}

    def prepare(self):
        query = {"restype": "container"}
        demand("PUT", f"{self.endpoint}/{BUCKET}?restype=container", headers=self.signed("PUT", BUCKET, query))

    def unfinished(self):
        """Blobs that have blocks and no list of them."""
        query = {"comp": "list", "include": "uncommittedblobs", "restype": "container"}
        names = [set(), set()]
        for found, wanted in zip(names, (query, {key: value for key, value in query.items() if key != "include"})):
            text = demand("GET", f"{self.endpoint}/{BUCKET}?{urllib.parse.urlencode(wanted)}", headers=self.signed("GET", BUCKET, wanted))
            found.update(re.findall(r"<Name>([^<]*)</Name>", text))
        return sorted(names[0] - names[1])

    @property
    def endpoint(self):
        return f"{self.url}/{self.account}"

    def environment(self):
        return {
            "AZURE_STORAGE_ENDPOINT": self.endpoint, "AZURE_STORAGE_ACCOUNT_NAME": self.account,
            "AZURE_STORAGE_ACCOUNT_KEY": self.key,
        }

    @property
    def options(self):
        return {
            "azure_storage_endpoint": self.endpoint, "azure_storage_account_name": self.account,
            "azure_storage_account_key": self.key, "allow_http": "true",
        }


class FakeAzure(Server):
    """A hierarchical account of fake_azure.py, which needs no installation."""

    name = "fake-azure"
    scheme = "az"
    key = base64.b64encode(b"the key of the fake account, 32+").decode()
    wrong = {"azure_storage_account_key": base64.b64encode(b"another key").decode()}
    missing_uri = "az://silt-missing/folder"
    endpoint_option = "azure_storage_endpoint"
    refused = "backslash"

    def command(self):
        return [sys.executable, os.path.join(HERE, "fake_azure.py"), "--port", str(self.port)]

    @property
    def uri(self):
        return "az://tree/folder"

    @property
    def options(self):
        url = f"{self.url}/acct"
        return {
            "azure_storage_endpoint": url, "azure_storage_dfs_endpoint": url, "azure_storage_account_name": "acct",
            "azure_storage_account_key": self.key,
        }


class FakeGcs(Server):
    """Google Cloud Storage, JSON API; no token is checked."""

    name = "fake-gcs-server"
    scheme = "gs"
    missing_uri = "gs://silt-missing/folder"
    endpoint_option = "google_base_url"
    upload_size = "small"

    def command(self):
        return [
            self.installed("fake-gcs-server"), "-scheme", "http", "-host", "127.0.0.1", "-port", str(self.port),
            "-backend", "memory", "-public-host", f"127.0.0.1:{self.port}", "-external-url", self.url, "-log-level", "error",
        ]

    def is_ready(self):
        return request("GET", self.url + "/_internal/healthcheck")[0] == 200

    def prepare(self):
        body = json.dumps({"name": BUCKET}).encode()
        demand("POST", f"{self.url}/storage/v1/b?project=test", body, {"Content-Type": "application/json"})

    def environment(self):
        return {"STORAGE_EMULATOR_HOST": self.url}

    @property
    def options(self):
        return {"google_base_url": self.url, "google_skip_signature": "true", "allow_http": "true"}


class MiniDfs(Server):
    """HDFS with WebHDFS. Users are believed, permissions hold."""

    name = "minidfs"
    scheme = "webhdfs"
    refused = "colon"
    user = "silt"

    def command(self):
        return [
            "java", "-Xmx512m", "-cp", self.installed("lib") + "/*", "org.apache.hadoop.test.MiniDFSClusterManager",
            "-datanodes", "1", "-format", "-httpport", str(self.port), "-cmdport", str(free_port()),
            "-D", "hadoop.tmp.dir=" + self.data("tmp"), "-D", "hdfs.minidfs.basedir=" + self.data("dfs"), "-writeDetails", os.path.join(self.folder, "ready"),
        ]

    def is_ready(self):
        return os.path.exists(os.path.join(self.folder, "ready"))

    def prepare(self):
        """The root folder belongs to whoever runs the server, who opens it to all."""
        code, text = request("GET", f"{self.url}/webhdfs/v1/?op=GETFILESTATUS")
        if code != 200:
            raise ServerError(f"no status of /: {code} {text:.300}")
        owner = json.loads(text)["FileStatus"]["owner"]
        demand("PUT", f"{self.url}/webhdfs/v1/?op=SETPERMISSION&permission=777&user.name={owner}", body=b"")

    def environment(self):
        return {"SILT_TEST_WEBHDFS": f"127.0.0.1:{self.port}", "HADOOP_USER_NAME": self.user}

    @property
    def uri(self):
        return f"webhdfs://127.0.0.1:{self.port}/{BUCKET}/folder"


class Toxiproxy(Server):
    """TCP faults between a client and a server."""

    name = "toxiproxy"
    toxics = 0

    def command(self):
        return [self.installed("server"), "-host", "127.0.0.1", "-port", str(self.port), "-seed", "42"]

    def is_ready(self):
        return request("GET", self.url + "/version")[0] == 200

    def environment(self):
        return {"SILT_TEST_TOXIPROXY": self.url}

    def post(self, path, value):
        return demand("POST", self.url + path, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def proxy(self, server, name=None):
        """A proxy in front of a server: (its name, its port). Of several each needs a name."""
        port = free_port()
        name = name or server.name
        self.post("/proxies", {"name": name, "listen": f"127.0.0.1:{port}", "upstream": f"127.0.0.1:{server.port}",
                               "enabled": True})
        return name, port

    def poison(self, proxy, kind, stream, share=1.0, **attributes):
        """For a share of the connections. Several of one kind may be there at once."""
        self.toxics += 1
        self.post(f"/proxies/{proxy}/toxics", {"name": f"{kind}-{self.toxics}", "type": kind, "stream": stream, "toxicity": share,
                                               "attributes": attributes})

    def heal(self):
        demand("POST", self.url + "/reset", body=b"")


class Nghttpx(Server):
    """HTTP/2 over TLS in front of a server that knows neither. It notes by which protocol each request came."""

    name = "nghttpx"
    host = "127.0.0.1"

    def __init__(self, behind):
        super().__init__()
        self.behind = behind

    def command(self):
        program = shutil.which("nghttpx")
        if program is None:
            raise ServerError("nghttpx is not installed (tests/stores/setup nghttpx)")
        key = os.path.join(self.folder, "key.pem")
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
             "/CN=nghttpx", "-addext", f"subjectAltName=IP:{self.host}", "-keyout", key, "-out", self.ca_file],
            check=True, capture_output=True)
        return [program, f"--frontend={self.host},{self.port}", f"--backend={self.host},{self.behind.port}", "--workers=1", "--no-ocsp",
                "--errorlog-file=/dev/stderr", f"--accesslog-file={self.access}", "--accesslog-format=$alpn $request", key, self.ca_file]

    @property
    def ca_file(self):
        return os.path.join(self.folder, "ca.pem")

    @property
    def access(self):
        return os.path.join(self.folder, "access")

    def spoken(self):
        """The methods that came by each protocol: {"h2": {"GET": 12, ...}}."""
        spoken = {}
        with open(self.access, encoding="utf-8") as file:
            for line in file:
                protocol, method = line.split(" ", 2)[:2]
                methods = spoken.setdefault(protocol, {})
                methods[method] = methods.get(method, 0) + 1
        return spoken

    @property
    def options(self):
        return {**self.behind.options, self.behind.endpoint_option: f"https://{self.host}:{self.port}", "ca_file": self.ca_file}


SERVERS = {kind.name: kind for kind in (Versitygw, Moto, S3sFs, Dynalite, Azurite, FakeAzure, FakeGcs, MiniDfs, Toxiproxy)}


def main():
    if "--" not in sys.argv[1:]:
        print(__doc__, file=sys.stderr)
        return 2
    split = sys.argv.index("--")
    names, command = sys.argv[1:split], sys.argv[split + 1:]
    unknown = [name for name in names if name not in SERVERS]
    if unknown or not names or not command:
        print(f"servers: error: unknown server {unknown[0]}" if unknown else __doc__, file=sys.stderr)
        return 2
    running = []
    try:
        with contextlib.ExitStack() as stack:
            environment = dict(os.environ)
            for name in names:
                server = stack.enter_context(SERVERS[name]())
                running.append(server)
                environment.update(server.environment())
                if server.uri:
                    environment["SILT_TEST_URI_" + name.upper().replace("-", "_")] = server.uri
            code = subprocess.run(command, env=environment, check=False).returncode
            if code != 0:
                for server in running:
                    print(f"servers: the log of {server.name}: {server.keep_log()}", file=sys.stderr)
            return code
    except ServerError as error:
        print(f"servers: error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
