#!/usr/bin/env python3
"""silt doctor before real servers: what it finds where all is well, and what it says where something is not.

    tests/stores/doctor.py SERVER...        versitygw, moto, azurite, fake-gcs-server, minidfs (tests/stores/run doctor calls it)

moto plays the token service and the instance's metadata. SILT names the program. Prints a line for each case; the last is "N passed, N failed".
"""
import getpass
import json
import os
import subprocess
import sys
import tempfile

import servers

HERE = os.path.dirname(os.path.abspath(__file__))
SILT = os.environ.get("SILT") or os.path.realpath(os.path.join(HERE, "..", "..", "build", "release", "bin", "silt"))
PATIENCE = 300
NO_KEYS = {"aws_access_key_id": "", "aws_secret_access_key": ""}


class Wrong(Exception):
    """Something is not as it must be."""


class Rig:
    def __init__(self):
        self.passed = self.failed = 0
        self.home = tempfile.mkdtemp(prefix="silt-doctor-")
        taken = ("AWS_", "AZURE_", "GOOGLE_", "GCE_", "STORAGE_")
        self.env = {name: value for name, value in os.environ.items()
                    if not name.startswith(taken) and not name.lower().endswith("_proxy")}  # fmt: skip
        self.env.update(HOME=self.home, AWS_EC2_METADATA_DISABLED="true")

    def silt(self, *words, options=None, env=None):
        flags = [text for name, value in (options or {}).items() for text in ("--store-option", f"{name}={value}")]
        return subprocess.run(
            [SILT, *words, *flags], env={**self.env, **(env or {})}, capture_output=True, text=True, timeout=PATIENCE, check=False
        )

    def create(self, uri, options):
        done = self.silt("sql", f"CREATE TABLE delta.`{uri}` (id BIGINT) USING delta", options=options)
        if done.returncode != 0:
            raise servers.ServerError(f"no table can be made at {uri}: {done.stderr}")

    def case(self, name, uri, options, code, *wanted, write=False, env=None):
        """wanted: (step, subject or None, result, part of the text or hint)."""
        done = self.silt("doctor", uri, "-o", "jsonl", *(["--write"] if write else []), options=options, env=env)
        try:
            steps = [json.loads(line) for line in done.stdout.splitlines()]
            if done.returncode != code:
                raise Wrong(f"exit code {done.returncode}, expected {code}: {done.stderr}")
            for step, subject, result, part in wanted:
                if not any(
                    row["step"] == step and subject in (None, row["subject"]) and row["result"] == result
                    and part in f"{row['text']} {row['hint']}" for row in steps
                ):
                    raise Wrong(f"no step {step}/{subject} is {result} with {part!r}: {done.stdout}")
            for name_of_secret in ("aws_secret_access_key", "azure_storage_account_key"):
                secret = options.get(name_of_secret)
                if secret and secret in done.stdout + done.stderr:
                    raise Wrong(f"{name_of_secret} is shown")
            self.passed += 1
            print(f"ok - {name}", flush=True)
        except (Wrong, json.JSONDecodeError) as error:
            self.failed += 1
            print(f"not ok - {name}: {error}", flush=True)


WELL = [("reach", None, "ok", "answers"), ("clock", None, "ok", "from the server's"), ("list", None, "ok", "may be listed"),
        ("write", "", "ok", "refused a second time"), ("table", "version", "ok", "0"), ("table", "silt writes", "ok", "yes")]  # fmt: skip


def versitygw(rig):
    with servers.Versitygw() as server:
        uri, options = server.uri + "/t", server.options
        rig.create(uri, options)
        rig.case("s3: all is well", uri, options, 0, *WELL, ("credentials", "options", "ok", "key AK"), write=True)
        rig.case("s3: no table", server.uri + "/none", options, 4, ("table", "", "failed", "does not exist"))
        rig.case("s3: no bucket", "s3://silt-nowhere/t", options, 5, ("list", None, "failed", "there is no bucket silt-nowhere"))
        rig.case("s3: wrong secret", uri, {**options, "aws_secret_access_key": "wrong/of+tests"}, 5,
                 ("list", None, "failed", "SignatureDoesNotMatch"))  # fmt: skip
        rig.case("s3: unknown key", uri, {**options, "aws_access_key_id": "AKIANOBODYHASTHIS"}, 5,
                 ("list", None, "failed", "InvalidAccessKeyId"))  # fmt: skip
        rig.case("s3: another region", uri, {**options, "aws_region": "xx-west-7"}, 0,
                 ("endpoint", "region", "note", "the server says " + server.region))  # fmt: skip
        rig.case("s3: no signature", uri, {**options, "aws_skip_signature": "true"}, 5, ("list", None, "failed", "HTTP 403"),
                 ("credentials", "", "note", "not signed"))  # fmt: skip
        rig.case("s3: nobody listens", uri, {**options, **server.unreachable()}, 5, ("reach", None, "failed", "cannot connect"))


