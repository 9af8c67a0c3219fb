"""No secret in any output: programs are run with known secrets, well and in every way to fail, before servers that repeat what they were sent. Then all
that was printed, and all that was left on disks and in buckets, is searched for the secrets, in their usual spellings, and for signatures.
"""
import base64
import json
import os
import re
import subprocess
import sys
import unittest
import urllib.request
from urllib.parse import quote, quote_plus

from cli_support import CliTest
from fake_s3 import BUCKET, FAULTS, SECRET, FakeS3

STORES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "stores")
SESSION = "FwoGZXIvYXdzEHUaDHush+Session/Token=="
AZURE_KEY = "dGhlIGtleSBvZiB0aGUgZmFrZSBhY2NvdW50LCAzMis="  # of fake_azure.py, as are the next two
AZURE_SAS = "good+sig/"
AZURE_SECRET = "hush=hush&hush"
WRONG_KEY = base64.b64encode(b"an account's key that is wrong, but secret").decode()
BEARER = "ya29.hush-bearer-token-of-tests"
REFRESH = "1//hush-refresh-token-of-tests"
DELEGATION = "HAAEaHVzaCBkZWxlZ2F0aW9uIHRva2Vu"
PROXY_PASSWORD = "hush-proxy-Passw0rd"
RSA = "".join(
    subprocess.run(["openssl", "genrsa", "2048"], check=True, capture_output=True, text=True).stdout.splitlines(keepends=True)
)
SECRETS = {
    "secret key": SECRET, "session token": SESSION, "account key": AZURE_KEY, "wrong account key": WRONG_KEY, "signature": AZURE_SAS,
    "client secret": AZURE_SECRET, "bearer token": BEARER, "refresh token": REFRESH, "delegation token": DELEGATION,
    "proxy password": PROXY_PASSWORD, "private key": RSA.splitlines()[3],
}  # fmt: skip
SIGNED = re.compile(rb"(x-amz-signature|x-goog-signature|[?&]sig|%26sig|signature)(=|%3d)(?!\*)", re.IGNORECASE)


def spellings(secret):
    """A secret as it is, percent-encoded in several ways, in base64 and hex, as JSON and XML write it."""
    raw = secret.encode()
    found = {secret, quote(secret), quote(secret, safe=""), quote_plus(secret), quote(quote(secret, safe=""), safe=""), raw.hex(),
             base64.b64encode(raw).decode().rstrip("="), base64.urlsafe_b64encode(raw).decode().rstrip("="),
             json.dumps(secret)[1:-1], secret.replace("&", "&amp;")}  # fmt: skip
    return [text.encode() for text in found if len(text) >= 8]


class SecretsTest(CliTest):
    """Each test runs commands with run(); what they leave is searched at its end."""

    @classmethod
    def prepare(cls):
        for name in list(cls.env):
            if name.startswith(("AWS_", "AZURE_", "GOOGLE_", "IDENTITY_")) or name.lower().endswith("_proxy"):
                del cls.env[name]
        cls.env["AWS_EC2_METADATA_DISABLED"] = "true"
        cls.env["SILT_CACHE_DIR"] = os.path.join(cls.dir, "cache")
        cls.inputs = os.path.join(cls.dir, "inputs")  # files with secrets that the user has; not searched
        os.makedirs(cls.inputs)

    def setUp(self):
        self.outputs, self.more = [], {}
        self.n_files = 0

    def options(self, **given):
        return [text for name, value in given.items() for text in ("--store-option", f"{name}={value}")]

    def run_all(self, commands, *options, env=None, codes=(0,)):
        for words in commands:
            before = dict(self.env)
            self.env.update(env or {})
            try:
                done = self.silt(*words, *options)
            finally:
                self.env.clear()
                self.env.update(before)
            self.outputs.append((" ".join(words), (done.out + done.err).encode()))
            if codes is not None:
                self.assertIn(done.code, codes, f"{words}: {done.err}")

    def left_behind(self):
        for text in self.outputs:
            yield text
        yield from self.more.items()
        for folder, _, names in os.walk(self.dir):
            for name in names:
                path = os.path.join(folder, name)
                if not path.startswith(self.inputs):
                    with open(path, "rb") as file:
                        self.n_files += 1
                        yield path, path.encode() + b"\n" + file.read()

    def search(self, also=()):
        """also: more secrets, such as signatures that were sent."""
        n = 0
        for where, data in self.left_behind():
            n += 1
            for name, secret in [*SECRETS.items(), *(("signature that was sent", text) for text in also)]:
                for text in spellings(secret):
                    self.assertNotIn(text, data, f"{name} in {where}")
            found = SIGNED.search(data)
            self.assertIsNone(found, f"a signature in {where}: {data[found.start() - 80 : found.end() + 20] if found else ''}")
        return n


