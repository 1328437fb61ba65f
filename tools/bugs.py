#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Puts the deliberate bugs of tests/explore/bugs.txt into a copy of src/, and has the explorer find each.

bugs.py WORK            builds in WORK, prints the schedules that each bug took, fails if one is not found
bugs.py WORK PLACE...   tries only these
bugs.py --check         only reads: every place is cited, every operator fits
bugs.py --self-test

The copy holds all bugs, each behind a switch: ex_bug(3) is true if `explore --bug` named the third row.
bugs.txt explains places and operators.
"""
import collections
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MOST_SWITCHES = 20
SECONDS = 8  # for each bug, at most

PLACE = r"(?:\w+/)?[a-z]\w*\.[A-Z]\d\d?[a-z]?|[A-Z]{2,}-\d+[a-z]?"
COMMENT = re.compile(r"/\*.*?\*/", re.S)
NOT_CODE = re.compile(r"/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'|^#(?:[^\n]*\\\n)*[^\n]*", re.S | re.M)
ATOMIC = re.compile(r"\brota__(load|store|swap|add|sub|or|cas)_(relaxed|acquire|release|acq_rel)\(")
SWITCH = re.compile(rf"\bROTA__BUG\(\s*({PLACE})\s*,")

Row = collections.namedtuple("Row", "number place operator args scenario")
# `head` is what the statement itself computes: the condition of an if or a loop, else all of it.
Statement = collections.namedtuple("Statement", "begin end kind head body")
# good(text) is what stands in place of text[begin:end].
Edit = collections.namedtuple("Edit", "begin end good")


class Misfit(Exception):
    """A row that does not fit the source."""


# -- Reading C by its brackets ---------------------------------------------------------------------

def blank(text):
    """The same, with spaces for comments, strings and the preprocessor's lines."""
    return NOT_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def closing(code, at):
    depth = 0
    for i in range(at, len(code)):
        depth += (code[i] in "({[") - (code[i] in ")}]")
        if depth == 0:
            return i
    raise Misfit("a bracket is not closed")


def outside_brackets(code, begin, end, pattern):
    """The matches in code[begin:end] that are in no bracket of it."""
    found, at = [], begin
    while at < end:
        here = re.compile(pattern).match(code, at, end)
        if here:
            found.append(here)
        at = here.end() if here else closing(code, at) + 1 if code[at] in "({[" else at + 1
    return found


def parse(code, at, found):
    """Adds the statement at `at`, and those in it, to `found`. Returns where it ends."""
    at = re.compile(r"\s*(?:(?:case\b[^:;]*|[A-Za-z_]\w*)\s*:\s*)*").match(code, at).end()
    if code[at] == "{":
        return parse_block(code, at, found)
    word = re.compile(r"(if|while|for|switch|do)\b\s*").match(code, at)
    if not word:
        end = outside_brackets(code, at, len(code), ";")[0].end()
        found.append(Statement(at, end, "", (at, end - 1), None))
        return end
    kind, inner = word[1], []
    if kind == "do":
        body = word.end(), parse(code, word.end(), inner)
        begin = code.index("(", body[1]) + 1
        head = begin, closing(code, begin - 1)
        end = code.index(";", head[1]) + 1
    else:
        head = word.end() + 1, closing(code, word.end())
        body = head[1] + 1, parse(code, head[1] + 1, inner)
        end = body[1]
        other = re.compile(r"\s*else\b").match(code, end)
        if kind == "if" and other:
            end = parse(code, other.end(), inner)
    if kind == "for":
        parts = [semicolon.start() for semicolon in outside_brackets(code, *head, ";")]
        head = parts[0] + 1, parts[1]
    found.append(Statement(at, end, kind, head, body))
    found.extend(inner)
    return end


def parse_block(code, at, found):
    end = closing(code, at)
    at = re.compile(r"\s*").match(code, at + 1).end()
    while at < end:
        at = re.compile(r"\s*").match(code, parse(code, at, found)).end()
    return end + 1


