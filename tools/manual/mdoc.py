# SPDX-License-Identifier: MIT
"""Writes pages in mdoc(7)."""
import re
import textwrap

from manual.comments import Code, Table, lower_first, prose_of, sentences, upper_first
from manual.headers import FUNCTION
from manual.pages import example_of, first_clause, split_parameters

WIDTH = 78
NAME = r"(?:rota|ROTA)_\w+"
SPECIAL = re.compile(rf"(?<!\S)(?P<before>[(\[\"*]*)"
                     rf"(?P<word>`[^`]+`|rota/\w+\.h|{NAME}(?:\.\w+|\([^()]*\))?)(?P<after>\S*)")
DELIMITERS = re.compile(r"[.,;:?!)\]]*")
IDENTIFIER = re.compile(r"\w+")
IN_CODE = {"\\": r"\e", "-": r"\-", "'": r"\(aq", "`": r"\(ga", "^": r"\(ha", "~": r"\(ti"}
MACRO_OF_KIND = {"function": "Fn", "macro": "Dv"}  # Vt for types
LISTED_KINDS = ("function", "struct", "opaque", "type")


# -- Text ----------------------------------------------------------------------------------------

def escape(text):
    text = text.replace("\\", r"\e")
    return rf"\&{text}" if text.startswith((".", "'")) else text


def filled(text):
    return [escape(line) for line in textwrap.wrap(text.strip(), WIDTH, break_on_hyphens=False)]


def quote(argument):
    argument = argument.replace("\\", r"\e").replace('"', r"\(dq")
    return f'"{argument}"' if " " in argument else argument


def escape_code(line):
    line = "".join(IN_CODE.get(character, character) for character in line)
    return rf"\&{line}" if line.startswith(".") else line


def literal(code, *options):
    lines = [escape_code(line) for line in code.expandtabs().split("\n")]
    return [" ".join([".Bd -literal", *options]), *lines, ".Ed"]


def listed(names):
    """`.Fn a , b and c`, as lines."""
    lines = [f".Fn {name} ," for name in names[:-2]] + [f".Fn {name}" for name in names[-2:-1]]
    return lines + (["and"] if len(names) > 1 else []) + [f".Fn {names[-1]}"]