def commands_on(uri):
    """What is done with a table that can be reached; those that write come first."""
    table = f"delta.`{uri}`"
    return [
        ["sql", f"CREATE TABLE {table} (id BIGINT, t STRING) USING delta"],
        ["sql", f"INSERT INTO {table} VALUES (1, 'a')"],
        ["sql", f"INSERT INTO {table} SELECT i, 'x' FROM range(100) r(i)"],
        ["sql", f"CREATE TABLE delta.`{uri}2` USING delta AS SELECT * FROM {table}"],
        ["sql", f"SELECT count(*), sum(id) FROM {table}"],
        ["sql", f"EXPLAIN SELECT * FROM {table}"],
        ["sql", f"DESCRIBE HISTORY {table}; DESCRIBE DETAIL {table}; DESCRIBE TABLE EXTENDED {table}; SHOW TBLPROPERTIES {table}"],
        ["sql", "SET"],
        ["checkpoint", uri],
        *[[word, uri, "-o", "jsonl"] for word in ("read", "schema", "history", "detail", "files", "log", "fsck", "doctor")],
        ["doctor", uri, "--write", "-o", "table"],
        ["read", uri + "@v77"],
        ["cache", "ls"],
    ]


def commands_against(uri):
    """What is tried where nothing goes."""
    return [
        ["read", uri],
        ["history", uri],
        ["sql", f"INSERT INTO delta.`{uri}` VALUES (2, 'b')"],
        ["sql", f"CREATE TABLE delta.`{uri}` (id BIGINT) USING delta"],
        ["doctor", uri, "--write", "-o", "jsonl"],
    ]


class OverS3(SecretsTest):
    def setUp(self):
        super().setUp()
        server = FakeS3()
        self.s3 = server.__enter__()
        self.addCleanup(server.__exit__)
        self.uri = f"s3://{BUCKET}/t"

    def sent(self):
        """Signatures that requests had; there must be some, or nothing was tried."""
        text = " ".join(headers.get("Authorization", "") for _, _, headers, _ in self.s3.seen)
        signatures = set(re.findall(r"Signature=([0-9a-f]{64})", text))
        self.assertTrue(signatures)
        for key, data in self.s3.objects.items():
            self.more[f"object {key}"] = key.encode() + b"\n" + data
        return signatures

    def test_when_all_is_well(self):
        self.run_all(commands_on(self.uri)[:-2], *self.s3.options(aws_session_token=SESSION))
        self.run_all(commands_on(self.uri)[-2:-1], *self.s3.options(aws_session_token=SESSION), codes=None)
        self.run_all([["cache", "ls"]])
        self.assertGreater(self.search(self.sent()), 30)
        self.assertGreater(self.n_files, 0)

    def test_keys_from_the_environment(self):
        env = {"AWS_ACCESS_KEY_ID": "AKIAENV", "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_SESSION_TOKEN": SESSION}
        self.run_all(commands_on(self.uri)[:2] + [["doctor", self.uri]], "--store-option", f"aws_endpoint_url={self.s3.url}", env=env)
        self.search(self.sent())

    def test_every_way_to_be_refused(self):
        self.run_all(commands_on(self.uri)[:2], *self.s3.options())
        for fault in FAULTS:
            if fault != "broken":  # is tried again and again
                self.s3.fault = fault
                self.run_all(commands_against(self.uri), *self.s3.options(aws_session_token=SESSION), codes=None)
        self.search(self.sent())

    def test_secrets_that_cannot_be_used(self):
        bad = [
            self.s3.options(aws_access_key_id=None),
            self.s3.options(aws_secret_access_key=SECRET + "\n"),
            self.s3.options(aws_sse_customer_key_base64=SECRET),
            self.s3.options(aws_secret_key=SECRET),  # no such option
            [*self.s3.options(), "--store-option", f"aws_secret_access_key={SECRET}2"],
            ["--store-option", SECRET.replace("=", "-")],
            self.s3.options(aws_endpoint_url=f"http://me:{PROXY_PASSWORD}@host"),
            self.s3.options(aws_endpoint_url=f"ftp://me:{PROXY_PASSWORD}@host"),
            self.s3.options(aws_region=f"http://me:{PROXY_PASSWORD}@host"),
        ]
        for options in bad:
            self.run_all(commands_against(self.uri)[:1] + [["doctor", self.uri]], *options, codes=(1, 2, 4, 5))
        self.search()

    def test_endpoints_that_are_mistyped(self):
        stores = (
            (self.uri, {"aws_access_key_id": "AK", "aws_secret_access_key": "x", "aws_region": "r"}, "aws_endpoint_url"),
            ("az://flat/t", {"azure_storage_account_name": "acct", "azure_storage_account_key": "eA==", "allow_http": "true"},
             "azure_storage_endpoint"),
            ("gs://bucket/t", {"google_bearer_token": "x", "allow_http": "true"}, "google_base_url"),
        )  # fmt: skip
        hush = PROXY_PASSWORD
        mistyped = (f"http:/u:{hush}@127.0.0.1:9", f"//u:{hush}@127.0.0.1:9", f"http:///u:{hush}@127.0.0.1:9", f"u:{hush}@127.0.0.1:9",
                    f"http:u:{hush}@127.0.0.1:9", f"http://127.0.0.1:9/#{hush}", f"http://127.0.0.1:9/?{hush}",
                    f"http://127.0.0.1:9/u:{hush}@host")  # fmt: skip
        for uri, given, name in stores:
            for value in mistyped:
                options = [part for key, text in {**given, name: value}.items() for part in ("--store-option", f"{key}={text}")]
                self.run_all([["read", uri], ["doctor", uri, "-o", "jsonl"]], *options, codes=(1,))
                self.assertIn(name, self.outputs[-1][1].decode())
        self.search()

    def test_a_password_of_a_proxy(self):
        env = {"http_proxy": f"http://me:{PROXY_PASSWORD}@127.0.0.1:1"}
        self.run_all([["doctor", self.uri]], *self.s3.options(aws_endpoint_url="http://silt.example"), env=env, codes=(5,))
        self.search()

    def test_programs_and_files_of_profiles(self):
        config = os.path.join(self.inputs, "config")
        printed = json.dumps({"Version": 1, "AccessKeyId": "AKIAPROC", "SecretAccessKey": SECRET, "SessionToken": SESSION})
        with open(config, "w", encoding="utf-8") as file:
            file.write(f"[default]\ncredential_process = echo '{printed}'\n[profile bad]\ncredential_process = echo '{SECRET}'\n"
                       f"[profile half]\naws_secret_access_key = {SECRET}\n[profile fails]\ncredential_process = echo '{SECRET}' >&2; exit 1\n"
                       f"[profile sso]\nsso_session = {SECRET}\n")  # fmt: skip
        endpoint = ["--store-option", f"aws_endpoint_url={self.s3.url}"]
        self.run_all(commands_on(self.uri)[:2] + [["doctor", self.uri]], *endpoint, env={"AWS_CONFIG_FILE": config})
        for profile in ("bad", "half", "fails", "sso"):
            self.run_all(commands_against(self.uri)[:1] + [["doctor", self.uri]], *endpoint,
                         env={"AWS_CONFIG_FILE": config, "AWS_PROFILE": profile}, codes=(1, 5))  # fmt: skip
        self.search(self.sent())


