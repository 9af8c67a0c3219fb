"""Queries on a store that fails or falls silent, and with a cache that cannot take what is read."""
import os
import re
import resource
import shutil
import subprocess
import time
import unittest

from bucket_support import serve
from cli_support import CliTest, PATIENCE, SILT

QUERY = "SELECT count(s) AS n, max(length(s)) AS l FROM delta.`s3://bucket/t`"
ANSWER = "n,l\n100000,32\n"


class Trouble(CliTest):
    @classmethod
    def prepare(cls):
        cls.sql(f"CREATE TABLE delta.`{cls.dir}/t` USING delta AS SELECT md5(range::VARCHAR) AS s FROM range(100000)")

    def ask(self, access, *options, cache="cache"):
        env = dict(self.env, SILT_CACHE_DIR=os.path.join(self.dir, cache), **access)
        return subprocess.run([SILT, "sql", QUERY, "-o", "csv", *options], env=env, capture_output=True, text=True, timeout=PATIENCE, check=False)

    def test_a_store_that_fails_in_the_middle_of_a_scan_is_told_as_such(self):
        with serve(self.dir, "deny") as (bucket, access):
            done = self.ask(access, cache="denied")
        self.assertTrue(bucket.asked.is_set())
        self.assertEqual((done.returncode, done.stdout), (5, ""), done.stderr)
        self.assertIn("AccessDenied", done.stderr)
        self.assertNotIn("INVALID_INPUT", done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def refused(self, trouble, code, words):
        with serve(self.dir, trouble) as (_, access):
            done = self.ask(access, cache=trouble.replace(" ", "-"))
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        self.assertRegex(done.stderr, words)

    def test_a_data_file_that_a_store_does_not_have_is_one_that_is_missing(self):
        self.refused("gone", 4, r"^error: \[DELTA_FILE_NOT_FOUND\] reading s3://bucket/t/part-\S+: there is no such object")
        self.refused("gone parts", 4, r"^error: \[DELTA_FILE_NOT_FOUND\] reading s3://bucket/t/part-\S+: there is no such object")

    def test_a_store_that_gives_two_sizes_of_a_file_is_to_blame_and_not_the_table(self):
        self.refused("whole ends", 5, r"^error: \[SILT_IO\] the store gave 32768 bytes as all of s3://bucket/t/part-\S+, which has \d+ bytes")
        self.refused("no ends", 5, r"^error: \[SILT_IO\] the store gave 0 bytes as all of s3://bucket/t/part-\S+, which has \d+ bytes")

    def test_a_data_file_of_another_size_than_the_table_says_is_damaged(self):
        name = next(name for name in os.listdir(os.path.join(self.dir, "t")) if name.endswith(".parquet"))
        path = os.path.join(self.dir, "t", name)
        size = os.path.getsize(path)
        with open(path, "ab") as file:
            file.write(b"more")
        self.addCleanup(os.truncate, path, size)
        self.refused("", 4, rf"^error: \[SILT_CORRUPT\] s3://bucket/t/part-\S+ has {size + 4} bytes, expected {size}")

    def check(self, trouble):
        with serve(self.dir, trouble) as (_, access):
            return subprocess.run([SILT, "fsck", "s3://bucket/t", "-o", "jsonl"], env=dict(self.env, SILT_CACHE_DIR=os.path.join(self.dir, "fsck"), **access),
                                  capture_output=True, text=True, timeout=PATIENCE, check=False)

    def test_a_check_that_a_store_refuses_or_breaks_fails_and_finds_no_faults(self):
        done = self.check(None)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        data = next(name for name in os.listdir(os.path.join(self.dir, "t")) if name.endswith(".parquet"))
        for how, code in (("forbid", "SILT_ACCESS_DENIED"), ("break", "SILT_IO")):
            for name in (data, f"{0:020}.json", f"{0:020}.crc"):
                with self.subTest(how=how, name=name):
                    done = self.check(f"{how} {name}")
                    self.assertEqual((done.returncode, done.stdout), (5, ""), done.stderr)
                    self.assertRegex(done.stderr, rf"^error: \[{code}\] .*s3://bucket/t/\S*{name}")

    def test_a_location_or_an_option_that_cannot_be_used_is_named_and_not_a_file_of_the_log(self):
        for location, options, words in (
            ("s3:///x", (), "location s3:///x: the location names no bucket"),
            (f"s3:///{'x' * 300}", (), f"location ...{'x' * 240}: the location names no bucket"),
            ("s3://bucket/t", ("--store-option", "timeout=abc"), "error: [SILT_INVALID_ARGUMENT] option timeout is 'abc', expected a time"),
            ("s3://bucket/t", ("--store-option", "tiemout=1s"), "error: [SILT_INVALID_ARGUMENT] no store has an option 'tiemout'"),
        ):
            done = subprocess.run([SILT, "sql", f"SELECT * FROM delta.`{location}`", *options], env=self.env, capture_output=True, text=True,
                                  timeout=PATIENCE, check=False)
            self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
            self.assertIn(words, done.stderr)
            self.assertNotIn("_last_checkpoint", done.stderr)

    def test_a_scan_of_more_files_than_a_process_may_open_raises_the_limit_or_names_it(self):
        self.sql(f"CREATE TABLE delta.`{self.dir}/many` (id BIGINT) USING delta; "
                 + ";".join(f"INSERT INTO delta.`{self.dir}/many` VALUES ({i})" for i in range(70)))
        for hard, code in ((4096, 0), (96, 5)):
            with serve(self.dir, None) as (_, access):
                done = subprocess.run([SILT, "sql", "SELECT count(*), sum(id + 0) FROM delta.`s3://bucket/many`", "-o", "csv"], capture_output=True,
                                      env=dict(self.env, SILT_CACHE_DIR=os.path.join(self.dir, f"many-{hard}"), **access), text=True, check=False, timeout=PATIENCE,
                                      preexec_fn=lambda limit=hard: resource.setrlimit(resource.RLIMIT_NOFILE, (96, limit)))
            self.assertEqual(done.returncode, code, done.stderr)
            if code == 0:
                self.assertEqual(done.stdout.splitlines()[1:], ["70,2415"])
            else:
                self.assertIn("ulimit -n", done.stderr)

    def silence(self, trouble):
        with serve(self.dir, trouble) as (bucket, access):
            began = time.monotonic()
            done = self.ask(access, "--store-option", "timeout=1s", cache=trouble)
            took = time.monotonic() - began
        self.assertTrue(bucket.asked.is_set())
        self.assertEqual((done.returncode, done.stdout), (5, ""), done.stderr)
        self.assertIn("nothing came", done.stderr)
        self.assertIn("silt doctor TABLE says", done.stderr)
        self.assertLess(took, 20, "three times a second, and a machine that may be busy")
        return bucket

    def test_a_store_that_falls_silent_in_a_scan_has_three_times_its_time(self):
        self.silence("hang")

    def test_a_store_that_never_answers_has_three_times_its_time(self):
        bucket = self.silence("hang all")
        self.assertEqual(bucket.n_asked, 3, "nothing else is asked of it afterwards")

    def whole_answer(self, done, noted):
        self.assertEqual((done.returncode, done.stdout), (0, ANSWER), done.stderr)
        notes = [line for line in done.stderr.splitlines() if "not cached" in line]
        self.assertEqual(len(notes), 1 if noted else 0, done.stderr)

    def test_footers_are_kept_of_what_the_cache_has_and_of_no_other_copy(self):
        kept = "SELECT memory_usage_bytes AS kept FROM duckdb_memory() WHERE tag = 'OBJECT_CACHE'"
        for cache, some in (("footers", True), ("/proc/no-cache", False)):
            with serve(self.dir, None) as (_, access):
                env = dict(self.env, SILT_CACHE_DIR=os.path.join(self.dir, cache), **access)
                done = subprocess.run([SILT, "sql", "; ".join([QUERY, kept, QUERY, QUERY, kept]), "-o", "csv"], env=env, capture_output=True,
                                      text=True, timeout=PATIENCE, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            first, second = re.findall(r"kept\n(\d+)\n", done.stdout)
            self.assertEqual((first, int(first) > 0), (second, some), done.stdout)

    def test_one_trouble_of_the_cache_is_told_once_a_run(self):
        with serve(self.dir, None) as (_, access):
            env = dict(self.env, SILT_CACHE_DIR="/proc/no-cache", **access)
            done = subprocess.run([SILT, "sql", "; ".join([QUERY] * 3), "-o", "csv"], env=env, capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ANSWER * 3), done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertRegex(done.stderr, r"^warning: remote files are not cached: ")

    def entries(self, cache, ending):
        folder = os.path.join(self.dir, cache)
        return [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(ending)]

    def damaged(self, trouble, times, cache):
        """One program after the other with the same cache, on a store that answers wrongly so many times: how each ended, and how often it asked for data."""
        done = []
        with serve(self.dir, trouble) as (bucket, access):
            bucket.n_damaged = times
            for _ in range(3):
                before = len(bucket.seen)
                done.append((self.ask(access, cache=cache), len(bucket.seen) - before))
        return done

    def test_silt_read_reads_wrong_bytes_again(self):
        with serve(self.dir, "damage") as (bucket, access):
            env = dict(self.env, SILT_CACHE_DIR=os.path.join(self.dir, "read"), **access)
            done = subprocess.run([SILT, "read", "s3://bucket/t", "-o", "csv"], env=env, capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertEqual((done.returncode, bucket.n_damaged, done.stderr), (0, 0, ""))
        self.assertEqual(len(done.stdout.splitlines()), 100001)

    def test_wrong_bytes_that_a_store_sent_once_are_read_again(self):
        first, second, _ = self.damaged("damage", 1, "damage1")
        self.whole_answer(first[0], False)
        self.whole_answer(second[0], False)
        self.assertEqual(second[1], 1, "the end, and nothing else: it is all there")

    def test_wrong_bytes_that_a_store_sends_are_told_and_not_kept(self):
        first, second, third = self.damaged("damage", 3, "damage3")  # the query, the file once more, and its column
        self.assertEqual((first[0].returncode, first[0].stdout), (4, ""), first[0].stderr)
        self.assertRegex(first[0].stderr, r"^error: \[SILT_CORRUPT\] column s of file s3://bucket/t/part-\S+ is broken: ")
        self.whole_answer(second[0], False)
        self.assertGreater(second[1], 1)
        self.whole_answer(third[0], False)
        self.assertEqual(third[1], 1)

    def test_the_same_session_reads_what_came_after_wrong_bytes(self):
        with serve(self.dir, "damage") as (bucket, access):
            bucket.n_damaged = 3
            env = dict(self.env, SILT_CACHE_DIR=os.path.join(self.dir, "session"), **access)
            done = subprocess.run([SILT, "sql", "--keep-going", f"{QUERY}; {QUERY}", "-o", "csv"], env=env, capture_output=True, text=True, timeout=PATIENCE,
                                  check=False)
        self.assertEqual((done.returncode, done.stdout), (4, ANSWER), done.stderr)

    def test_a_footer_that_came_wrong_is_asked_for_once_more(self):
        first, second, third = self.damaged("damage ends", 1, "ends1")
        self.whole_answer(first[0], False)
        self.whole_answer(second[0], False)
        first, second, third = self.damaged("damage ends", 2, "ends2")
        self.whole_answer(second[0], False)
        self.whole_answer(third[0], False)
        self.assertEqual(third[1], 1)

    def test_a_cache_that_was_tampered_with_is_done_without(self):
        with serve(self.dir) as (_, access):
            self.whole_answer(self.ask(access), False)
            for replace in (lambda path: os.symlink("/etc/hostname", path), os.mkdir):
                for path in self.entries("cache", ".data"):
                    os.remove(path) if os.path.isfile(path) or os.path.islink(path) else shutil.rmtree(path)
                    replace(path)
                self.whole_answer(self.ask(access), True)

    def test_a_cache_that_is_no_folder_is_done_without(self):
        with serve(self.dir) as (_, access):
            with open(os.path.join(self.dir, "file"), "w", encoding="ascii"):
                pass
            self.whole_answer(self.ask(access, cache="file/cache"), True)

    def test_a_full_cache_is_done_without(self):
        """On a file system of its own that is too small, where one can be made."""
        folder = os.path.join(self.dir, "small")
        os.mkdir(folder)
        made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", folder], capture_output=True, check=False)
        if made.returncode != 0:
            self.skipTest("no small file system can be made here")
        try:
            with serve(self.dir) as (_, access):
                self.whole_answer(self.ask(access, cache="small/cache"), True)
        finally:
            subprocess.run(["umount", folder], check=False)


if __name__ == "__main__":
    unittest.main()