def statements(code):
    """Those of all functions."""
    found, at = [], 0
    while at < len(code):
        if code[at] == "{" and code[:at].rstrip().endswith(")"):
            at = parse_block(code, at, found)
        else:
            at = closing(code, at) + 1 if code[at] in "({[" else at + 1
    return found


# -- Places ----------------------------------------------------------------------------------------

def statement_of(text, code, parsed, begin, end):
    """The statement that the comment at text[begin:end] belongs to: on a line of its own the next one, else the
    innermost that it stands in or behind. None: it belongs to a function or a declaration."""
    if not text[text.rfind("\n", 0, begin) + 1:begin].strip():
        near = [one for one in parsed if one.begin >= end and not code[end:one.begin].strip()]
        return min(near, default=None)
    near = [one for one in parsed if one.begin < begin
            and (begin < one.end or not code[one.end:begin].strip() and "\n" not in code[one.end:begin])]
    return max(near, default=None)


def citations(text, code, parsed):
    """Each place that a comment cites at a statement, with the statement."""
    for comment in COMMENT.finditer(text):
        places = re.findall(rf"(?<![\w./-])(?:{PLACE})(?!\w)", comment[0])
        cited = statement_of(text, code, parsed, *comment.span()) if places else None
        for place in places if cited else []:
            yield place, cited


# -- Operators: each returns edits -----------------------------------------------------------------

def flat(text):
    """On one line, so that the copy has the source's line numbers."""
    return " ".join(text.split())


class Site(collections.namedtuple("Site", "text code parsed one bug")):
    """A statement `one` of a file, and the condition under which its bug is on."""

    def flat(self, begin, end):
        return flat(self.text[begin:end])

    def choose(self, bad, begin, end):
        return [Edit(begin, end, lambda good: f"({self.bug} ? {bad} : ({good}))")]

    def value(self):
        """The span of what is assigned or returned."""
        begin = outside_brackets(self.code, *self.one.head, r"(?<![=!<>])=(?!=)|\breturn\b")
        if self.one.kind or not begin:
            raise Misfit("it assigns and returns nothing")
        return begin[0].end(), self.one.head[1]

    def expression(self):
        """That of the condition or the value, without ROTA__LIKELY around it."""
        begin, end = self.one.head if self.one.kind else self.value()
        around = re.compile(r"\s*ROTA__(?:UN)?LIKELY\(").match(self.code, begin)
        inner = (around.end(), closing(self.code, around.end() - 1)) if around else (begin, end)
        return inner if around and not self.code[inner[1] + 1:end].strip() else (begin, end)

    def condition(self):
        if self.one.kind:
            return self.one.head
        begin, end = self.value()
        question = outside_brackets(self.code, begin, end, r"\?")
        if not question:
            raise Misfit("it has no condition")
        return begin, question[0].start()

    def operands(self, numbers):
        """The span of the expression, its operator, its operands, and the indices of the numbered ones."""
        begin, end = self.expression()
        ors = outside_brackets(self.code, begin, end, r"\|\|")
        marks = ors or outside_brackets(self.code, begin, end, "&&")
        starts, stops = [begin, *(mark.end() for mark in marks)], [*(mark.start() for mark in marks), end]
        parts = [self.flat(*span) for span in zip(starts, stops)]
        chosen = [int(number) - 1 for number in numbers]
        if not chosen or max(chosen) >= len(parts) or len(chosen) == len(parts):
            raise Misfit(f"it has {len(parts)} operands")
        return (begin, end), " || " if ors else " && ", parts, chosen


def drop(site):
    begin, end, kind = site.one[:3]
    if not kind and re.match(r"(?:const |static |struct )*\w+ \**\w+(?:;| = |\[)", site.code[begin:end]):
        raise Misfit("it is a declaration")
    return [Edit(begin, end, lambda good: f"{{ if (!{site.bug}) {{ {good} }} }}")]


