"""What a store refuses, or what stands in the way to it, is one coded line, at most one hint, and exit code 5: whichever command runs into it."""
import gzip
import os
import re
import ssl
import subprocess
import sys
import unittest
import urllib.request
import warnings

from cli_support import CliTest
from fake_s3 import BUCKET, SECRET, FakeS3

URI = f"s3://{BUCKET}/t"
STORES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "stores")
COMMANDS = (
    ["read", "{}"],
    ["history", "{}"],
    ["detail", "{}"],
    ["sql", "SELECT count(*) FROM delta.`{}`"],
    ["sql", "INSERT INTO delta.`{}` VALUES (7)"],
    ["sql", "CREATE TABLE delta.`{}` (id BIGINT) USING delta"],
)


class FaultTest(CliTest):
    @classmethod
    def prepare(cls):
        for name in list(cls.env):
            if name.startswith(("AWS_", "AZURE_", "GOOGLE_")) or name.lower().endswith("_proxy"):
                del cls.env[name]
        cls.env["AWS_EC2_METADATA_DISABLED"] = "true"

    def refused(self, error, hint, uri, options, commands=COMMANDS):
        """error: regular expression of the line behind the code; hint: a part of it, or None for none."""
        for command in commands:
            words = [word.format(uri) for word in command]
            with self.subTest(" ".join(words)):
                done = self.silt(*words, *options)
                self.assertEqual((done.code, done.out), (5, ""), done.err)
                lines = done.err.splitlines()
                line = re.sub(r" \(line 1, column \d+\)$", "", lines[0])
                self.assertRegex(line, rf"^error: {error}")
                self.assertEqual(len(lines), 1 if hint is None else 2, done.err)
                if hint is not None:
                    self.assertRegex(lines[1], rf"^hint: .*{hint}")


