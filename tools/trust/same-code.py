#!/usr/bin/env python3
"""Holds the programs that Cargo built against those that Bazel built, section by section.

  ./enter tools/proof same-code [CARGO_FOLDER] [BAZEL_FOLDER] > same-code.tsv

The folders are target/release and bazel-bin unless given. A program is one that both have; its name
is FAMILY-VARIANT. The two are never equal byte for byte, since names of symbols carry what the build
was told of a crate; the same flags give sections of the same size, give or take a few functions that
were put into other units. Ends with 1 where a section of code or data differs by more than 2 %, or
where the two were linked by different linkers, and with 2 where there is nothing to compare.
"""

import struct
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FAMILIES = ["engines", "ledgers", "runtimes", "schedulers", "workflows"]
COMPARED = [".text", ".rodata", ".data", ".data.rel.ro", ".eh_frame", ".gcc_except_table"]
MOST = 0.02
# Of smaller sections a few bytes are a large share.
LEAST_BYTES = 64 << 10


def main():
    given = [Path(argument) for argument in sys.argv[1:]]
    cargo, bazel = given + [ROOT / "target" / "release", ROOT / "bazel-bin"][len(given):]
    pairs = [(name, cargo / name, path) for name, path in built_by_bazel(bazel) if (cargo / name).is_file()]
    print("program", "section", "cargo_bytes", "bazel_bytes", "ratio", "alike", sep="\t")
    unlike = 0
    for name, *paths in pairs:
        one, other = (sections(path.read_bytes()) for path in paths)
        for section in COMPARED:
            sizes = [len(of.get(section, b"")) for of in (one, other)]
            ratio = sizes[1] / sizes[0] if sizes[0] else float("nan")
            alike = max(sizes) < LEAST_BYTES or abs(ratio - 1) <= MOST
            unlike += not alike
            print(name, section, *sizes, f"{ratio:.4f}", "yes" if alike else "no", sep="\t")
        said = [made_by(of) for of in (one, other)]
        unlike += said[0] != said[1]
        print(name, "made by", *said, "", "yes" if said[0] == said[1] else "no", sep="\t")
    print(f"{len(pairs)} programs, {unlike} differences", file=sys.stderr)
    if not pairs:
        print(f"no program lies in both {cargo} and {bazel}: build with both", file=sys.stderr)
        return 2
    return int(unlike > 0)


def built_by_bazel(folder):
    """Every variant's program below Bazel's output folder, by its name."""
    for family in FAMILIES:
        for path in sorted((folder / family).glob(f"*/{family}-*")):
            if path.is_file() and path.name == f"{family}-{path.parent.name}":
                yield path.name, path


def sections(program):
    """The bytes of each section of a 64-bit little-endian ELF file, by name."""
    if program[:6] != b"\x7fELF\x02\x01":
        return {}
    (table,) = struct.unpack_from("<Q", program, 0x28)
    size, count, names_at = struct.unpack_from("<HHH", program, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", program, table + size * at) for at in range(count)]
    names = headers[names_at][4]
    found = {}
    for name, kind, _, _, offset, length in headers:
        text = program[names + name:program.index(b"\0", names + name)].decode()
        # 8: takes no place in the file.
        found[text] = b"" if kind == 8 else program[offset:offset + length]
    return found


def made_by(of):
    """Compilers and linker, as they sign the program."""
    signed = of.get(".comment", b"").split(b"\0")
    return "; ".join(sorted({line.decode(errors="replace") for line in signed if line}))


if __name__ == "__main__":
    sys.exit(main())
