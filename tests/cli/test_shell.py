"""The interactive shell, driven through a terminal."""
import os
import random

import cli_support
from cli_support import Terminal, plain
from fake_s3 import BUCKET, FakeS3


class Shell(cli_support.CliTest):
    @classmethod
    def prepare(cls):
        cls.sql(
            "CREATE TABLE events (id BIGINT, city STRING) USING delta; INSERT INTO events VALUES (1, 'Oslo'), (2, 'Bergen');"
            "CREATE TABLE sales.orders (nr INT) USING delta"
        )

    def open(self, *args, **options):
        shell = Terminal(self, *args, **options)
        self.banner = plain(shell.wait_for("silt> "))
        return shell

    def leave(self, shell):
        shell.send("\\q\n")
        code, text = shell.close()
        self.assertEqual(code, 0, text)

    def test_banner_tells_the_version_and_how_to_leave(self):
        shell = self.open()
        self.assertRegex(self.banner, r"silt \d+\.\d+\.\d+\. .*\\q leaves\.\n")
        shell.send("\x04")
        self.assertEqual(shell.close()[0], 0)

    def test_statement_shows_a_table_a_count_and_the_time(self):
        shell = self.open()
        out = shell.command("SELECT * FROM events ORDER BY id;")
        self.assertIn(
            "┌────┬────────┐\n│ id │ city   │\n├────┼────────┤\n│  1 │ Oslo   │\n│  2 │ Bergen │\n└────┴────────┘\n(2 rows)\n", out
        )
        self.assertRegex(out, r"\n\d+\.\d{3} s\nsilt> \Z")
        self.leave(shell)

    def test_statement_over_several_lines_runs_at_its_semicolon(self):
        shell = self.open()
        shell.command("SELECT 'semi;colon' AS a, -- not; here", "  ...> ")
        shell.command("42 AS b", "  ...> ")
        out = shell.command(";")
        self.assertIn("│ semi;colon │ 42 │", out)
        self.leave(shell)

    def test_errors_do_not_end_the_shell(self):
        shell = self.open()
        self.assertIn("error: [UNRESOLVED_COLUMN]", shell.command("SELECT nope;"))
        self.assertIn("error: [SILT_USAGE] there is no command \\nope\nhint: \\? lists the commands\n", shell.command("\\nope"))
        self.assertIn("│ 1 │", shell.command("SELECT 1;"))
        self.leave(shell)

    def test_statement_without_result_says_that_it_is_done(self):
        shell = self.open()
        self.assertRegex(shell.command("CREATE TEMP TABLE t AS SELECT 1;"), r"done in \d+\.\d{3} s\n")
        self.leave(shell)

    def test_write_tells_its_version(self):
        self.sql("CREATE TABLE written (a INT) USING delta")
        shell = self.open()
        self.assertRegex(shell.command("INSERT INTO written VALUES (1);"), r"version 1, \d+\.\d{3} s\n")
        self.leave(shell)

    def test_interrupt_forgets_the_line_and_all_before_it(self):
        shell = self.open()
        shell.command("SELECT 1,", "  ...> ")
        shell.send("garbage\x03")
        shell.wait_for("silt> ")
        self.assertIn("│ 7 │", shell.command("SELECT 7;"))
        self.leave(shell)

    def test_interrupt_stops_a_statement_and_shows_progress_before(self):
        shell = self.open()
        shell.send("SELECT count(*) FROM range(1000000000000) t(i) WHERE i % 7 = 3;\n")
        shell.wait_for("running query")  # the line of progress, drawn from the first second on
        shell.send("\x03")
        out = shell.wait_for("silt> ")
        self.assertIn("\r\x1b[K", out)
        self.assertIn("error: [SILT_CANCELLED] interrupted\n", plain(out))
        self.assertIn("│ 7 │", shell.command("SELECT 7;"))
        self.leave(shell)

    def test_backslash_commands_list_and_describe_tables(self):
        shell = self.open()
        out = shell.command("\\d")
        self.assertIn("│ events ", out)
        self.assertIn("│ sales.orders │", out)
        out = shell.command("\\d sales.orders;")
        self.assertIn("│ nr       │ int       │", out)
        self.assertIn("hint: did you mean events?", shell.command("\\d evens"))
        self.leave(shell)

    def test_words_of_other_shells_help_and_leave(self):
        shell = self.open()
        self.assertIn("\\timing [on|off]", shell.command("help"))
        self.assertIn("  ...> ", shell.command("SELECT 7 AS", "  ...> "))
        self.assertIn("│ quit │", shell.command("quit;"))  # within a statement it is a word like others
        shell.send("exit\n")
        self.assertEqual(shell.close()[0], 0)

    def test_format_and_timing_can_be_set(self):
        shell = self.open()
        self.assertIn("the format is jsonl\n", shell.command("\\o jsonl"))
        self.assertIn("timing is off\n", shell.command("\\timing off"))
        self.assertTrue(shell.command("SELECT 1 AS x;").endswith('\n{"x":1}\nsilt> '))
        self.assertIn("error: [SILT_USAGE] \\o takes table, csv, json or jsonl, not xml\n", shell.command("\\o xml"))
        self.leave(shell)

    def test_file_is_run_and_its_errors_are_placed(self):
        with open(os.path.join(self.dir, "job.sql"), "w", encoding="utf-8") as file:
            file.write("SELECT 5 AS five;\n SELEC 1;")
        shell = self.open()
        out = shell.command("\\i job.sql")
        self.assertIn("│    5 │", out)
        self.assertIn("(line 2, column 2)", out)
        self.assertIn("error: [SILT_NOT_FOUND]", shell.command("\\i missing.sql"))
        self.leave(shell)

    def test_warehouse_can_be_changed(self):
        os.makedirs(os.path.join(self.dir, "elsewhere"), exist_ok=True)
        shell = self.open()
        self.assertIn("the warehouse is elsewhere\n", shell.command("\\w elsewhere"))
        self.assertIn("there are no tables in elsewhere\n", shell.command("\\d"))
        self.assertIn("the warehouse is /nosuch, a folder that does not exist yet\n", shell.command("\\w /nosuch"))
        self.leave(shell)

    def test_tab_completes_keywords_tables_and_columns(self):
        shell = self.open("-o", "csv")
        self.assertIn("\nid\n1\n2\n", shell.command("sel\tid from eve\twhere ci\tis not null ord\tid;"))
        self.assertIn("\ncity\nOslo\nBergen\n", shell.command("from events select ci\t;"))
        shell.send("from events where c\t")
        self.assertIn("city", plain(shell.wait_for("create")))
        shell.send("\x03")
        shell.wait_for("silt> ")
        self.leave(shell)

    def test_history_is_kept_privately_and_without_secrets(self):
        shell = self.open()
        shell.command("SELECT 'remember",  "  ...> ")
        shell.command("me';")
        shell.command("SET s3.secret_access_key = 'xyzzy';")
        self.leave(shell)
        path = os.path.join(self.dir, ".local/state/silt/history")
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        with open(path, encoding="utf-8") as file:
            kept = file.read()
        self.assertIn("remember\\040me", kept)
        self.assertNotIn("xyzzy", kept)
        shell = self.open()
        shell.send("\x1b[A\x1b[A\n")  # up twice: over the \q
        self.assertIn("remember me", plain(shell.wait_for("silt> ")))
        self.leave(shell)

    def test_characters_of_several_bytes_can_be_edited(self):
        shell = self.open("-o", "csv")
        self.assertIn("\na\nblø日\n", shell.command("SELECT 'blø日é\x7f' AS a;"))
        self.leave(shell)

    def test_wide_results_are_fitted_to_the_terminal(self):
        shell = self.open(columns=60)
        out = shell.command("SELECT repeat('x', 100) AS a, 12345 AS n FROM range(2);")
        self.assertIn("x…", out)
        self.assertEqual({len(line) for line in out.splitlines() if line.startswith("│")}, {60})
        out = shell.command("DESCRIBE HISTORY events;")
        self.assertRegex(out, r"\(2 rows; \d+ of 15 columns are not shown\)")
        self.assertRegex(out, r"\d\d:\d\d:\d\d(\.\d+)?Z")  # times are not cut
        self.leave(shell)

    def test_one_wide_row_is_shown_as_a_list(self):
        shell = self.open()
        self.assertRegex(shell.command("DESCRIBE DETAIL events;"), r"\n +format │ delta\n")
        self.leave(shell)


