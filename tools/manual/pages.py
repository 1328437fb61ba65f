# SPDX-License-Identifier: MIT
"""Which pages there are, and what each has to say: headers and the list of error codes, put together.

A page is a group of functions that share a comment, with the types and constants that stand before it in
its section and that only it needs to be understood. Types that no such function takes have their own.
"""
import re
from dataclasses import dataclass

from manual.comments import Code, Paragraph, Table, prose_of, row_of
from manual.headers import FUNCTION, read_header

CLAUSE_END = re.compile(r"[.:;](?:\s|$)")
WAITS = {"EINTERRUPTED", "ETIMEDOUT", "EDEADLOCK"}
TEXT_PARAMETERS = re.compile(r"\bchar \*\w+, size_t \w+")
NOT_CALLED = "for the macro alone"
WHEN = r"(?:for|when|while|once|from|if|unless|after)"
OF_THREADS = re.compile(r"\bthreads at once\b")


def first_clause(text):
    return CLAUSE_END.split(text.replace("`", ""))[0].strip()


def split_parameters(text):
    """At the commas outside of parentheses."""
    parts, depth = [""], 0
    for character in " ".join(text.split()):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


@dataclass
class Page:
    header: object
    groups: list  # the types first, what they are for last

    @property
    def main(self):
        return self.groups[-1]

    @property
    def declarations(self):
        return [one for group in self.groups for one in group.declarations]

    @property
    def functions(self):
        return [one for one in self.declarations if one.kind == "function"]

    @property
    def names(self):
        """The one that names the page, then the other functions, types and constants."""
        called = [one.name for one in self.functions if one.note != NOT_CALLED]
        others = [name for one in self.declarations if one.kind != "function" for name in one.names]
        return list(dict.fromkeys(called + others + [one.name for one in self.functions]))

    @property
    def name(self):
        return self.names[0]

    @property
    def summary(self):
        for block in self.main.blocks[:1]:
            if isinstance(block, Paragraph):
                return first_clause(block.text)
        for one in self.declarations:
            if one.note and one.kind != "opaque":
                return first_clause(one.note)
        return ""

    @property
    def words(self):
        return set().union(*(group.words for group in self.groups))

    @property
    def blocks(self):
        return [block for group in self.groups for block in group.blocks + group.notes]

    def declaration_of(self, name):
        return next(one for one in self.declarations if name in one.names)

    def functions_of_word(self, word):
        """Those of the page that a word in one of its tables stands for."""
        word = word.replace("-", "").lower()
        names = [one.name for one in self.functions]
        return ([name for name in names if name == f"rota_{word}"]
                or [name for name in names if name.endswith(f"_{word}")]
                or [name for name in names if f"_{word}_" in name])

    def line_of(self, name):
        """What the index says of a name; nothing if it is no more than of the page."""
        if name == self.name:
            return self.summary
        declaration = self.declaration_of(name)
        notes = dict(declaration.members) if declaration.kind == "enum" else {name: declaration.note}
        return first_clause(notes.get(name) or self.row_for(name))

    def row_for(self, name):
        for block in self.main.blocks:
            for word, text in block.rows if isinstance(block, Table) else []:
                if name in self.functions_of_word(word):
                    return text
        return ""


def pages_of_section(header, groups):
    waiting = []
    for group in groups:
        if not group.of_kind("function"):
            waiting.append(group)
            continue
        needed, words = [], group.taken
        for earlier in reversed(waiting):
            if earlier.is_only_constants or words & set(earlier.names):
                needed.insert(0, earlier)
                words |= earlier.taken
        yield from (Page(header, [alone]) for alone in waiting if alone not in needed)
        yield Page(header, [*needed, group])
        waiting = []
    yield from (Page(header, [alone]) for alone in waiting)


# -- Error codes ---------------------------------------------------------------------------------

class Errors:
    """tests/conformance/errors.txt: the codes of every call, without the ROTA_."""

    def __init__(self, path):
        lines = [line.split() for line in path.read_text(encoding="utf-8").split("\n")]
        self.codes = {words[0]: words[1:] for words in lines if words and words[0] != "#"}
        legend = [line for line in lines if line[:2] == ["#", "..."]]
        self.and_others = " ".join(legend[0][2:]) if legend else ""

    def of(self, function):
        """None: it is not there."""
        codes = self.codes.get(function)
        return None if codes is None else [code for code in codes if code not in ("-", "...")]

    def has_others(self, function):
        return "..." in self.codes.get(function, [])


# -- All of it -----------------------------------------------------------------------------------

def occasions(code, prose):
    """`ROTA_EBUSY while a thread waits in it.` is one for EBUSY."""
    pattern = re.compile(rf"ROTA_{code} ({WHEN}\b.*?)(?:,? (?:and )?ROTA_E[A-Z]+\b.*|[.;:](?:\s.*)?)$")
    for sentence in prose:
        found = pattern.search(sentence)
        if found:
            yield f"Here: {found[1]}."