def later(site, count="1"):
    end = site.one.end
    for _ in range(int(count)):
        after = [other for other in site.parsed if other.begin >= end and not site.code[end:other.begin].strip()]
        if not after:
            raise Misfit("fewer statements come after it")
        end = min(after).end
    again = f" if ({site.bug}) {{ {site.flat(*site.one[:2])} }}"
    return drop(site) + [Edit(end, end, lambda good: again)]


def early(site, count="1"):
    begin = site.one.begin
    for _ in range(int(count)):
        before = [other for other in site.parsed if other.end <= begin and not site.code[other.end:begin].strip()]
        if not before:
            raise Misfit("fewer statements come before it")
        begin = min(before).begin
    value, name = site.flat(*site.expression()), "ex_early_" + re.sub(r"\D", "", site.bug)
    first = f"__typeof__({value}) {name} = {site.bug} ? ({value}) : 0; "
    return [Edit(begin, begin, lambda good: first), *site.choose(name, *site.expression())]


def null(site):
    return site.choose("0", *site.value())


def never(site):
    return site.choose(f"((void)({site.flat(*site.condition())}), false)", *site.condition())


def always(site):
    return site.choose(f"((void)({site.flat(*site.condition())}), true)", *site.condition())


def without(site, *numbers):
    span, mark, parts, gone = site.operands(numbers)
    return site.choose(f"({mark.join(part for i, part in enumerate(parts) if i not in gone)})", *span)


def ignore(site, number):
    span, mark, parts, [at] = site.operands([number])
    parts[at] = f"((void)({parts[at]}), {'true' if mark == ' && ' else 'false'})"
    return site.choose(f"({mark.join(parts)})", *span)


def once(site):
    if site.one.kind not in ("for", "while"):
        raise Misfit("it is no loop")
    return [Edit(*site.one.body, lambda good: f" {{ {good} if ({site.bug}) break; }}")]


def atomic(site, fits, order_of, torn=""):
    """For the one atomic operation in the statement of which fits(operation, order) is true."""
    found = [call for call in ATOMIC.finditer(site.code, *site.one.head) if fits(*call.groups())]
    if len(found) != 1:
        raise Misfit(f"it has {len(found)} atomic operations of that kind")
    operation, order = found[0].groups()
    end = closing(site.code, found[0].end() - 1)
    macro = operation.upper() if operation in ("load", "store", "cas") else "MODIFY"
    how = f", EX_{operation.upper()}" if macro == "MODIFY" else ""
    bad = f"EX_{torn}{macro}({site.flat(found[0].end(), end)}{how}, EX_{order_of(order).upper()})"
    return site.choose(bad, found[0].start(), end + 1)


def relaxed(site):
    return atomic(site, lambda _, order: order != "relaxed", lambda order: "relaxed")


def no_acquire(site):
    return atomic(site, lambda _, order: order[:3] == "acq", lambda order: {"acq_rel": "release"}.get(order, "relaxed"))


def no_release(site):
    return atomic(site, lambda _, order: order[-3:] in ("ase", "rel"),
                  lambda order: {"acq_rel": "acquire"}.get(order, "relaxed"))


def torn(site):
    return atomic(site, lambda operation, _: operation not in ("load", "store"), lambda order: order, "TORN_")


OPERATORS = {operator.__name__: operator for operator in (
    drop, later, early, null, never, always, without, ignore, once, relaxed, no_acquire, no_release, torn)}


def switch(text, code, start, bug):
    """For the ROTA__BUG(place, good, bad) at `start`."""
    end = closing(code, code.index("(", start))
    commas = outside_brackets(code, code.index("(", start) + 1, end, ",")
    if len(commas) != 2:
        raise Misfit("ROTA__BUG needs a place and two expressions")
    bad = flat(text[commas[1].end():end])
    return [Edit(start, commas[0].end(), lambda good: f"({bug} ? ({bad}) : ("),
            Edit(commas[1].start(), end + 1, lambda good: "))")]


