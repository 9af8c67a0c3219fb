"""A query that waits for a store that stopped answering ends with Ctrl-C at once, not when the store's time is up."""
import signal
import subprocess
import unittest

from bucket_support import serve
from cli_support import CliTest, PATIENCE, SILT


class Interrupted(CliTest):
    def test_waiting_for_a_store_ends_with_the_statement(self):
        self.sql(f"CREATE TABLE delta.`{self.dir}/t` USING delta AS SELECT md5(range::VARCHAR) AS s FROM range(100000)")
        with serve(self.dir, "hang") as (bucket, access):
            env = dict(self.env, SILT_CACHE_DIR=f"{self.dir}/cache", **access)
            with subprocess.Popen([SILT, "sql", "SELECT max(s) FROM delta.`s3://bucket/t`"], env=env, stderr=subprocess.PIPE,
                                  stdout=subprocess.PIPE) as query:
                try:
                    self.assertTrue(bucket.asked.wait(PATIENCE), "the query read no data")
                    query.send_signal(signal.SIGINT)
                    out, err = query.communicate(timeout=20)  # the store has 30 seconds, several times
                finally:
                    query.kill()
        self.assertEqual(out, b"")
        self.assertIn(b"interrupted", err)
        self.assertIn(query.returncode, (-signal.SIGINT, 130))


if __name__ == "__main__":
    unittest.main()
