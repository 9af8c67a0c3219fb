"""Helpers of the tests of the program: running it as a process, and driving its shell through a terminal.

SILT names the program. Each test class works in a folder of its own, with an environment that holds nothing of the
user's; times, places and ids that differ from run to run are replaced before texts are compared.
"""
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import termios
import time
import unittest

SILT = os.environ.get("SILT", "silt")
PATIENCE = 90  # seconds: machines are busy now and then


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err


class CliTest(unittest.TestCase):
    """A folder for tables at self.dir, removed afterwards; it is the working folder and the warehouse."""

    @classmethod
    def setUpClass(cls):
        cls.dir = os.path.realpath(tempfile.mkdtemp(prefix="silt-cli-"))
        cls.env = {name: value for name, value in os.environ.items() if not name.startswith(("SILT_W", "XDG_"))}
        cls.env.update(HOME=cls.dir, TERM="xterm", LC_ALL="C.UTF-8", TMPDIR=cls.dir)
        cls.prepare()

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.dir, ignore_errors=True)

    @classmethod
    def prepare(cls):
        """Makes what all tests of the class use."""

    @classmethod
    def silt(cls, *args, stdin="", binary=False):
        done = subprocess.run(
            [SILT, *args], input=stdin.encode(), capture_output=True, cwd=cls.dir, env=cls.env, timeout=PATIENCE, check=False
        )
        out = done.stdout if binary else done.stdout.decode()
        return Result(done.returncode, out, done.stderr.decode())

    @classmethod
    def sql(cls, text, *args):
        """Runs statements that must succeed; returns what they print."""
        done = cls.silt("sql", text, *args)
        if done.code != 0:
            raise AssertionError(f"{text}: exit code {done.code}\n{done.err}")
        return done.out

    def assert_prints(self, expected, *args, **options):
        done = self.silt(*args, **options)
        self.assertEqual((done.err, done.code), ("", 0))
        self.assertEqual(done.out, expected)

    def assert_fails(self, code, error, *args, **options):
        """error: all of standard error, without the last line break."""
        done = self.silt(*args, **options)
        self.assertEqual(done.err, error + "\n")
        self.assertEqual(done.code, code)
        return done.out


class Terminal:
    """The program at a terminal of its own."""

    def __init__(self, case, *args, columns=80):
        self.text = ""
        self.alive = True
        case.addCleanup(self.kill)
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                os.chdir(case.dir)
                os.execvpe(SILT, [SILT, *args], case.env)
            finally:
                os._exit(127)  # the copy of this process must not go on with the tests
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def read_some(self):
        try:
            data = os.read(self.fd, 65536)
        except OSError:  # the other side is closed
            data = b""
        self.text += data.decode(errors="replace")
        return bool(data)

    def wait_for(self, wanted):
        """Reads until the text appears; returns what came up to its end."""
        limit = time.monotonic() + PATIENCE
        while wanted not in self.text:
            ready, _, _ = select.select([self.fd], [], [], 1)
            if (ready and not self.read_some()) or time.monotonic() > limit:
                raise AssertionError(f"{wanted!r} did not come; got {self.text[-500:]!r}")
        end = self.text.index(wanted) + len(wanted)
        seen, self.text = self.text[:end], self.text[end:]
        return seen

    def send(self, text):
        os.write(self.fd, text.encode())

    def command(self, line, prompt="silt> "):
        """Types a line; returns what came before the next prompt."""
        self.send(line + "\n")
        return plain(self.wait_for(prompt))

    def close(self):
        """Waits for the end; returns the exit code, negative for a signal, and the text that was left."""
        limit = time.monotonic() + PATIENCE
        while time.monotonic() < limit:
            ready, _, _ = select.select([self.fd], [], [], 1)
            if ready and not self.read_some():
                break
        else:
            raise AssertionError(f"the program does not end; got {self.text[-500:]!r}")
        _, status = os.waitpid(self.pid, 0)
        self.alive = False
        os.close(self.fd)
        code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        return code, self.text

    def kill(self):
        """Ends what a failed test left running."""
        if self.alive:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            os.close(self.fd)
            self.alive = False


def plain(text):
    """Terminal output without escape sequences and carriage returns."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).replace("\r", "")


def main():
    unittest.main(verbosity=1)