# -- The copy --------------------------------------------------------------------------------------

def render(text, begin, end, edits):
    """text[begin:end] with all edits, also where one lies in another."""
    written, edits = "", sorted(edits, key=lambda edit: (edit.begin, edit.begin < edit.end, -edit.end))
    while edits:
        outer, *others = edits
        inside = [edit for edit in others if edit.begin < outer.end and edit.end <= outer.end]
        edits = [edit for edit in others if edit.begin >= outer.end]
        if len(inside) + len(edits) < len(others):
            raise Misfit("two bugs overlap")
        written += text[begin:outer.begin] + outer.good(render(text, outer.begin, outer.end, inside))
        begin = outer.end
    return written + text[begin:end]


def read_rows(text):
    lines = [line.split() for line in text.splitlines() if line.strip() and line[0] != "#"]
    return [Row(i, words[0], words[1], words[2:-1], words[-1]) for i, words in enumerate(lines, 1)]


def edits_of(row, sources, cited, switches):
    """By file."""
    bug = f"ex_bug({row.number})"
    if row.operator == "switch":
        if row.place not in switches:
            raise Misfit("there is no ROTA__BUG for it")
        return [(path, switch(*sources[path][:2], start, bug)) for path, start in switches[row.place]]
    if row.operator not in OPERATORS:
        raise Misfit("there is no such operator")
    sites = sorted(cited.get(row.place, ()))
    if len(sites) != 1:
        lines = [f"{path}:{sources[path][0].count(chr(10), 0, one.begin) + 1}" for path, one in sites]
        raise Misfit(f"cited at several statements, tell them apart by a letter: {', '.join(lines)}" if sites
                     else "no comment at a statement cites it")
    path, one = sites[0]
    try:
        return [(path, OPERATORS[row.operator](Site(*sources[path], one, bug), *row.args))]
    except TypeError:
        raise Misfit("the operator has too few or too many numbers") from None


def instrument(files, rows):
    """The files with all bugs in them, and complaints."""
    sources = {path: (text, blank(text), statements(blank(text))) for path, text in files.items()}
    cited, switches = collections.defaultdict(set), collections.defaultdict(list)
    edits, complaints = {path: [] for path in files}, []
    for path, (text, code, parsed) in sources.items():
        for place, one in citations(text, code, parsed):
            cited[place].add((path, one))
        for found in SWITCH.finditer(code):
            switches[found[1]].append((path, found.start()))
    for row in rows:
        try:
            if row.place in (other.place for other in rows[:row.number - 1]):
                raise Misfit("it has two rows")
            for path, more in edits_of(row, sources, cited, switches):
                render(files[path], 0, len(files[path]), edits[path] + more)
                edits[path] += more
        except Misfit as misfit:
            complaints.append(f"{row.place} {row.operator}: {misfit}")
    complaints += [f"{place}: bugs.txt has no such switch" for place in switches
                   if (place, "switch") not in ((row.place, row.operator) for row in rows)]
    if len(switches) > MOST_SWITCHES:
        complaints.append(f"{len(switches)} bugs have a ROTA__BUG; at most {MOST_SWITCHES} may")
    return {path: ("_Bool ex_bug(int number); " if edits[path] else "") + render(text, 0, len(text), edits[path])
            for path, text in files.items()}, complaints


# -- The explorer ----------------------------------------------------------------------------------

def build(work, files, rows):
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(ROOT / "include", work / "tree/include")
    for path, text in files.items():
        copy = work / "tree" / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text)
    names = "".join(f'"{row.place}", ' for row in rows)
    (work / "tree/src/base/ex_bugs.c").write_text(f"const char *const ex_bugs[] = {{{names}0}};\n")
    for command in (["-S", ROOT / "tests/explore", "-B", work / "build", "-G", "Ninja",
                     f"-DCMAKE_C_COMPILER={os.environ.get('CC', 'gcc')}", f"-DROTA_ROOT={work / 'tree'}"],
                    ["--build", work / "build", "--target", "explore"]):
        made = subprocess.run([os.environ.get("CMAKE", "cmake"), *command], capture_output=True, text=True)
        if made.returncode != 0:
            sys.exit(made.stdout + made.stderr)


