"""silt doctor: what it says of each way to fail, step by step, and its exit code."""
import json
import os
import socket
import unittest

from cli_support import CliTest
from fake_s3 import BUCKET, KEY_ID, SECRET, FakeS3


class DoctorTest(CliTest):
    """Runs it with -o jsonl; steps as (step, subject) → (result, text, hint)."""

    @classmethod
    def prepare(cls):
        for name in list(cls.env):
            if name.startswith(("AWS_", "AZURE_", "GOOGLE_")) or name.lower().endswith("_proxy"):
                del cls.env[name]
        cls.env["AWS_EC2_METADATA_DISABLED"] = "true"

    def doctor(self, code, uri, *args):
        done = self.silt("doctor", uri, *args, "-o", "jsonl")
        self.assertEqual(done.code, code, done.out + done.err)
        self.assertNotIn(SECRET, done.out + done.err)
        self.steps = [json.loads(line) for line in done.out.splitlines()]
        self.err = done.err
        return {(row["step"], row["subject"]): row for row in self.steps}

    def failures(self):
        return [row for row in self.steps if row["result"] == "failed"]


class OverS3(DoctorTest):
    def setUp(self):
        server = FakeS3()
        self.s3 = server.__enter__()
        self.addCleanup(server.__exit__)
        self.uri = f"s3://{BUCKET}/t"

    def create(self):
        self.sql(f"CREATE TABLE delta.`{self.uri}` (id BIGINT) USING delta", *self.s3.options())

    def test_a_table_that_is_well(self):
        self.create()
        steps = self.doctor(0, self.uri, *self.s3.options(), "--write")
        self.assertEqual(self.failures(), [])
        self.assertEqual(self.err, "")
        self.assertIn(self.s3.url, steps["endpoint", "url"]["text"])
        self.assertIn("option aws_endpoint_url", steps["endpoint", "url"]["text"])
        self.assertEqual(steps["options", "aws_secret_access_key"]["text"], "given, a secret")
        self.assertEqual(steps["credentials", "options"]["text"], f"key {KEY_ID[:4]}…{KEY_ID[-2:]}, no end known")
        self.assertEqual(steps["clock", ""]["result"], "ok")
        self.assertEqual(steps["write", ""]["result"], "ok")
        self.assertEqual(steps["table", "version"]["text"], "0")
        self.assertTrue(steps["table", "protocol"]["text"].startswith("reader 1, writer 2"))
        self.assertEqual([name for name in self.s3.objects if "doctor" in name], [])

    def test_no_table(self):
        steps = self.doctor(4, self.uri, *self.s3.options())
        self.assertEqual(steps["list", "_delta_log"]["result"], "note")
        self.assertEqual(steps["write", ""]["result"], "skipped")
        self.assertEqual([row["step"] for row in self.failures()], ["table"])
        self.assertIn("DELTA_PATH_DOES_NOT_EXIST", self.err)

    def test_a_variable_that_counts_for_all_stores_says_so(self):
        bundle = os.path.join(self.dir, "bundle.pem")
        with open(bundle, "w", encoding="utf-8"):
            pass
        self.env["AWS_CA_BUNDLE"] = bundle
        self.addCleanup(self.env.pop, "AWS_CA_BUNDLE")
        done = self.silt("doctor", "gs://buckets/t", "-o", "jsonl", "--store-option", "google_base_url=http://127.0.0.1:1", "--store-option",
                         "allow_http=true", "--store-option", "google_skip_signature=true")
        rows = [json.loads(line) for line in done.out.splitlines()]
        told = [row["text"] for row in rows if row["subject"] == "AWS_CA_BUNDLE"]
        self.assertEqual(told, [f"from the environment: {bundle}, taken as ca_file, for every store"], done.out + done.err)

    def test_it_writes_only_when_asked(self):
        self.create()
        self.s3.seen.clear()
        self.doctor(0, self.uri, *self.s3.options())
        self.assertEqual({method for method, *_ in self.s3.seen}, {"GET"})

    def test_refusals_are_told_where_they_happen(self):
        for fault, code, hint in (
            ("denied", "AccessDenied", None),
            ("unknown key", "InvalidAccessKeyId", "the server does not know the access key"),
            ("wrong secret", "SignatureDoesNotMatch", "the secret key does not belong"),
            ("skewed", "RequestTimeTooSkewed", "this machine's clock"),
            ("expired", "ExpiredToken", "the credentials have expired"),
            ("region", "AuthorizationHeaderMalformed", "set aws_region"),
            ("moved", "PermanentRedirect", "set aws_region"),
            ("no bucket", "there is no bucket bucket", None),
        ):
            with self.subTest(fault):
                self.s3.fault = fault
                self.doctor(5, self.uri, *self.s3.options())
                (failed,) = self.failures()
                self.assertEqual(failed["step"], "list")
                self.assertIn(code, failed["text"])
                self.assertIn(hint or "", failed["hint"] or "")
                self.assertEqual(len(self.err.splitlines()), 2 if hint else 1, self.err)

    def test_a_clock_that_is_off(self):
        self.s3.skew = 1200
        steps = self.doctor(4, self.uri, *self.s3.options())
        self.assertEqual(steps["clock", ""]["result"], "failed")
        self.assertRegex(steps["clock", ""]["text"], "this machine's clock is (19|20) min behind the server's")
        self.assertIn("set the clock", steps["clock", ""]["hint"])

    def test_a_server_that_ignores_conditions(self):
        self.create()
        self.s3.fault = "noconditions"
        steps = self.doctor(5, self.uri, *self.s3.options(), "--write")
        self.assertEqual(steps["write", ""]["result"], "failed")
        self.assertIn("ignores If-None-Match", steps["write", ""]["text"])
        self.assertIn("aws_conditional_put", steps["write", ""]["hint"])
        steps = self.doctor(1, self.uri, *self.s3.options(aws_conditional_put="trust"), "--write")
        self.assertIn("created twice", steps["write", ""]["text"])

    def test_no_credentials(self):
        self.doctor(5, self.uri, *self.s3.options(aws_access_key_id=None, aws_secret_access_key=None))
        told = [(row["subject"], row["result"]) for row in self.steps if row["step"] == "credentials"]
        ways = ["options", "environment", "web identity", "profile", "container", "instance metadata"]
        self.assertEqual(told, [(way, "skipped") for way in ways] + [("", "failed")])
        self.assertIn("profile default", self.err)

    def test_a_way_that_fails_is_named(self):
        self.env["AWS_CONFIG_FILE"] = os.path.join(self.dir, "config")
        self.addCleanup(self.env.pop, "AWS_CONFIG_FILE")
        with open(self.env["AWS_CONFIG_FILE"], "w", encoding="utf-8") as file:
            file.write("[default]\ncredential_process = exit 3\n[profile sso]\nsso_session = x\n")
        none = {"aws_access_key_id": None, "aws_secret_access_key": None}
        steps = self.doctor(5, self.uri, *self.s3.options(**none))
        self.assertEqual(steps["credentials", "profile"]["text"], "credential_process of AWS profile default: it ended with 3")
        steps = self.doctor(1, self.uri, *self.s3.options(aws_profile="sso", **none))
        self.assertIn("sso_session", steps["credentials", "profile"]["text"])
        self.assertIn("export-credentials", steps["credentials", "profile"]["hint"])

    def test_credentials_of_a_process(self):
        self.create()
        self.env["AWS_CONFIG_FILE"] = os.path.join(self.dir, "config")
        self.addCleanup(self.env.pop, "AWS_CONFIG_FILE")
        text = json.dumps({"Version": 1, "AccessKeyId": KEY_ID, "SecretAccessKey": SECRET, "SessionToken": "st",
                           "Expiration": "2030-01-01T00:00:00Z"})  # fmt: skip
        with open(self.env["AWS_CONFIG_FILE"], "w", encoding="utf-8") as file:
            file.write(f"[default]\ncredential_process = printf '%s' '{text}'\n")
        steps = self.doctor(0, self.uri, *self.s3.options(aws_access_key_id=None, aws_secret_access_key=None))
        self.assertRegex(steps["credentials", "profile"]["text"],
                         r"^key AKIA…01 with a session token, good until 2030-01-01T00:00:00Z \(\d+ min\)$")  # fmt: skip

    def test_names_of_hadoop_are_taken_with_a_note(self):
        self.create()
        steps = self.doctor(0, self.uri, "--store-option", f"fs.s3a.endpoint={self.s3.url}", "--store-option",
                            f"spark.hadoop.fs.s3a.access.key={KEY_ID}", "--store-option", f"fs.s3a.secret.key={SECRET}",
                            "--store-option", "fs.s3a.impl=org.apache.hadoop.fs.s3a.S3AFileSystem")  # fmt: skip
        self.assertIn("taken as aws_endpoint_url_s3", steps["options", "fs.s3a.endpoint"]["text"])
        self.assertEqual(steps["options", "fs.s3a.impl"]["result"], "note")

    def test_an_option_that_nobody_knows(self):
        self.doctor(1, self.uri, *self.s3.options(aws_regoin="x"))
        self.assertEqual(self.err, "error: [SILT_INVALID_ARGUMENT] no store has an option 'aws_regoin'\n"
                                   "hint: did you mean aws_region?\n")  # fmt: skip

    def test_files_of_dynamodb_are_seen(self):
        self.create()
        self.s3.objects["t/_delta_log/.tmp/00000000000000000001.json.x"] = b"{}"
        steps = self.doctor(0, self.uri, *self.s3.options())
        self.assertRegex(steps["dynamodb", "_delta_log/.tmp"]["text"], "^1 file of .*S3DynamoDBLogStore.*: silt must do so, too")
        chosen = self.s3.options(aws_s3_locking_provider="dynamodb", aws_endpoint_url_dynamodb=self.s3.url)
        self.assertIn("silt does so, too", self.doctor(0, self.uri, *chosen)["dynamodb", "_delta_log/.tmp"]["text"])

    def test_a_table_that_cannot_be_read(self):
        self.create()
        log = "t/_delta_log/00000000000000000000.json"
        self.s3.objects[log] = self.s3.objects[log].replace(b'"minReaderVersion":1', b'"minReaderVersion":9')
        self.doctor(4, self.uri, *self.s3.options())
        self.assertEqual([row["step"] for row in self.failures()], ["table"])