class Terminals(cli_support.CliTest):
    """Commands at a terminal, without the shell."""

    def test_table_is_the_default_format_at_a_terminal(self):
        code, out = Terminal(self, "sql", "SELECT 1 AS x").close()
        self.assertEqual((code, plain(out)), (0, "┌───┐\n│ x │\n├───┤\n│ 1 │\n└───┘\n(1 row)\n"))

    def test_parquet_is_not_sent_to_a_terminal(self):
        code, out = Terminal(self, "sql", "SELECT 1 AS x", "-o", "parquet").close()
        self.assertEqual(code, 2)
        self.assertIn("error: [SILT_USAGE] Parquet is not for a terminal\nhint: name a file with -O FILE", plain(out))

    def test_shell_refuses_parquet(self):
        code, out = Terminal(self, "-o", "parquet").close()
        self.assertEqual((code, plain(out)), (2, "error: [SILT_USAGE] the shell has no use for -o parquet\n"))

    def test_sql_without_statements_at_a_terminal_is_wrong_usage(self):
        code, out = Terminal(self, "sql").close()
        self.assertEqual(code, 2)
        self.assertIn("there are no statements to run\nhint: ", plain(out))

    def test_progress_is_wiped_before_the_result(self):
        terminal = Terminal(self, "sql", "SELECT count(*) AS n FROM range(600000000) t(i) WHERE i % 7 = 3")
        code, out = terminal.close()
        self.assertEqual(code, 0)
        if "running query" in out:  # a fast machine has nothing to show
            self.assertTrue(out[: out.index("┌")].endswith("\r\x1b[K"), repr(out))


