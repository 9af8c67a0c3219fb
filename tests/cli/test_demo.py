"""examples/demo/run: makes its table, can be run again, and leaves alone what it did not make."""
import os
import subprocess

import cli_support

DEMO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/demo/run")


class Demo(cli_support.CliTest):
    def run_demo(self, folder):
        env = dict(self.env, SILT=cli_support.SILT, SILT_DEMO_DIR=folder)
        return subprocess.run([DEMO], cwd=self.dir, env=env, capture_output=True, text=True, timeout=110, check=False)

    def test_demo_makes_a_million_rentals_and_can_be_run_again(self):
        first = self.run_demo("demo")
        self.assertEqual((first.returncode, first.stderr), (0, ""))
        self.assertEqual(self.sql("SELECT count(*) AS n FROM demo.rentals"), "n\n1000000\n")
        self.assertIn("│ 1000000 │  2000 │", first.stdout)
        self.assertIn("silt read rentals", first.stdout)
        with open(os.path.join(self.dir, "demo", "stray"), "w", encoding="utf-8"):
            pass
        self.assertEqual(self.run_demo("demo").returncode, 0)
        self.assertFalse(os.path.exists(os.path.join(self.dir, "demo", "stray")))

    def test_demo_leaves_folders_of_others_alone(self):
        os.makedirs(os.path.join(self.dir, "mine", "precious"))
        done = self.run_demo("mine")
        self.assertEqual(done.returncode, 1)
        self.assertIn("was not made by this demo", done.stderr)
        self.assertTrue(os.path.isdir(os.path.join(self.dir, "mine", "precious")))


if __name__ == "__main__":
    cli_support.main()
