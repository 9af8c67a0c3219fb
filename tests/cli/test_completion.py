"""Completion in bash: what the shell would offer, without a shell that is typed into."""
import os
import subprocess

import cli_support

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../src/cli/completion/silt.bash")


class Completion(cli_support.CliTest):
    def offers(self, *words):
        """words: the line, its last word being completed."""
        script = (
            f'source "{SCRIPT}"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
            f'_silt "{cli_support.SILT}" "${{COMP_WORDS[COMP_CWORD]}}" "${{COMP_WORDS[COMP_CWORD - 1]}}"; '
            'printf "%s\\n" "${COMPREPLY[@]}"'
        )
        env = dict(self.env, SILT_WAREHOUSE=self.dir)
        done = subprocess.run(
            ["bash", "-c", script, "bash", *words], env=env, cwd=self.dir, capture_output=True, text=True, check=True
        )
        self.assertEqual(done.stderr, "")
        return sorted(done.stdout.split())

    def test_commands(self):
        self.assertEqual(self.offers("silt", "h"), ["help", "history"])
        self.assertIn("append", self.offers("silt", ""))
        self.assertEqual(self.offers("silt", "help", "re"), ["read"])

    def test_options_of_the_command(self):
        self.assertEqual(self.offers("silt", "read", "t", "--l"), ["--limit"])
        self.assertEqual(self.offers("silt", "history", "t", "--wh"), [])
        self.assertIn("--format", self.offers("silt", "-"))

    def test_formats(self):
        self.assertEqual(self.offers("silt", "read", "t", "-o", "j"), ["json", "jsonl"])

    def test_tables_of_the_warehouse(self):
        os.makedirs(os.path.join(self.dir, "rides/_delta_log"), exist_ok=True)
        os.makedirs(os.path.join(self.dir, "rival"), exist_ok=True)
        self.assertEqual(self.offers("silt", "read", "ri"), ["rides"])


if __name__ == "__main__":
    cli_support.main()