def tables_among(names):
    """What a walk over folders would find among files of these names: TABLE and SCHEMA.TABLE."""
    parts = [name.split("/") for name in names]
    odd = [part[0].startswith(".") or "=" in part[0] for part in parts]
    top = {part[0] for part, no in zip(parts, odd) if len(part) > 2 and part[1] == "_delta_log" and not no}
    below = {f"{part[0]}.{part[1]}" for part, no in zip(parts, odd)
             if len(part) > 3 and part[2] == "_delta_log" and not no and part[0] not in top
             and part[1] and part[1][0] != "." and "=" not in part[1]}  # fmt: skip
    return sorted(top | below)


class ElsewhereTest(cli_support.CliTest):
    """\\d where the warehouse is no folder of this machine."""

    def setUp(self):
        server = FakeS3()
        self.s3 = server.__enter__()
        self.addCleanup(server.__exit__)
        self.env["AWS_EC2_METADATA_DISABLED"] = "true"

    def listed(self, warehouse=f"s3://{BUCKET}/wh"):
        self.s3.seen.clear()
        shell = Terminal(self, "-o", "csv", "--warehouse", warehouse, *self.s3.options())
        shell.wait_for("silt> ")
        out = shell.command("\\d").replace("\r", "")
        shell.send("\\q\n")
        self.assertEqual(shell.close()[0], 0)
        return out

    def expect(self, names, requests=None):
        self.s3.objects.clear()
        self.s3.objects.update({f"wh/{name}": b"" for name in names})
        out = self.listed()
        found = out[out.index("table\n") + 6 :].split("\n")[:-1] if "table\n" in out else []
        self.assertEqual([name.strip('"') for name in found], tables_among(names), out)
        if requests:
            self.assertLessEqual(len(self.s3.seen), requests)
        return out

    def test_tables_and_schemas_are_found(self):
        log = "_delta_log/00000000000000000000.json"
        self.expect([f"t/{log}", "t/part-0.parquet", f"s/a/{log}", f"s/Z/{log}", f"s/Z/A=1/{log}", "s/loose.txt", f".hidden/{log}", "x.csv",
                     f"t/inner/{log}", f"deep/s/t/{log}", f"p=1/{log}", "files/only/x.csv", f"s/.x/{log}", f"Ü ber/{log}"], 1)  # fmt: skip

    def test_large_tables_are_jumped_over(self):
        log = "_delta_log/00000000000000000000.json"
        names = [f"{table}/{part}" for table in ("a", "b/t", "zz") for part in [log, *(f"part-{n:05}.parquet" for n in range(9000))]]
        names += [f"Partitioned/Year={n // 30}/part-{n}.parquet" for n in range(9000)] + [f"Partitioned/{log}", f"b/u/{log}"]
        names += [f"b/V/2024/{n}" for n in range(3000)] + [f"b/V/{log}", f"b/W/{log}"]
        self.expect(names, 25)

    def test_any_names_do(self):
        chance = random.Random(7)
        for _ in range(6):
            names = set()
            for folder in {"/".join(chance.choices(["a", "c", "b0", "b-", "_x", "zz", "p=1", ".h"], k=chance.choice((1, 2, 2, 3)))) for _ in range(9)}:
                names.update(f"{folder}/{chance.choice('Apz')}{n}" for n in range(chance.choice((1, 30, 2300))))
                names.update([f"{folder}/_delta_log/0.json"] if chance.random() < 0.6 else [])
            self.expect([n for n in names if not n.startswith("_x/_delta_log")])

    def test_what_cannot_be_listed_is_told(self):
        self.assertIn("there are no tables in s3://bucket/wh\n", self.expect([]))
        self.assertIn("error: [SILT_BUCKET_NOT_FOUND]", self.listed("s3://nowhere/wh"))
        self.s3.fault = "denied"
        self.assertIn("error: [SILT_ACCESS_DENIED]", self.listed())


if __name__ == "__main__":
    cli_support.main()