def moto(rig):
    with servers.Moto() as server:
        uri = server.uri + "/t"
        options = {**server.options, "aws_conditional_put": "trust"}
        rig.create(uri, options)
        keyless = {**options, **NO_KEYS}
        metadata = {"AWS_EC2_METADATA_DISABLED": "", "AWS_EC2_METADATA_SERVICE_ENDPOINT": server.url}
        rig.case("moto: an instance's role", uri, keyless, 0, ("credentials", "container", "skipped", ""),
                 ("credentials", "instance metadata", "ok", "with a session token, good until"), env=metadata)  # fmt: skip
        token = os.path.join(rig.home, "token")
        with open(token, "w", encoding="utf-8") as file:
            file.write("a.web.identity")
        role = "arn:aws:iam::123456789012:role/reader"
        rig.case("moto: a web identity", uri, keyless, 0, ("credentials", "web identity", "ok", "with a session token, good until"),
                 env={"AWS_WEB_IDENTITY_TOKEN_FILE": token, "AWS_ROLE_ARN": role, "AWS_ENDPOINT_URL_STS": server.url + "/"})  # fmt: skip
        rig.case("moto: a role in options", uri, {**options, "aws_role_arn": role, "aws_endpoint_url_sts": server.url + "/"}, 0,
                 ("credentials", "options", "ok", "key AK"), ("credentials", "role", "ok", "with a session token, good until"))  # fmt: skip
        config = os.path.join(rig.home, "config")
        with open(config, "w", encoding="utf-8") as file:
            file.write(f"[default]\nrole_arn = {role}\nsource_profile = base\nexternal_id = x\n[profile base]\n"
                       f"aws_access_key_id = {server.key}\naws_secret_access_key = {server.secret}\n")  # fmt: skip
        rig.case("moto: a role of a profile", uri, keyless, 0, ("credentials", "profile", "ok", "with a session token, good until"),
                 env={"AWS_CONFIG_FILE": config, "AWS_ENDPOINT_URL_STS": server.url + "/"})  # fmt: skip


def azurite(rig):
    with servers.Azurite() as server:
        uri, options = server.uri + "/t", server.options
        rig.create(uri, options)
        rig.case("az: all is well", uri, options, 0, *WELL, ("credentials", "chosen", "ok", "Shared Key"), write=True)
        rig.case("az: wrong key", uri, {**options, **server.wrong}, 5, ("list", None, "failed", "HTTP 403"))
        rig.case("az: no container", "az://silt-nowhere/t", options, 5, ("list", None, "failed", "does not exist"))


def google(rig):
    with servers.FakeGcs() as server:
        uri, options = server.uri + "/t", server.options
        rig.create(uri, options)
        rig.case("gs: all is well", uri, options, 0, *WELL, write=True)
        rig.case("gs: no bucket", "gs://silt-nowhere/t", options, 5, ("list", None, "failed", "there is no bucket"))


def hdfs(rig):
    with servers.MiniDfs() as server:
        uri, options = server.uri + "/t", server.options
        rig.create(uri, options)
        rig.case("hdfs: all is well", uri, options, 0, *WELL[:2], *WELL[3:], write=True)
        rig.case("hdfs: no table", server.uri + "/none", options, 4, ("list", "", "note", "no such folder"))
        log = f"{server.url}/webhdfs/v1/{servers.BUCKET}/folder/t/_delta_log"
        servers.demand("PUT", f"{log}?op=SETPERMISSION&permission=755&user.name={getpass.getuser()}")
        rig.case("hdfs: a user who may not write", uri, {**options, "hdfs_user": "mallory"}, 5, ("write", "", "failed", "refused"),
                 write=True)  # fmt: skip


SERVERS = {"versitygw": versitygw, "moto": moto, "azurite": azurite, "fake-gcs-server": google, "minidfs": hdfs}


def main():
    rig = Rig()
    for name in sys.argv[1:] or SERVERS:
        SERVERS[name](rig)
    print(f"{rig.passed} passed, {rig.failed} failed")
    return 1 if rig.failed or not rig.passed else 0


if __name__ == "__main__":
    sys.exit(main())
