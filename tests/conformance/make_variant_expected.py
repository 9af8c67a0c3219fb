"""Makes expected/unshredded-variant.jsonl from the rows beside the table, which are printed as text with the bytes of each variant.
Decodes by itself what those variants are made of: one object with one small number. Run by hand:

    SILT_CONFORMANCE=… python3 tests/conformance/make_variant_expected.py
"""
import json
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(os.environ["SILT_CONFORMANCE"], "tables", "unshredded-variant.expected.in")
VARIANT = re.compile(r"\{metadata: ([0-9a-f]+), value: ([0-9a-f]+)\}")


def decoded(match):
    metadata, value = bytes.fromhex(match[1]), bytes.fromhex(match[2])
    # one name from its offset 0 on; an object of one member with name 0 at offset 0, an integer of one byte
    assert metadata[:3] == b"\x01\x01\x00" and value[:4] == b"\x02\x01\x00\x00" and value[5] == 0x0C and len(value) == 7
    return json.dumps({metadata[4:].decode(): int.from_bytes(value[6:], "little", signed=True)}, separators=(":", ":"))


class Cell:
    """A value as the table prints it: lists in brackets, structs and maps in braces, nothing for null."""

    def __init__(self, text):
        self.text, self.at = VARIANT.sub(decoded, text), 0

    def starts(self, mark):
        return self.text.startswith(mark, self.at)

    def skip(self, mark):
        assert self.starts(mark), self.text[self.at:]
        self.at += len(mark)

    def members(self, end, one):
        items = []
        while not self.starts(end):
            items.append(one())
            if not self.starts(end):
                self.skip(",")
                self.at += self.starts(" ")
                if self.starts(end):
                    items.append(None)  # nothing after the last comma
        self.skip(end)
        return items

    def pair(self):
        key = re.compile(r'"?(\w+)"?: ?').match(self.text, self.at)
        self.at = key.end()
        return key[1], self.value()

    def value(self):
        if self.starts("["):
            self.skip("[")
            return self.members("]", self.value)
        if self.starts("{"):
            self.skip("{")
            return dict(self.members("}", self.pair))
        number = re.compile(r"-?\d+").match(self.text, self.at)
        if number is None:
            return None
        self.at = number.end()
        return int(number[0])


def main():
    with open(SOURCE, encoding="utf-8") as file:
        lines = [line.strip().removeprefix('"').rstrip(",").removesuffix('"') for line in file if "| " in line]
    table = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    titles, rows = table[0], table[1:]
    with open(os.path.join(HERE, "expected", "unshredded-variant.jsonl"), "w", encoding="utf-8") as out:
        for row in rows:
            print(json.dumps({title: Cell(cell).value() for title, cell in zip(titles, row)}), file=out)


if __name__ == "__main__":
    main()