def in_order_of_need(headers):
    """What is included comes before what includes it."""
    included = {one.name: one.includes for one in headers}

    def depth(name):
        return 1 + max((depth(one) for one in included.get(name, [])), default=0)

    return sorted(headers, key=lambda one: (depth(one.name), one.name))


class Reference:
    def __init__(self, root):
        paths = sorted((root / "include/rota").glob("*.h"))
        headers = [read_header(path) for path in paths]
        self.all = next((one for one in headers if one.stem == "rota"), None)
        self.base = next((one for one in headers if one.stem == "base"), None)
        self.headers = in_order_of_need([one for one in headers if one is not self.all])
        self.errors = Errors(root / "tests/conformance/errors.txt")
        self.pages = [page for header in self.headers for section in header.sections
                      for page in pages_of_section(header, section)]
        self.page_of = {name: page for page in self.pages for name in page.names}
        self.structs = {one.name: one for one in self.declarations if one.kind == "struct"}
        self.owned = {one.name: one.note for one in self.declarations if one.kind == "opaque"}
        self.meanings = self.read_meanings()

    @property
    def declarations(self):
        return [one for page in self.pages for one in page.declarations]

    def pages_of(self, header):
        return [page for page in self.pages if page.header is header]

    def kind_of(self, name):
        page = self.page_of.get(name)
        return page and page.declaration_of(name).kind

    def overview_of(self, header):
        return "rota" if header is self.base else f"rota-{header.stem}"

    @property
    def version(self):
        values = {one.name: one.code.split()[-1] for one in self.declarations if one.kind == "macro"}
        return ".".join(values.get(f"ROTA_VERSION_{part}", "0") for part in ("MAJOR", "MINOR", "PATCH"))

    def convention(self, word):
        return self.base and row_of(self.base.blocks, word)

    # What each code means, and what the header of the codes says about it besides.

    def read_meanings(self):
        page = self.page_of.get("ROTA_OK")
        return dict(page.declaration_of("ROTA_OK").members) if page else {}

    def note_on_waiting(self, code):
        page = self.page_of.get("ROTA_OK")
        texts = [block.text for block in page.main.notes if isinstance(block, Paragraph)] if page else []
        return next((text for text in texts if f"ROTA_{code}" in text), "")

    # What a page says that no one wrote for it alone.

    def returns_status(self, function):
        result = FUNCTION.fullmatch(function.code)["result"].strip()
        return result == "int" and self.errors.codes.get(function.name) != ["-"]

    def returns_length(self, function):
        return self.returns_status(function) and bool(TEXT_PARAMETERS.search(" ".join(function.code.split())))

    def errors_of(self, page):
        """For each code of the page: the functions that return it, in the order of the codes."""
        found = {}
        for function in page.functions:
            for code in self.errors.of(function.name) or []:
                found.setdefault(code, []).append(function.name)
        order = list(self.meanings)
        known = [code for code in found if f"ROTA_{code}" in order]
        return {code: found[code] for code in sorted(known, key=lambda code: order.index(f"ROTA_{code}"))}

    def meaning_of(self, code, functions, page):
        """What it means everywhere, what the page says of it, and what holds for calls that wait."""
        paragraphs = [block for block in page.main.blocks + page.main.notes if isinstance(block, Paragraph)]
        texts = [self.meanings[f"ROTA_{code}"] + ".", *occasions(code, prose_of(paragraphs))]
        if any(WAITS & set(self.errors.of(name)) for name in functions):
            texts.append(self.note_on_waiting(code))
        return [text for text in texts if text]

    def ownership_of(self, page):
        return {name: self.owned[name] for name in sorted(page.words & set(self.owned))}

    def is_given_structs(self, page):
        code = " ".join(one.code for one in page.functions)
        types = set(re.findall(r"const (\w+) \*", code))
        return bool(types & (set(self.structs) | {"char"}))

    def thread_safety_of(self, page):
        if not page.functions:
            return []
        texts = [self.convention("Threads"), row_of(page.header.blocks, "Threads")]
        texts = list(dict.fromkeys(text for text in texts if text))
        return texts + [text for text in prose_of(page.blocks) if OF_THREADS.search(text)]

    def examples_of(self, page):
        code = example_of(page.header)
        is_used = code and any(re.search(rf"\b{one.name}\b", code.text) for one in page.functions)
        return [code] if is_used else []

    def related_to(self, page):
        """Pages of the same header, and those of the types that it uses."""
        types = {name for name in page.words if self.kind_of(name) in ("struct", "opaque", "type", "enum")}
        pages = self.pages_of(page.header) + [self.page_of[name] for name in types]
        return sorted({one.name for one in pages if one.name != page.name}, key=str.lower)


def example_of(header):
    """The code in the head comment that no text leads to."""
    previous = None
    for block in header.blocks:
        if isinstance(block, Code) and not (isinstance(previous, Paragraph) and previous.text.endswith(":")):
            return block
        previous = block
    return None