class OverS3(FaultTest):
    def setUp(self):
        server = FakeS3()
        self.s3 = server.__enter__()
        self.addCleanup(server.__exit__)

    def test_no_credentials(self):
        options = self.s3.options(aws_access_key_id=None, aws_secret_access_key=None)
        self.refused(r"\[SILT_ACCESS_DENIED\] .*no AWS credentials were found for bucket bucket: looked at options, "
                     r"AWS_ACCESS_KEY_ID, AWS_WEB_IDENTITY_TOKEN_FILE, profile default, the container's endpoint and the instance's metadata",
                     "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", URI, options)  # fmt: skip

    def test_half_of_the_credentials(self):
        for gone, there in (("aws_secret_access_key", "aws_access_key_id"), ("aws_access_key_id", "aws_secret_access_key")):
            self.refused(rf"\[SILT_ACCESS_DENIED\] .*{there} is set without {gone}", None, URI, self.s3.options(**{gone: None}))
        options = self.s3.options(aws_access_key_id=None, aws_secret_access_key=None, aws_profile="nosuch")
        self.refused(r"\[SILT_ACCESS_DENIED\] .*there is no AWS profile nosuch", None, URI, options)
        self.env["AWS_WEB_IDENTITY_TOKEN_FILE"] = os.path.join(self.dir, "nosuch")
        self.addCleanup(self.env.pop, "AWS_WEB_IDENTITY_TOKEN_FILE")
        options = self.s3.options(aws_access_key_id=None, aws_secret_access_key=None)
        self.refused(r"\[SILT_ACCESS_DENIED\] .*is set without aws_role_arn", None, URI, options)
        self.refused(r"\[SILT_ACCESS_DENIED\] .*nosuch", None, URI, options + ["--store-option", "aws_role_arn=arn:aws:iam::1:role/r"])

    def test_no_such_bucket(self):
        self.refused(r"\[SILT_BUCKET_NOT_FOUND\] .*there is no bucket nowhere$", None, "s3://nowhere/t", self.s3.options())

    def test_refusals(self):
        for fault, error, hint in (
            ("denied", "HTTP 403 AccessDenied", None),
            ("wrong secret", "HTTP 403 SignatureDoesNotMatch", "the secret key does not belong to the access key"),
            ("unknown key", "HTTP 403 InvalidAccessKeyId", "does not know the access key"),
            ("expired", "HTTP 400 ExpiredToken", "the credentials have expired"),
            ("skewed", "HTTP 403 RequestTimeTooSkewed", "this machine's clock differs from the server's"),
        ):
            self.s3.fault = fault
            with self.subTest(fault):
                self.refused(rf"\[SILT_ACCESS_DENIED\] .*bucket bucket: the server answered {error}$", hint, URI, self.s3.options())

    def test_a_region_that_is_wrong(self):
        for fault, error in (("region", "HTTP 400 AuthorizationHeaderMalformed"), ("moved", "HTTP 301 PermanentRedirect")):
            self.s3.fault = fault
            self.refused(rf"\[SILT_IO\] .*bucket bucket: the server answered {error}$", "set aws_region", URI, self.s3.options())

    def test_a_listing_that_is_none(self):
        self.assertEqual(self.silt(*[word.format(URI) for word in COMMANDS[-1]], *self.s3.options()).code, 0)
        page = b"<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>"
        for self.s3.listing in (b"", page[:30], gzip.compress(page), b"<a>" * 20):
            self.refused(r"\[SILT_IO\] .*the server's XML is n", None, URI, self.s3.options(), COMMANDS[:4])

    def test_a_store_that_ignores_conditions(self):
        self.s3.fault = "noconditions"
        error = r"\[SILT_NO_CONDITIONAL_CREATES\] .*the server of bucket bucket ignores If-None-Match: two writers could own one version"
        self.refused(error, "aws_conditional_put=trust", URI, self.s3.options(), COMMANDS[-1:])
        self.assertEqual(self.s3.objects, {})  # neither a commit nor the probe is left
        done = self.silt("sql", COMMANDS[-1][1].format(URI), *self.s3.options(aws_conditional_put="trust"))
        self.assertEqual(done.code, 0, done.err)
        error = r"\[SILT_NO_CONDITIONAL_CREATES\] .*is said to have no conditional creates.*aws_conditional_put"
        self.refused(error, None, URI, self.s3.options(aws_conditional_put="disabled"), COMMANDS[4:5])

    def test_no_right_to_probe_names_the_option(self):
        self.sql(COMMANDS[-1][1].format(URI), *self.s3.options())
        self.s3.deny_writes = "_delta_log"
        error = r"\[SILT_ACCESS_DENIED\] .*bucket bucket was not proven to know conditional creates: .*HTTP 403 AccessDenied"
        self.refused(error, "aws_conditional_put=trust", URI, self.s3.options(), COMMANDS[4:5])


class OnTheWay(FaultTest):
    def test_a_certificate_that_nobody_knows(self):
        with FakeS3(tls=True) as s3:
            self.refused(r"\[SILT_IO\] .*TLS with 127\.0\.0\.1:\d+ failed: ", "store option ca_file", URI, s3.options(), COMMANDS[:1])

    def asked_once(self, error, options):
        done = self.silt("read", URI, *options)
        self.assertEqual(done.code, 5, done.err)
        self.assertRegex(done.err, rf"TLS with .* failed: .*{error}")
        self.assertNotIn("gave up after", done.err)
        return done.err

    def test_a_server_of_another_protocol_is_asked_once(self):
        with FakeS3() as s3:
            options = s3.options(aws_endpoint_url=s3.url.replace("http:", "https:"))
            self.assertIn("hint: the server answers without TLS", self.asked_once("wrong version number", options))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            with FakeS3(tls=True, newest=ssl.TLSVersion.TLSv1_1) as s3:
                self.asked_once("(protocol version|unsupported protocol)", s3.options(ca_file=s3.cert))
        with FakeS3(tls=True) as s3:  # its certificate is for the address only
            self.asked_once("", s3.options(ca_file=s3.cert, aws_endpoint_url=s3.url.replace("127.0.0.1", "localhost")))