def explore(work, *words):
    """A scenario "c11:NAME" is explored in C11's memory model."""
    words = [*(["--c11"] if any(word.startswith("c11:") for word in words) else []),
             *(word.removeprefix("c11:") for word in words)]
    made = subprocess.run([work / "build/explore", "--first", *words], capture_output=True, text=True)
    return made.returncode, made.stdout + made.stderr


def find(work, rows):
    # Without a bug the explorer must find nothing, or what follows says nothing.
    for is_c11 in (False, True):
        scenarios = {row.scenario for row in rows if row.scenario.startswith("c11:") == is_c11}
        status, log = explore(work, "--seconds", "0.2", "--exhaust", "0", *scenarios) if scenarios else (0, "")
        if status != 0:
            sys.exit(log)
    missed = 0
    for row in rows:
        status, log = explore(work, "--bug", row.place, "--seconds", str(SECONDS), row.scenario)
        found = re.search(r"^after (\d+) schedules: FOUND in \w+: (.*)", log, re.M)
        print(f"{row.place} {' '.join([row.operator, *row.args])}: {row.scenario}")
        print(f"    {found[1]} schedules: {found[2].replace(f'{work}/tree/', '')}" if found else f"    NOT FOUND\n{log}",
              flush=True)
        missed += not found
    print(f"{len(rows) - missed} of {len(rows)} bugs were found")
    return missed


# -- Self-test -------------------------------------------------------------------------------------