class InLocations(SecretsTest):
    """What users put into a location, though it does not belong there."""

    def test_signatures_and_passwords(self):
        signature = quote(AZURE_SAS, safe="")
        places = [
            f"https://acct.blob.core.windows.net/flat/t?sv=2022-11-02&sig={signature}",
            f"abfss://flat@acct.dfs.core.windows.net/t?sv=2022-11-02&sig={signature}",
            f"az://flat/t?sv=2022-11-02&se=2030&sig={AZURE_SAS}",
            f"https://bucket.s3.amazonaws.com/t?X-Amz-Credential=AK&X-Amz-Signature={'0af9' * 16}",
            f"s3://bucket/t?X-Amz-Security-Token={quote(SESSION, safe='')}&X-Amz-Signature={'0af9' * 16}",
            f"s3://AKIAHUSH:{SECRET}@bucket/t",
            f"s3a://AKIAHUSH:{quote(SECRET, safe='')}@bucket/t",
            f"s3:///AKIAHUSH:{SECRET}@bucket/t",
            f"s3://{quote(SECRET, safe='')}@/t",
            f"s3://bucket/t#sig={AZURE_SAS}",
            f"webhdfs://host:1/t?delegation={DELEGATION}",
            f"http://me:{PROXY_PASSWORD}@127.0.0.1:1/t",
        ]
        for place in places:
            self.run_all([*commands_against(place), ["sql", f"SELECT * FROM '{place}/x.parquet'"], ["sql", f"SELECT * FROM '{place}'"],
                          ["sql", f"SELECT * FROM read_parquet('{place}')"], ["sql", f"DESCRIBE DETAIL '{place}'"],
                          ["sql", f"CREATE TABLE n (id BIGINT) USING delta LOCATION '{place}'"],
                          ["sql", "SELECT 1", "--warehouse", place]], codes=None)  # fmt: skip
        self.search(["0af9" * 16])


