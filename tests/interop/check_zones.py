"""The table of time zones for the legacy calendar (src/base/julian_zones.def) against the one that Spark's reader uses."""
import glob
import json
import os
import re
import zipfile

from harness import same

HERE = os.path.dirname(os.path.abspath(__file__))
TABLE = os.path.join(HERE, "..", "..", "src", "base", "julian_zones.def")
ROW = re.compile(r'^SL_JULIAN_ZONE\((-?\d+), (-?\d+), (-?\d+), (-?\d+), (-?\d+), (-?\d+), (-?\d+), (-?\d+), "([^"]*)"\)$', re.M)


def spark_zones():
    """By name: (seconds since the epoch, shift from then on), as Spark keeps them."""
    pattern = os.path.join(os.environ["SILT_INTEROP_PEERS"], "venv", "lib", "*", "site-packages", "pyspark", "jars",
                           "spark-sql-api_*.jar")
    with zipfile.ZipFile(glob.glob(pattern)[0]) as jar:
        zones = json.loads(jar.read("julian-gregorian-rebase-micros.json"))
    return {zone["tz"]: list(zip(zone["switches"], zone["diffs"])) for zone in zones}


def silt_zones(julian):
    """The same, put together from silt's table and the shifts of the calendar alone, which are those of UTC."""
    zones = {}
    with open(TABLE, encoding="utf-8") as file:
        rows = ROW.findall(file.read())
    for row in rows:
        offset, early = int(row[0]), int(row[1])
        later = [(int(row[i]), int(row[i + 1])) for i in (2, 4, 6) if int(row[i]) != 0]
        shifts = [(at - offset, shift + early) for at, shift in julian] + later
        zones.update({name: shifts for name in row[8].split()})
    return zones


def check(run):
    expected = spark_zones()
    found = silt_zones(expected["UTC"])
    run.case("spark", "names of zones", same, sorted(expected), sorted(found))
    for name, shifts in expected.items():
        run.case("spark", f"zone {name}", same, shifts, found.get(name))