class OnTheWay(DoctorTest):
    def check(self, text, uri, *args):
        steps = self.doctor(5, uri, *args)
        (failed,) = self.failures()
        self.assertEqual(failed["step"], "reach")
        self.assertIn(text, failed["text"])
        self.assertNotIn("credentials", {row["step"] for row in self.steps})  # they are not sent, nor looked for
        return steps

    def closed(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return f"http://127.0.0.1:{probe.getsockname()[1]}"

    def test_a_closed_port(self):
        url = self.closed()
        host = url.removeprefix("http://")
        for uri, name in (("s3://bucket/t", "aws_endpoint_url"), ("gs://bucket/t", "google_base_url"),
                          ("az://bucket/t", "azure_storage_endpoint")):  # fmt: skip
            with self.subTest(uri):
                self.check(f"cannot connect to {host}", uri, "--store-option", f"{name}={url}", "--store-option", "allow_http=true",
                           "--store-option", "azure_storage_account_name=acct", "--store-option",
                           "google_skip_signature=true", "--store-option", "azure_skip_signature=true")  # fmt: skip
        self.check(f"cannot connect to {host}", f"webhdfs://{host}/t")

    def test_a_name_that_nobody_has(self):
        steps = self.check("cannot resolve host", "s3://bucket/t", "--store-option", "aws_endpoint_url=http://nobody.invalid")
        self.assertIn("not resolved", steps["dns", "nobody.invalid"]["text"])

    def test_a_proxy_that_is_away(self):
        self.env["http_proxy"] = self.closed().replace("//", "//me:hush@")
        self.addCleanup(self.env.pop, "http_proxy")
        steps = self.check("cannot connect", "s3://bucket/t", "--store-option", "aws_endpoint_url=http://silt.example")
        self.assertIn("…@127.0.0.1", steps["proxy", "http_proxy"]["text"])
        self.assertNotIn("hush", str(self.steps) + self.err)
        self.env["no_proxy"] = "example"
        self.addCleanup(self.env.pop, "no_proxy")
        steps = self.check("cannot resolve", "s3://bucket/t", "--store-option", "aws_endpoint_url=http://silt.example")
        self.assertEqual(steps["proxy", ""]["text"], "none is used")

    def test_a_certificate_that_nobody_knows(self):
        with FakeS3(tls=True) as s3:
            self.check("TLS with 127.0.0.1", "s3://bucket/t", *s3.options())
            self.assertIn("store option ca_file", self.failures()[0]["hint"])
            steps = self.doctor(4, "s3://bucket/t", *s3.options(ca_file=s3.cert))
            (reach,) = [row for (step, _), row in steps.items() if step == "reach"]
            self.assertIn("its certificate is good", reach["text"])

    def test_an_advice_outlives_many_attempts(self):
        with FakeS3() as s3:
            done = self.silt("history", "s3://bucket/t", *s3.options(aws_endpoint_url=s3.url.replace("http:", "https:")))
            self.assertEqual(done.code, 5, done.err)
            self.assertIn("has to begin with http://", done.err)


class OnLocalFiles(DoctorTest):
    def test_a_table(self):
        self.sql("CREATE TABLE 'here' (id BIGINT) USING delta")
        steps = self.doctor(0, "here", "--write")
        self.assertIn("here", steps["store", "local files"]["text"])
        self.assertEqual((steps["write", ""]["result"], steps["table", "version"]["text"]), ("ok", "0"))
        self.assertEqual([name for name in os.listdir(os.path.join(self.dir, "here", "_delta_log")) if "doctor" in name], [])

    def test_nothing(self):
        steps = self.doctor(4, "nothing", "--write")
        self.assertEqual(steps["write", ""]["result"], "skipped")
        self.assertFalse(os.path.exists(os.path.join(self.dir, "nothing")))

    def test_a_report_for_people(self):
        self.sql("CREATE TABLE 'shown' (id BIGINT) USING delta")
        done = self.silt("doctor", "shown", "-o", "table")
        self.assertIn("  table       ok      version: 0\n", done.out)


if __name__ == "__main__":
    unittest.main()
