"""The table that a run prints, the file that it keeps, and the comparison of results."""
import datetime
import json
import os
import platform
import statistics
import subprocess

# Averages of decimals come with six digits from some engines.
TOLERANCE = 1.1e-6


def number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


def same_cell(a, b):
    if a == b:
        return True
    x, y = number(a), number(b)
    return x is not None and y is not None and abs(x - y) <= max(TOLERANCE, 1e-9 * max(abs(x), abs(y)))


def same_rows(a, b):
    return len(a) == len(b) and all(len(x) == len(y) and all(map(same_cell, x, y)) for x, y in zip(a, b))


def least(found, role, what):
    """The least time of all contestants of a role, None if there are none."""
    return min((value for measured in found if measured.role == role for value in getattr(measured, what)), default=None)


def ratio(a, b):
    return a / b if a is not None and b else None


class Report:
    def __init__(self):
        self.lines = []
        self.faults = []

    def compare(self, case, found):
        """Results differ: the run fails. silt and its limit are one engine and must agree to the digit."""
        if not found or found[0].role != "silt":
            self.faults.append(f"{case}: there is no result of silt to compare with")
            return
        for other in found[1:]:
            if other.rows is None or found[0].rows is None:
                continue
            exact = {found[0].role, other.role} == {"silt", "limit"}
            fine = found[0].rows == other.rows if exact else same_rows(found[0].rows, other.rows)
            if not fine:
                self.faults.append(f"{case}: {other.who} has {other.rows}, {found[0].who} has {found[0].rows}")

    def add(self, case, threads, found, target=None):
        print(f"\n{case}, {threads} thread{'' if threads == 1 else 's'}" + (f"; target: {target}" if target else ""))
        print(f"  {'':26} {'min ms':>10} {'median ms':>10} {'CPU ms':>10} {'first ms':>10} {'RSS MB':>8} {'n':>3} "
              f"{'P':>6} {'P cpu':>6} {'L':>6} {'L cpu':>6}")
        for measured in found:
            is_silt = measured.role == "silt"
            line = {
                "case": case, "threads": threads, "who": measured.who, "role": measured.role,
                "min_ms": min(measured.times) / 1000, "median_ms": statistics.median(measured.times) / 1000,
                "cpu_ms": min(measured.cpu) / 1000 if measured.cpu else None,
                "first_ms": min(measured.first) / 1000 if measured.first else None,
                "rss_mb": measured.rss_kb / 1024, "n": len(measured.times),
                "P": ratio(least(found, "peer", "times"), min(measured.times)) if is_silt else None,
                "P_cpu": ratio(least(found, "peer", "cpu"), min(measured.cpu, default=None)) if is_silt else None,
                "L": ratio(min(measured.times), least(found, "limit", "times")) if is_silt else None,
                "L_cpu": ratio(min(measured.cpu, default=None), least(found, "limit", "cpu")) if is_silt else None,
                "times_us": measured.times, "cpu_us": measured.cpu,
            }
            self.lines.append(line)
            print(f"  {measured.who:26} {line['min_ms']:10.2f} {line['median_ms']:10.2f} {text(line['cpu_ms'], 10)} "
                  f"{text(line['first_ms'], 10)} {line['rss_mb']:8.1f} {line['n']:3} {text(line['P'], 6)} "
                  f"{text(line['P_cpu'], 6)} {text(line['L'], 6)} {text(line['L_cpu'], 6)}", flush=True)

    def fact(self, case, name, value, unit, target):
        """A number that is no time."""
        print(f"\n{case}: {name} {value:.2f} {unit} (target: {target})", flush=True)
        self.lines.append({"case": case, "name": name, "value": value, "unit": unit, "target": target})

    def save(self, folder, settings):
        os.makedirs(folder, exist_ok=True)
        now = datetime.datetime.now(datetime.timezone.utc)
        path = os.path.join(folder, now.strftime("%Y%m%dT%H%M%S.json"))
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"time": now.isoformat(), "machine": machine(), "settings": settings, "lines": self.lines,
                       "faults": self.faults}, file, indent=1)
        return path


def text(value, width):
    return f"{'' if value is None else format(value, '.2f'):>{width}}"


def machine():
    model = "unknown processor"
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            model = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), model)
    except OSError:
        pass
    done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False,
                          cwd=os.path.dirname(os.path.abspath(__file__)))
    return {"processor": model, "processors": os.cpu_count(), "system": platform.platform(),
            "load": os.getloadavg(), "commit": done.stdout.strip()}