class OverAzure(SecretsTest):
    @classmethod
    def prepare(cls):
        super().prepare()
        cls.server = subprocess.Popen(
            [sys.executable, os.path.join(STORES, "fake_azure.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        cls.port = int(cls.server.stdout.readline())

    @classmethod
    def tearDownClass(cls):
        cls.server.stdin.close()
        cls.server.wait(30)
        cls.server.stdout.close()
        super().tearDownClass()

    def given(self, **more):
        return self.options(azure_storage_account_name="acct", azure_storage_endpoint=f"http://127.0.0.1:{self.port}/acct",
                            allow_http="true", **more)  # fmt: skip

    def control(self, text):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/_set?{text}", timeout=30) as answer:
            answer.read()

    def login(self, **more):
        return self.given(**{"azure_client_id": "app", "azure_client_secret": AZURE_SECRET, "azure_tenant_id": "tenant",
                             "azure_authority_host": f"http://127.0.0.1:{self.port}/login", **more})  # fmt: skip

    def test_keys_signatures_and_tokens(self):
        ways = [{"azure_storage_account_key": AZURE_KEY}, {"azure_storage_sas_token": f"?sv=1&sig={quote(AZURE_SAS, safe='')}"}]
        for number, way in enumerate(ways):
            self.run_all(commands_on(f"az://flat/well{number}")[:-2], *self.given(**way))
        self.run_all(commands_on("az://flat/login")[:3] + [["doctor", "az://flat/login"]], *self.login())
        self.assertGreater(self.search(), 40)

    def test_every_way_to_be_refused(self):
        self.addCleanup(self.control, "reset=1")
        for way in ({"azure_storage_account_key": WRONG_KEY}, {"azure_storage_sas_token": f"sv=1&sig={quote(AZURE_SAS + 'x', safe='')}"},
                    {"azure_storage_token": BEARER}, {"azure_storage_account_key": "!" + AZURE_SECRET},
                    {"azure_storage_sas_token": AZURE_SECRET}):  # fmt: skip
            self.run_all(commands_against("az://flat/not"), *self.given(**way), codes=(1, 5))
        self.control("login=401")
        self.run_all(commands_against("az://flat/not"), *self.login(), codes=(5,))
        self.search()


class OverOthers(SecretsTest):
    def setUp(self):
        super().setUp()
        server = FakeS3()
        self.cloud = server.__enter__()
        self.cloud.echo = True
        self.addCleanup(server.__exit__)

    def key_file(self, name, **content):
        path = os.path.join(self.inputs, name)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(content, file)
        return path

    def test_google(self):
        account = self.key_file("account.json", type="service_account", client_email="me@project.example", private_key=RSA,
                                token_uri=f"{self.cloud.url}/token")  # fmt: skip
        user = self.key_file("user.json", type="authorized_user", client_id="app", client_secret=AZURE_SECRET, refresh_token=REFRESH,
                             token_uri=f"{self.cloud.url}/token")  # fmt: skip
        broken = self.key_file("broken.json", type="service_account", client_email="me@x", private_key=RSA[:-40])
        base = {"google_base_url": self.cloud.url, "allow_http": "true"}
        tokens = [(200, json.dumps({"access_token": BEARER, "expires_in": 3600})), (401, json.dumps({"error": "invalid_grant"})),
                  (200, json.dumps({"token": BEARER})), (200, BEARER)]  # fmt: skip
        for answer in tokens:
            self.cloud.token_answer = answer
            for file in (account, user):
                self.run_all(commands_against("gs://other/t")[:1] + [["doctor", "gs://other/t"]],
                             *self.options(google_service_account=file, **base), codes=(5,))  # fmt: skip
        text = json.dumps({"error": "invalid_grant", "error_description": f"{REFRESH} {AZURE_SECRET}"})
        for self.cloud.token_answer in ((400, text), (400, text.replace("/", "\\/"))):  # a service that repeats what it was sent
            self.run_all(commands_against("gs://other/t")[:1], *self.options(google_service_account=user, **base), codes=(5,))
        self.assertTrue([body for *_, body in self.cloud.seen if b"assertion=" in body])
        self.assertTrue([1 for _, _, headers, _ in self.cloud.seen if BEARER in headers.get("Authorization", "")])
        self.run_all(commands_against("gs://other/t"), *self.options(google_bearer_token=BEARER, **base), codes=(5,))
        self.run_all(commands_against("gs://other/t")[:1], *self.options(google_service_account=broken, **base), codes=(5,))
        self.run_all(commands_against("gs://other/t")[:1], *self.options(google_service_account_key=RSA, **base), codes=(5,))
        self.run_all(commands_against("gs://other/t")[:1], *self.options(google_bearer_token=BEARER + " ", **base), codes=(1,))
        self.search()

    def test_hdfs(self):
        host = self.cloud.url.removeprefix("http://")
        for self.cloud.echo in (True, "hdfs"):
            self.run_all(commands_against(f"webhdfs://{host}/t"), *self.options(hdfs_delegation_token=DELEGATION), codes=None)
        self.assertTrue([1 for _, target, *_ in self.cloud.seen if DELEGATION in target])
        self.search()


if __name__ == "__main__":
    unittest.main()