class OverAzure(FaultTest):
    """fake_azure.py, a process of its own."""

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

    def options(self, **more):
        given = {"azure_storage_account_name": "acct", "azure_storage_endpoint": f"http://127.0.0.1:{self.port}/acct",
                 "allow_http": "true", **more}  # fmt: skip
        return [text for name, value in given.items() for text in ("--store-option", f"{name}={value}")]

    def control(self, text):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/_set?{text}", timeout=30) as answer:
            answer.read()

    def test_refusals(self):
        key = "dGhlIGtleSBvZiB0aGUgZmFrZSBhY2NvdW50LCAzMis="
        wrong = "YW5vdGhlciBrZXk="
        self.refused(r"\[SILT_ACCESS_DENIED\] .*account acct refused access to flat.* with the key of the account \(HTTP 403",
                     "check the account's name|the credentials are wrong", "az://flat/t",
                     self.options(azure_storage_account_key=wrong))  # fmt: skip
        self.refused(r"\[SILT_ACCESS_DENIED\] .*refused access to flat.* with the shared access signature", "", "az://flat/t",
                     self.options(azure_storage_sas_token="sv=1&sig=wrong"), COMMANDS[:1])  # fmt: skip
        self.refused(r"\[SILT_BUCKET_NOT_FOUND\] .*container nowhere does not exist in account acct", None, "az://nowhere/t",
                     self.options(azure_storage_account_key=key))  # fmt: skip

    def test_a_clock_that_is_off(self):
        self.control("skew=3600")
        self.addCleanup(self.control, "reset=1")
        self.refused(r"\[SILT_ACCESS_DENIED\] .*refused access", "this machine's clock is (59|60) minutes behind that of the service",
                     "az://flat/t", self.options(azure_storage_account_key="YW5vdGhlciBrZXk="), COMMANDS[:1])  # fmt: skip

    def test_a_login_that_fails(self):
        self.control("login=401")
        self.addCleanup(self.control, "reset=1")
        login = {"azure_client_id": "app", "azure_client_secret": SECRET, "azure_tenant_id": "tenant",
                 "azure_authority_host": f"http://127.0.0.1:{self.port}/login"}  # fmt: skip
        self.refused(r"\[SILT_ACCESS_DENIED\] .*no token for Azure storage: the token endpoint answered HTTP 401", None, "az://flat/t",
                     self.options(**login), COMMANDS[:1])  # fmt: skip


class OverOthers(FaultTest):
    def test_a_file_of_credentials_that_is_not_there(self):
        self.refused(r"\[SILT_ACCESS_DENIED\] .*nosuch.json", None, "gs://bucket/t",
                     ["--store-option", "google_application_credentials=nosuch.json"])  # fmt: skip
        self.refused(r"\[SILT_ACCESS_DENIED\] .*nosuch.token", None, "abfss://c@acct.dfs.core.windows.net/t",
                     ["--store-option", "azure_federated_token_file=nosuch.token", "--store-option", "azure_client_id=app",
                      "--store-option", "azure_tenant_id=tenant"])  # fmt: skip

    def test_google_and_hdfs_that_refuse(self):
        with FakeS3() as server:
            server.echo = True
            host = re.sub("^http://", "", server.url)
            self.refused(r"\[SILT_ACCESS_DENIED\] .*gs://other refused access", "without credentials", "gs://other/t",
                         ["--store-option", f"google_base_url={server.url}", "--store-option", "google_skip_signature=true"],
                         COMMANDS[:1])  # fmt: skip
            self.refused(r"\[SILT_(IO|ACCESS_DENIED)\] .*HDFS ", None, f"webhdfs://{host}/t", [], COMMANDS[:1])


if __name__ == "__main__":
    unittest.main()
