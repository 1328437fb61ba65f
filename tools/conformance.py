#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which test proves which clause of the contract, and which error code of which call.

conformance.py [ROOT]              the tests of every clause and of every code
conformance.py --markdown [ROOT]   the same as tables, with files instead of tests
conformance.py --check [ROOT]      complains of what has no test, and of what is not in the lists
conformance.py --self-test         plants one offence of each kind and looks whether it is found

tests/conformance/clauses.txt lists the clauses, tests/conformance/errors.txt the codes that each
public call may return. A test cites clauses in the comment above it, in one inside of it, or in the
heading of its section: POOL-09, or POOL-17 to POOL-19. What a helper function or a table cites is
cited by the tests of its file that use it. A case of tests/host/run cites them in the comment above its
function. Whatever looks like a clause in a comment of src/, include/ or tests/ must be one. A test proves
a code where it compares the call with it,

    assert_status(rota_execute(pool, work, NULL), ROTA_EREJECTED);

or where a comment says so, for what comes out of a table: ROTA_EINVAL from rota_then, rota_both.
Whether a code is really returned, returned.py sees while the tests run.
"""
import re
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
HEADING = re.compile(r"^/\* -- .* -+ \*/$", re.MULTILINE)
# A function or table of a file that clang-format has seen, with the comment directly above it.
UNIT = re.compile(r"(?P<above>^/\*(?:(?!\*/).)*\*/\n)?^(?P<head>[A-Za-z_][^;{}#]*?)\s*\{\n"
                  r"(?P<body>.*?)^\}", re.DOTALL | re.MULTILINE)
# TEST(name), TEST_WITH(fixture, name), WORKER_TEST(name), CONTRACT(needs, name), EXPLORE(name)
NAME = re.compile(r"^(?:EXPLORE\w*|CONTRACT|\w*TEST|TEST_WITH)\((?:.*, )?(?P<test>\w+)\)$"
                  r"|(?P<table>\w+)(?:\[\w*\])* =$|(?P<function>\w+)\(")
CITATION = re.compile(r"\b([A-Z][A-Z0-9]*)-(\d\d)(?: to \1-(\d\d))?\b")
HOST_COMMENT = re.compile(r"#.*")
HOST_CASE = re.compile(r"^(?P<above>(?:#.*\n)*)case_(?P<name>\w+)\(\) \{", re.MULTILINE)
HOST_CASES = re.compile(r"^cases=\(([^)]*)\)", re.MULTILINE)
CALL = re.compile(r"\b(rota_\w+)\(")
COMPARED = re.compile(r"\s*(?:,|==)\s*ROTA_(E[A-Z]+)\b")
CLAIM = re.compile(r"ROTA_(E[A-Z]+)\s+from[\s*]+(rota_\w+(?:,[\s*]+rota_\w+)*)")
STATUS_CALL = re.compile(r"^(?:static inline )?int (rota_[a-z]\w*)\(", re.MULTILINE)


# -- What the tests say --------------------------------------------------------------------------

def after_call(code, start):
    """Where the call ends whose opening parenthesis is at start."""
    depth = 0
    for match in re.finditer(r"[()]", code[start:]):
        depth += 1 if match[0] == "(" else -1
        if depth == 0:
            return start + match.end()
    return len(code)


def cited(comment):
    for family, first, last in CITATION.findall(comment):
        for number in range(int(first), int(last or first) + 1):
            yield f"{family}-{number:02}"


class Unit:
    """A function or a table: what it uses, cites and compares."""

    def __init__(self, match, heading):
        name = NAME.search(" ".join(match["head"].split()))
        self.name = name and name[name.lastgroup]
        self.is_table = bool(name and name["table"])
        self.is_test = bool(name and name["test"])
        code = COMMENT.sub(" ", match["body"])
        self.uses = set(re.findall(r"\w+", code))
        self.clauses, self.proofs = set(), set()
        for comment in COMMENT.findall(heading + (match["above"] or "") + match["body"]):
            self.read_comment(comment)
        for call in CALL.finditer(code):
            compared = COMPARED.match(code, after_call(code, call.end() - 1))
            if compared:
                self.proofs.add((call[1], compared[1]))

    def read_comment(self, comment):
        self.clauses.update(cited(comment))
        for code, calls in CLAIM.findall(comment):
            self.proofs.update((call, code) for call in re.findall(r"rota_\w+", calls))


def read_units(text):
    """The functions and tables of a file, by name."""
    headings = [(match.start(), match[0]) for match in HEADING.finditer(text)]
    units = {}
    for match in UNIT.finditer(text):
        above = [heading for start, heading in headings if start < match.start("head")]
        unit = Unit(match, above[-1] if above else "")
        units[unit.name] = unit
    return units


def used_by(units, name):
    """The unit of that name, and all of its file that it uses."""
    found, ahead = set(), {name}
    while ahead:
        found |= ahead
        ahead = set().union(*(units[name].uses for name in ahead)) & units.keys() - found
    return [units[name] for name in found]


def read_tests(text):
    """The tests of a file: name, clauses and proofs of each, with those of all that it uses."""
    units = read_units(text)
    run_by_main = units["main"].uses if "main" in units else set()
    for name, unit in units.items():
        if unit.is_test or name in run_by_main and not unit.is_table:
            parts = used_by(units, name)
            yield (name, set().union(*(part.clauses for part in parts)),
                   set().union(*(part.proofs for part in parts)))


def read_cases(text):
    """The cases that tests/host/run runs, as read_tests gives tests."""
    run = HOST_CASES.search(text)[1].split()
    for match in HOST_CASE.finditer(text):
        name = match["name"].replace("_", "-")
        if name in run:
            yield name, set(cited(match["above"])), set()


# -- The lists, and both together ----------------------------------------------------------------

def read_list(path):
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line and not line.startswith("#"):
            yield line.split(None, 1)


def named(codes):
    """Without the marks that errors.txt explains."""
    return [code for code in codes if code not in ("-", "...")]


class Conformance:
    def __init__(self, root):
        self.root = Path(root)
        lists = self.root / "tests/conformance"
        self.clauses = dict(read_list(lists / "clauses.txt"))
        self.errors = {call: codes.split() for call, codes in read_list(lists / "errors.txt")}
        self.clause_tests, self.code_tests = defaultdict(list), defaultdict(list)
        self.host = self.root / "tests/host/run"
        for path in sorted((self.root / "tests").rglob("*.c")):
            self.add(path, read_tests)
        self.add(self.host, read_cases)

    def add(self, path, tests_of):
        file = path.relative_to(self.root / "tests").as_posix()
        for test, clauses, proofs in tests_of(path.read_text(encoding="utf-8")):
            for clause in clauses:
                self.clause_tests[clause].append((file, test))
            for proof in proofs:
                self.code_tests[proof].append((file, test))

    def is_offered(self, clause):
        return not self.clauses[clause].startswith("not offered:")

    def complaints(self):
        return [*self.of_clauses(), *self.of_citations(), *self.of_calls(), *self.of_codes()]

    def of_clauses(self):
        for clause, what in self.clauses.items():
            if self.is_offered(clause) and not self.clause_tests[clause]:
                yield f"{clause} has no test: {what}"

    def of_citations(self):
        sources = [path for folder in ("include", "src", "tests")
                   for path in (self.root / folder).rglob("*.[ch]")]
        comments = {path: COMMENT for path in sorted(sources)} | {self.host: HOST_COMMENT}
        for path, comment in comments.items():
            texts = comment.findall(path.read_text(encoding="utf-8"))
            clauses = {clause for text in texts for clause in cited(text)}
            for clause in sorted(clauses - self.clauses.keys()):
                file = path.relative_to(self.root).as_posix()
                yield f"{file}: cites {clause}, which is not in clauses.txt"

    def of_calls(self):
        headers = [path.read_text(encoding="utf-8")
                   for path in (self.root / "include/rota").glob("*.h")]
        public = set(STATUS_CALL.findall(COMMENT.sub("", "\n".join(headers))))
        for call in sorted(public - self.errors.keys()):
            yield f"{call} is not in errors.txt"
        for call in sorted(self.errors.keys() - public):
            yield f"errors.txt: {call} is not in the headers"

    def of_codes(self):
        for call, codes in self.errors.items():
            for code in named(codes):
                if not self.code_tests[call, code]:
                    yield f"no test sees ROTA_{code} from {call}"
        for (call, code), tests in sorted(self.code_tests.items()):
            if not {code, "-", "..."} & set(self.errors.get(call, "-")):
                file, test = tests[0]
                yield f"{file}: {test} sees ROTA_{code} from {call}, which is not in errors.txt"


# -- The report ----------------------------------------------------------------------------------

def show(conformance):
    for clause, what in conformance.clauses.items():
        print(f"{clause:<10}{what}")
        for file, test in conformance.clause_tests[clause]:
            print(f"    {file}: {test}")
    for call, codes in conformance.errors.items():
        for code in named(codes):
            print(f"\n{call}: ROTA_{code}")
            for file, test in conformance.code_tests[call, code]:
                print(f"    {file}: {test}")


def files_of(tests):
    """Links that are named as CTest names the tests, if they lie in a file docs/x.md."""
    files = sorted({file for file, _ in tests})
    names = [re.sub(r"/(?:test_)?(\w+)(?:\.c)?$", r".\1", file) for file in files]
    return ", ".join(f"[{name}](../tests/{file})" for name, file in zip(names, files))


def show_markdown(conformance):
    family = None
    for clause, what in conformance.clauses.items():
        if clause.split("-")[0] != family:
            family = clause.split("-")[0]
            print(f"\n## {family}\n\n| clause | what | tests |\n|---|---|---|")
        print(f"| {clause} | {what} | {files_of(conformance.clause_tests[clause])} |")
    print("\n## Error codes\n\n| call | code | tests |\n|---|---|---|")
    for call, codes in conformance.errors.items():
        for code in named(codes):
            print(f"| `{call}` | `ROTA_{code}` | {files_of(conformance.code_tests[call, code])} |")


def check(conformance):
    complaints = conformance.complaints()
    print("\n".join(complaints), end="\n" if complaints else "")
    offered = [clause for clause in conformance.clauses if conformance.is_offered(clause)]
    codes = sum(len(named(codes)) for codes in conformance.errors.values())
    print(f"{len(offered)} clauses of {len(conformance.clauses)} are offered, "
          f"{len(conformance.errors)} calls have {codes} error codes; {len(complaints)} complaints")
    return len(complaints)


# -- The self-test -------------------------------------------------------------------------------

CLEAN = {
    "include/rota/a.h": "/* int rota_old(void); */\nint rota_a(int n);\nint rota_b(void);\n"
                        "int rota_code(void);\nvoid rota_c(void);\n",
    "tests/conformance/clauses.txt": "# comment\nA-01 one\nA-02 two\nA-03 three\nA-04 four\n"
                                     "A-05 five\nA-06 not offered: six\nA-07 seven\nA-08 eight\nA-10 ten\n",
    "tests/conformance/errors.txt": "rota_a EINVAL EBUSY\nrota_b EFULL ...\nrota_code -\n",
    "tests/a/test_a.c": "/* A-07: the head of a file is no test */\n\n"
                        "/* -- Helpers: A-06, A-05 --- */\n\n/* -- Others --- */\n\n"
                        "/* A-01 */\nvoid help(void)\n{\n    call(A); /* A-02, UTF-8 */\n}\n\n"
                        "/* A-03 to A-04, ROTA_EFULL from\n * rota_c, rota_b. */\n"
                        "static const int table[] = {\n    1,\n};\n\n"
                        "static void one(void)\n{\n    help(table[0]);\n"
                        "    check(rota_a(f(1, (2))) == ROTA_EINVAL);\n"
                        "    check(rota_code() == ROTA_EINVAL);\n}\n\n"
                        "int main(void)\n{\n    run(one);\n}\n",
    "tests/b.c": "/* -- Last: A-05 --- */\n\n"
                 "EXPLORE(two)\n{\n    assert_status(rota_a(1),\n  ROTA_EBUSY);\n}\n",
    "tests/c.c": "/* A-08 */\nTEST(three)\n{\n}\n\n/* A-10 */\nCONTRACT(X | Y,\n    four)\n{\n}\n",
    "tests/host/run": "cases=(one-cpu\n    idle)\n\n# A-01\n\n"
                      "# A-07: slower,\n# but right.\ncase_one_cpu() { true; }\n\n"
                      "case_idle() {\n    true # A-02\n}\n",
}
PLANTED = [
    ("tests/b.c", "A-05", "A-04", "A-05 has no test: five"),
    ("tests/b.c", "A-05 ", "A-05, A-09 ", "tests/b.c: cites A-09, which is not in clauses.txt"),
    ("tests/b.c", "A-05 ", "A-05, TP8-36 ", "tests/b.c: cites TP8-36, which"),
    ("tests/a/test_a.c", "to A-04", "to A-09", "tests/a/test_a.c: cites A-09, which"),
    ("include/rota/a.h", "int rota_old", "A-09: int rota_old", "include/rota/a.h: cites A-09, which"),
    ("tests/host/run", "A-02", "A-09", "tests/host/run: cites A-09, which"),
    ("tests/host/run", "# A-07", "# A-01", "A-07 has no test: seven"),
    ("tests/host/run", "but right.\n", "but right.\n\n", "A-07 has no test: seven"),
    ("tests/host/run", "(one-cpu", "(two-cpus", "A-07 has no test: seven"),
    ("tests/a/test_a.c", "help(table[0])", "help(0)", "A-03 has no test"),
    ("tests/a/test_a.c", "run(one)", "run(two)", "A-01 has no test"),
    ("tests/c.c", "TEST(three)", "int three(void **state)", "A-08 has no test"),
    ("tests/c.c", "CONTRACT", "CONTACT", "A-10 has no test"),
    ("include/rota/a.h", "void rota_c", "int rota_c", "rota_c is not in errors.txt"),
    ("tests/conformance/errors.txt", "rota_a", "rota_d -\nrota_a", "rota_d is not in the headers"),
    ("tests/b.c", "ROTA_EBUSY", "ROTA_OK", "no test sees ROTA_EBUSY from rota_a"),
    ("tests/a/test_a.c", "rota_c, rota_b", "rota_c", "no test sees ROTA_EFULL from rota_b"),
    ("tests/conformance/errors.txt", " EBUSY", "", "two sees ROTA_EBUSY from rota_a, which"),
]


def complaints_of(files):
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            path = Path(root, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return Conformance(root).complaints()


def self_test():
    wrong = [f"wrong alarm: {complaint}" for complaint in complaints_of(CLEAN)]
    for name, old, new, expected in PLANTED:
        complaints = complaints_of({**CLEAN, name: CLEAN[name].replace(old, new)})
        if not any(expected in complaint for complaint in complaints):
            wrong.append(f"missed {new!r} in {name}: got {complaints}")
    print("\n".join(wrong + [f"{len(PLANTED) + 1} cases, {len(wrong)} wrong"]))
    return len(wrong)


def main():
    options = [word for word in sys.argv[1:] if word.startswith("-")]
    roots = [word for word in sys.argv[1:] if not word.startswith("-")]
    actions = {"--markdown": show_markdown, "--check": check}
    if options == ["--self-test"] and not roots:
        sys.exit(1 if self_test() else 0)
    if len(options) > 1 or len(roots) > 1 or not actions.keys() >= set(options):
        sys.exit(__doc__)
    action = actions[options[0]] if options else show
    sys.exit(1 if action(Conformance(roots[0] if roots else Path(__file__).parent.parent)) else 0)


if __name__ == "__main__":
    main()
