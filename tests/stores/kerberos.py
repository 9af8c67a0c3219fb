"""A realm of Kerberos of its own, and Apache in front of a server, which lets in only who proves by SPNEGO to be of it."""
import os
import shutil
import subprocess

import servers

REALM = "SILT.TEST"
USER = "alice"
HOST = "localhost"  # of the service HTTP/localhost
MODULES = ["mpm_event", "authn_core", "authz_core", "authz_user", "proxy", "proxy_http", "auth_gssapi"]


def program(name):
    found = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if found is None:
        raise servers.ServerError(f"{name} is not installed (tests/stores/setup kerberos)")
    return found


class Realm(servers.Server):
    """The key distribution centre. tickets() gets one for the user; environment: what its programs and clients need."""

    name = "kerberos"

    def place(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.place(name), "w", encoding="utf-8") as file:
            file.write(text)

    def environment(self):
        return {"KRB5_CONFIG": self.place("krb5.conf"), "KRB5_KDC_PROFILE": self.place("kdc.conf"),
                "KRB5CCNAME": "FILE:" + self.place("tickets")}

    def extra_environment(self):
        return self.environment()

    def call(self, *command, text=None):
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False, env={**os.environ, **self.environment()})
        if done.returncode != 0:
            raise servers.ServerError(f"{command[0]}: {done.stderr.strip()}")

    def command(self):
        os.chmod(self.folder, 0o755)  # Apache reads the key as another user
        at = f"127.0.0.1:{self.port}"
        self.write("krb5.conf", f"[libdefaults]\n default_realm = {REALM}\n dns_lookup_kdc = false\n dns_canonicalize_hostname = false\n"
                                f" rdns = false\n udp_preference_limit = 1\n[realms]\n {REALM} = {{\n  kdc = {at}\n }}\n"
                                f"[domain_realm]\n {HOST} = {REALM}\n")
        self.write("kdc.conf", f"[kdcdefaults]\n kdc_listen = {at}\n kdc_tcp_listen = {at}\n[realms]\n {REALM} = {{\n"
                               f"  database_name = {self.place('principal')}\n  key_stash_file = {self.place('stash')}\n }}\n")
        self.call(program("kdb5_util"), "create", "-s", "-r", REALM, "-P", "master")
        for query in (f"addprinc -pw secret {USER}", f"addprinc -randkey HTTP/{HOST}", f"ktadd -k {self.keytab} HTTP/{HOST}"):
            self.call(program("kadmin.local"), "-r", REALM, "-q", query)
        os.chmod(self.keytab, 0o644)
        return [program("krb5kdc"), "-n", "-r", REALM]

    @property
    def keytab(self):
        return self.place("keytab")

    def tickets(self):
        self.call(program("kinit"), USER, text="secret\n")

    def without_tickets(self):
        self.call(program("kdestroy"))


class Gate(servers.Server):
    """Apache in front of another server."""

    name = "apache"

    def __init__(self, behind, realm):
        super().__init__()
        self.behind, self.realm = behind, realm

    def extra_environment(self):
        """Without the cache of proofs, which is synced with each request."""
        return {**self.realm.environment(), "KRB5RCACHENAME": "none:", "KRB5RCACHETYPE": "none"}

    def command(self):
        os.chmod(self.folder, 0o755)
        lines = [f"ServerRoot {self.folder}", f"ServerName {HOST}", f"Listen 127.0.0.1:{self.port}", f"PidFile {self.folder}/pid",
                 "ErrorLog /dev/stderr", "LogLevel warn", f'CustomLog {self.folder}/answers "%>s"']
        lines += [f"LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so" for name in MODULES]
        lines += ["User www-data", "Group www-data"] if os.getuid() == 0 else []
        lines += ["AllowEncodedSlashes NoDecode", f"ProxyPass / http://127.0.0.1:{self.behind.port}/ nocanon", "<Location />",
                  "AuthType GSSAPI", 'AuthName "silt"', f"GssapiCredStore keytab:{self.realm.keytab}", "Require valid-user", "</Location>"]
        with open(os.path.join(self.folder, "conf"), "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        return [program("apache2"), "-DFOREGROUND", "-f", os.path.join(self.folder, "conf")]

    def answers(self):
        """The codes of all answers so far."""
        with open(os.path.join(self.folder, "answers"), encoding="utf-8") as file:
            return file.read().split()

    @property
    def uri(self):
        return f"webhdfs://{HOST}:{self.port}/{servers.BUCKET}/folder"

    @property
    def options(self):
        return {"hadoop.security.authentication": "kerberos"}


def refused(silt, gate, environment):
    """Without a ticket nothing is read, and the message says what is missing."""
    done = subprocess.run([silt, "log", f"{gate.uri}/tour", "--store-option", "hadoop.security.authentication=kerberos"],
                          env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr.strip()