def self_test():
    def made(body, *rows):
        rows = [Row(i, *row) for i, row in enumerate(rows, 1)]
        files, complaints = instrument({"x.c": f"/* x.X1 */\nint f(int a)\n{{\n{body}\n}}\n"}, rows)
        return flat(files["x.c"].split("{", 1)[1].rsplit("}", 1)[0]) if not complaints else complaints[0]

    def row(operator, *args, place="x.X1"):
        return place, operator, list(args), "s"

    assert made("a(); /* x.X1 */\nb();", row("drop")) == "{ if (!ex_bug(1)) { a(); } } /* x.X1 */ b();"
    assert made("a();\n/* Why: x.X1. */\nif (c)\n    b();", row("drop")) \
        == "a(); /* Why: x.X1. */ { if (!ex_bug(1)) { if (c) b(); } }"
    assert made("a(); /* x.X1 */\nif (c) { d(); } else\n e();\nb();", row("later")) \
        == "{ if (!ex_bug(1)) { a(); } } /* x.X1 */ if (c) { d(); } else e(); if (ex_bug(1)) { a(); } b();"
    assert made("a();\nb();\nif (c) /* x.X1 */\n    d();", row("early", "2")) \
        == "__typeof__(c) ex_early_1 = ex_bug(1) ? (c) : 0; a(); b();" \
           " if ((ex_bug(1) ? ex_early_1 : (c))) /* x.X1 */ d();"
    assert made("for (;;) { int b = a == 1; /* x.X1 */ }", row("null")) \
        == "for (;;) { int b =(ex_bug(1) ? 0 : ( a == 1)); /* x.X1 */ }"
    assert made("if (a)\n    b();\nelse if (c(1)) /* x.X1 */\n    d();", row("never")) \
        == "if (a) b(); else if ((ex_bug(1) ? ((void)(c(1)), false) : (c(1)))) /* x.X1 */ d();"
    assert made("return a ? b : c; /* x.X1 */", row("always")) \
        == "return(ex_bug(1) ? ((void)(a), true) : ( a ))? b : c; /* x.X1 */"
    assert made("if (ROTA__LIKELY(a || b && c\n    || d)) /* SCHED-01b */\n    e();", row("without", "2", "3", place="SCHED-01b")) \
        == "if (ROTA__LIKELY((ex_bug(1) ? (a) : (a || b && c || d)))) /* SCHED-01b */ e();"
    assert made("a = b() && c; /* x.X1 */", row("ignore", "1")) \
        == "a =(ex_bug(1) ? (((void)(b()), true) && c) : ( b() && c)); /* x.X1 */"
    assert made("while (a) /* x.X1 */\n    b();", row("once")) == "while (a) { /* x.X1 */ b(); if (ex_bug(1)) break; }"
    assert made("do\n    a();\nwhile (!rota__cas_acq_rel(&b, &c, d)); /* x.X1a */", row("torn", place="x.X1a")) \
        == "do a(); while (!(ex_bug(1) ? EX_TORN_CAS(&b, &c, d, EX_ACQ_REL) : (rota__cas_acq_rel(&b, &c, d)))); /* x.X1a */"
    assert made("rota__add_acq_rel(&b, 1); /* x.X1 */", row("no_acquire")) \
        == "(ex_bug(1) ? EX_MODIFY(&b, 1, EX_ADD, EX_RELEASE) : (rota__add_acq_rel(&b, 1))); /* x.X1 */"
    # Two bugs at one statement.
    assert made("if (a && ROTA__BUG(x.X2, b, c())) /* x.X1 */\n    d();", row("never"), row("switch", place="x.X2")) \
        == "if ((ex_bug(1) ? ((void)(a && ROTA__BUG(x.X2, b, c())), false)" \
           " : (a && (ex_bug(2) ? (c()) : ( b))))) /* x.X1 */ d();"
    # What is refused.
    for body, told, *given in [
            ("a(); /* x.X2 */", "no comment at a statement cites it", row("drop")),
            ("a(); /* x.X1 */\nb(); /* x.X1 */", "cited at several statements", row("drop")),
            ("a(); /* x.X1 */", "it has two rows", row("drop"), row("drop")),
            ("a(); /* x.X1 */", "there is no such operator", row("upset")),
            ("a(); /* x.X1 */", "too few or too many numbers", row("drop", "1")),
            ("int a = 1; /* x.X1 */", "it is a declaration", row("drop")),
            ("a(); /* x.X1 */", "fewer statements come after it", row("later")),
            ("a(); /* x.X1 */", "it assigns and returns nothing", row("null")),
            ("return a; /* x.X1 */", "it has no condition", row("never")),
            ("if (a && b) /* x.X1 */\n    c();", "it has 2 operands", row("without", "3")),
            ("if (a) /* x.X1 */\n    c();", "it is no loop", row("once")),
            ("rota__load_acquire(&a); /* x.X1 */", "it has 0 atomic operations", row("torn")),
            ("a(); /* x.X1 */", "there is no ROTA__BUG for it", row("switch")),
            ("a(ROTA__BUG(x.X1, 1, 2));", "bugs.txt has no such switch"),
            ("".join(f"a(ROTA__BUG(x.X{i}, 1, 2));" for i in range(21)), "21 bugs have a ROTA__BUG",
             *(row("switch", place=f"x.X{i}") for i in range(21)))]:
        assert told in made(body, *given), (told, made(body, *given))


def main(words):
    if words == ["--self-test"]:
        return self_test()
    if not words:
        return __doc__
    rows = read_rows((ROOT / "tests/explore/bugs.txt").read_text())
    files, complaints = instrument({str(path.relative_to(ROOT)): path.read_text()
                                    for path in sorted(ROOT.glob("src/*/*.[ch]"))}, rows)
    if complaints or words == ["--check"]:
        return "\n".join(complaints) or None
    work, wanted = Path(words[0]).absolute(), words[1:]
    build(work, files, rows)
    return find(work, [row for row in rows if not wanted or row.place in wanted])


sys.exit(main(sys.argv[1:]))
