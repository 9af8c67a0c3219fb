"""Prints runs' results as the table of docs/benchmarks.md: figures.py RESULT.json... [--case TEXT]: only cases with TEXT in their names."""
import argparse
import json


def number(value, digits=1):
    return "" if value is None else f"{value:.{digits}f}"


def least(lines, role, what):
    return min((line for line in lines if line["role"] == role and line.get(what) is not None), key=lambda line: line[what], default=None)


def times(line):
    return "" if line is None else f"{number(line['min_ms'])} / {number(line['cpu_ms'])}"


def print_case(case, threads, lines):
    silt = least(lines, "silt", "min_ms")
    peer = least(lines, "peer", "min_ms")
    if silt is None:
        return
    print(f"| {case} | {threads} | {times(silt)} | {number(silt['rss_mb'], 0)} | {times(least(lines, 'limit', 'min_ms'))} "
          f"| {times(peer)}{' ' + peer['who'] if peer else ''} | {number(silt['P'], 2)} / {number(silt['P_cpu'], 2)} "
          f"| {number(silt['L'], 2)} / {number(silt['L_cpu'], 2)} |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("results", nargs="+")
    parser.add_argument("--case", default="")
    options = parser.parse_args()
    cases, facts = {}, []
    for path in options.results:
        with open(path, encoding="utf-8") as file:
            for line in json.load(file)["lines"]:
                if options.case in line["case"]:
                    if "value" in line:
                        facts.append(line)
                    else:
                        cases.setdefault((line["case"], line["threads"]), []).append(line)
    print("| case | threads | silt, wall / CPU ms | RSS MB | limit | best peer by wall | P wall / CPU | L wall / CPU |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for (case, threads), lines in cases.items():
        print_case(case, threads, lines)
    for fact in facts:
        print(f"\n{fact['case']}: {fact['name']} {fact['value']:.2f} {fact['unit']} (target: {fact['target']})")


if __name__ == "__main__":
    main()