class Writer:
    """Knows what names mean, so that it can mark and link them."""

    def __init__(self, reference, date):
        self.reference, self.date = reference, date
        self.page = None

    # Text with names in it.

    def macro_for(self, word):
        if word.startswith("`"):
            inside = word[1:-1]
            return f".Fa {inside}" if IDENTIFIER.fullmatch(inside) else f".Ql {quote(inside)}"
        if word.startswith("rota/"):
            return f".Xr rota-{word[5:-2]} 7" if self.page and self.page.header.name != word else f".In {word}"
        name, call, arguments = word.partition("(")
        if call:
            return " ".join([f".Fn {name}", *map(quote, filter(None, split_parameters(arguments[:-1])))])
        return self.macro_for_name(word)

    def macro_for_name(self, name):
        kind = self.reference.kind_of(name)
        if kind is None or kind == "enum" and not name.startswith("rota_") or kind == "macro":
            return f".{'Va' if '.' in name else 'Dv'} {name}"
        if self.page is None or name not in self.page.names:
            return f".Xr {name} 3"
        return f".{'Fn' if kind == 'function' else 'Vt'} {name}"

    def macro_line(self, match):
        line = self.macro_for(match["word"])
        if match["before"]:
            line = rf".No \&{match['before']} Ns {line[1:]}"
        after = match["after"]
        if DELIMITERS.fullmatch(after):
            return " ".join([line, *after])
        return f"{line} Ns {quote(escape(after))}"

    def sentence(self, text):
        lines, end = [], 0
        for match in SPECIAL.finditer(text):
            lines += filled(text[end:match.start()]) + [self.macro_line(match)]
            end = match.end()
        return lines + filled(text[end:])

    def text(self, text):
        return [line for sentence in sentences(text) for line in self.sentence(sentence)]

    # Comments.

    def block(self, block):
        if isinstance(block, Code):
            return literal(block.text, "-offset indent")
        if isinstance(block, Table):
            return self.tagged([(self.tag(word), text) for word, text in block.rows])
        return [".Pp", *self.text(block.text)]

    def blocks(self, blocks):
        lines = [line for block in blocks for line in self.block(block)]
        return lines[1:] if lines[:1] == [".Pp"] else lines

    def tag(self, word):
        """How the first column of a table is shown."""
        functions = self.page.functions_of_word(word) if self.page else []
        if functions:
            return " , ".join(f"Fn {name}" for name in functions)
        if self.page and all(part in self.members() for part in word.split(", ")):
            return "Fa " + " , ".join(word.split(", "))
        return f"Sy {quote(word)}"

    def members(self):
        return {name for one in self.page.declarations for name, _ in one.members}

    def tagged(self, rows):
        if not rows:
            return []
        lines = [".Bl -tag -width Ds"]
        for tag, text in rows:
            lines += [f".It {tag}", *self.text(text)]
        return [*lines, ".El"]

    # What stands at declarations.

    def notes_of(self, group):
        rows = []
        for one in group.declarations:
            if one.note and one.kind != "opaque":
                rows.append((f"{MACRO_OF_KIND.get(one.kind, 'Vt') if one.name else 'Dv'} {one.names[0]}", one.note))
            macro = "Dv" if one.kind == "enum" else "Fa"
            rows += [(f"{macro} {name}", note) for name, note in one.members if note]
        return self.tagged(rows)

    def group(self, group):
        lines = self.blocks(group.blocks) + self.notes_of(group)
        if group.notes:
            lines += [".Pp", *self.blocks(group.notes)]
        return lines

    # A page.

    def head(self, name, section, names, summary):
        return [".\\\" SPDX-License-Identifier: MIT", ".\\\" Made from the headers by tools/reference.py.",
                f".Dd {self.date}", f".Dt {name.upper()} {section}",
                f".Os rota {self.reference.version}", ".Sh NAME",
                *(f".Nm {one} ," for one in names[:-1]), f".Nm {names[-1]}", f".Nd {lower_first(summary)}"]

    def library(self):
        return [".Sh LIBRARY", "librota, \\-lrota;", ".Ql pkg-config --cflags --libs rota"]

    def synopsis(self, page):
        lines = [".Sh SYNOPSIS", f".In {page.header.name}"]
        types = [one.code for one in page.declarations if one.kind in ("opaque", "struct", "enum", "type")]
        for one in page.declarations:
            if one.kind == "macro":
                lines.append(f".Fd {quote(one.code).strip(chr(34))}")
        if types:
            lines += literal("\n".join(types))
        for one in page.functions:
            lines += self.prototype(one)
        return lines

    def prototype(self, function):
        parts = FUNCTION.fullmatch(function.code)
        parameters = [f".Fa {quote(one)}" for one in split_parameters(parts["parameters"])]
        return [f".Ft {quote(parts['result'].strip())}", f".Fo {function.name}", *parameters, ".Fc"]

    def description(self, page):
        lines = [".Sh DESCRIPTION", *self.group(page.main), *self.common(page.header)]
        for group in page.groups[:-1]:
            text = self.group(group)
            if text:
                lines += [f".Ss {title_of(group)}", *text]
        return lines

    def common(self, header):
        """Where to find what the head of the header says."""
        if header is self.reference.base or not prose_of(header.blocks):
            return []
        return [".Pp", f".Xr {self.reference.overview_of(header)} 7", "describes the rules for all calls of",
                f".In {header.name} ."]

    def return_values(self, page):
        status = [one for one in page.functions if self.reference.returns_status(one)]
        lengths = [one.name for one in status if self.reference.returns_length(one)]
        plain = [one.name for one in status if one.name not in lengths]
        never = [one.name for one in page.functions
                 if self.reference.errors.codes.get(one.name) == ["-"]]
        lines = self.returned(plain, "ROTA_OK") + self.returned(lengths, "a length")
        lines += [".Pp", *listed(never), "cannot fail."] if never else []
        if status:
            lines += [".Pp", *self.text(self.reference.convention("Failure") or "")]
        if page.functions:
            lines += [".Pp", *self.text(self.reference.convention("NULL") or "")]
        return [".Sh RETURN VALUES", *lines[1:]] if lines else []

    def returned(self, names, what):
        """Names of functions, and what they return if all goes well."""
        if not names:
            return []
        lines = [".Pp", *listed(names), "returns" if len(names) == 1 else "return"]
        lines += self.text(f"{what} or, negative, one of the codes under")
        lines.append(".Sx ERRORS")
        others = [name for name in names if self.reference.errors.has_others(name)]
        if others:
            lines[-1] += " ,"
            lines += self.text(self.reference.errors.and_others + ".")
        else:
            lines[-1] += " ."
        return lines

    def errors(self, page):
        found = self.reference.errors_of(page)
        status = [one.name for one in page.functions if self.reference.returns_status(one)]
        if not found:
            return []
        lines = [".Sh ERRORS", ".Bl -tag -width Ds"]
        for code, functions in found.items():
            lines.append(f".It Bq Dv ROTA_{code}")
            if len(functions) < len(status):
                lines += [*listed(functions)[:-1], f"{listed(functions)[-1]} :"]
            lines += self.text(upper_first(" ".join(self.reference.meaning_of(code, functions, page))))
        return [*lines, ".El"]

    def ownership(self, page):
        lines = self.tagged([(f"Vt {name}", text) for name, text in self.reference.ownership_of(page).items()])
        if self.reference.is_given_structs(page):
            lines += [".Pp"] * bool(lines) + self.text(self.reference.convention("Memory") or "")
        return [".Sh OWNERSHIP", *lines] if lines else []

    def thread_safety(self, page):
        texts = self.reference.thread_safety_of(page)
        return [".Sh THREAD SAFETY", *self.text(" ".join(texts))] if texts else []

    def see_also(self, page):
        names = self.reference.related_to(page)
        overviews = {"rota", self.reference.overview_of(page.header)}
        links = [f"{name} 3" for name in names] + [f"{name} 7" for name in sorted(overviews)]
        return [".Sh SEE ALSO", *(f".Xr {link} ," for link in links[:-1]), f".Xr {links[-1]}"]

    def examples(self, blocks):
        lines = [line for block in blocks for line in self.block(block)]
        return [".Sh EXAMPLES", *lines] if lines else []

    def write_page(self, page):
        self.page = page
        lines = [*self.head(page.name, 3, page.names, page.summary), *self.library(), *self.synopsis(page),
                 *self.description(page), *self.return_values(page),
                 *self.examples(self.reference.examples_of(page)), *self.errors(page),
                 *self.ownership(page), *self.thread_safety(page), *self.see_also(page)]
        self.page = None
        return "\n".join(lines) + "\n"

    # Overviews.

    def list_of_pages(self, header):
        rows = []
        for page in self.reference.pages_of(header):
            names = [one.name for kind in LISTED_KINDS for one in page.declarations if one.kind == kind]
            names = list(dict.fromkeys(names)) or [page.name]
            rows.append((" , ".join(f"Xr {name} 3" for name in names), f"{page.summary}."))
        return [".Sh PAGES", *self.tagged(rows)]

    def write_overview(self, header):
        name, example = self.reference.overview_of(header), example_of(header)
        lines = [*self.head(name, 7, [name], header.title),
                 ".Sh SYNOPSIS", f".In {header.name}", ".Sh DESCRIPTION",
                 *self.blocks([block for block in header.blocks if block is not example])]
        for title, blocks in header.notes:
            lines += [f".Ss {title}", *self.blocks(blocks)]
        lines += self.list_of_pages(header)
        lines += self.examples([example] if example else [])
        return "\n".join([*lines, ".Sh SEE ALSO", ".Xr rota 7"]) + "\n"

    def write_entry(self):
        """rota(7): what all headers have in common, and which there are."""
        reference, base = self.reference, self.reference.base
        of_base, example = example_of(base), example_of(reference.all) or example_of(base)
        others = [(f"Xr {reference.overview_of(one)} 7", f"{one.name}: {one.title}.")
                  for one in reference.headers if one is not base]
        lines = [*self.head("rota", 7, ["rota"], first_clause(reference.all.title)),
                 ".Sh SYNOPSIS", f".In {reference.all.name}", ".Pp",
                 ".Dl cc program.c $(pkg-config --cflags --libs rota)",
                 ".Sh DESCRIPTION", *self.blocks([block for block in base.blocks if block is not of_base]),
                 ".Sh HEADERS", f".In {reference.all.name}", "includes them all.", *self.tagged(others),
                 *self.list_of_pages(base), *self.examples([example] if example else []),
                 ".Sh SEE ALSO", *(f".{link} ," for link, _ in sorted(others))]
        return "\n".join(lines).removesuffix(" ,") + "\n"


def title_of(group):
    if group.is_only_constants:
        return "Constants"
    names = list(dict.fromkeys(one.name for one in group.declarations if one.name))
    return ", ".join(names) if len(names) < 3 else "Types"


def all_pages(reference, date):
    """The text of every page, by its path: links for all names but the first of a page."""
    writer = Writer(reference, date)
    pages = {}
    for page in reference.pages:
        pages[f"man3/{page.name}.3"] = writer.write_page(page)
        for name in page.names[1:]:
            pages[f"man3/{name}.3"] = f".so man3/{page.name}.3\n"
    for header in reference.headers:
        if header is not reference.base:
            pages[f"man7/{reference.overview_of(header)}.7"] = writer.write_overview(header)
    if reference.all and reference.base:
        pages["man7/rota.7"] = writer.write_entry()
    return pages
