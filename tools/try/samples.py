"""What the commands of our pages speak of: two programs, a small tool with a history, a report."""

import subprocess

# Named by what a command names; all others run in the checkout.
FOLDERS = {"./tool-old": "programs", "target/release/tool": "tool", "old.txt": "programs",
           "lab audit": "report"}

REPORT = """# A report

| tool | time, ms | against old |
|---|---|---|
| old | 20.0 | 1.00× |
| new | 10.0 | 2.00× |

The new one takes 10.0 ms.
"""
MAIN = """fn main() {{
    let mut sum = 0u64;
    for i in 0..{steps}_000_000u64 {{
        sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(i));
    }}
    println!("done {{}}", sum > 0);
}}
"""
MANIFEST = '[package]\nname = "tool"\nversion = "1.0.0"\nedition = "2021"\n\n[workspace]\n'
BENCHMARK = "goos: linux\npkg: example.test/sum\n"


def lay_out(reader):
    """The reader's folders; returned is the folder of them."""
    programs, tool, report = (reader / name for name in ("programs", "tool", "report"))
    for folder in (programs, tool / "src", report / "docs", report / "bench"):
        folder.mkdir(parents=True)
    for name, steps in (("tool-old", 20_000), ("tool-new", 30_000)):
        path = programs / name
        path.write_text(f"#!/bin/sh\ni=0; while [ $i -lt {steps} ]; do i=$((i + 1)); done\n")
        path.chmod(0o755)
    for name, ns in (("old.txt", 100), ("new.txt", 155)):
        lines = [f"BenchmarkSum-2 1000000 {ns + run % 5}.0 ns/op\n" for run in range(12)]
        (programs / name).write_text(BENCHMARK + "".join(lines))
    history(tool)
    for name in ("report.md", "README.md", "docs/more.md", "bench/table.md"):
        (report / name).write_text(REPORT)
    (report / "results.json").write_text(
        '{"results": [{"command": "old", "mean": 0.020, "times": [0.019, 0.021]},'
        ' {"command": "new", "mean": 0.010, "times": [0.009, 0.011]}]}\n')
    return reader


def history(tool):
    """Six commits behind the tag v1.2, of which the third makes the tool slower; `main` is before."""
    git(tool, "init", "--quiet", "--initial-branch", "main")
    (tool / "Cargo.toml").write_text(MANIFEST)
    (tool / ".gitignore").write_text("target\n")
    commit(tool, 20, "begin")
    git(tool, "tag", "v1.2")
    git(tool, "switch", "--quiet", "--create", "work")
    for number, steps in enumerate((20, 20, 26, 26, 26, 26)):
        (tool / "notes").write_text(f"{number}\n")
        commit(tool, steps, f"change {number}")


def commit(tool, steps, subject):
    (tool / "src/main.rs").write_text(MAIN.format(steps=steps))
    git(tool, "add", "--all")
    who = ["-c", "user.name=A reader", "-c", "user.email=reader@example.test"]
    git(tool, *who, "commit", "--quiet", "--message", subject)


def git(folder, *words):
    subprocess.run(["git", *words], cwd=folder, check=True, timeout=60)


def folder_of(command, reader, checkout):
    """Where a command of the page is typed."""
    for name, folder in FOLDERS.items():
        if name in command:
            return reader / folder
    return checkout
