# SPDX-License-Identifier: MIT
"""Reads a public header: its head comment, and its declarations in groups that share a comment.

A comment belongs to what follows it up to the next comment. Behind an empty line, what has no comment
of its own joins the group before it, unless that has functions already. A comment with an empty line
after it is a note on the group above, or, if the section has none, on the header.
"""
import re
from dataclasses import dataclass, field

from manual.comments import Paragraph, blocks_of, plain_text

HEAD = re.compile(r"/\*(?: |\n \* )(rota/\w+\.h) - ((?:(?!\*/).)*)\*/\n", re.S)
BANNER = re.compile(r"/\* -- (.*?) -+ \*/")
INTERNAL = "not for programs"
TOKEN = re.compile(r"(?P<blank>\n)|(?P<comment>/\*.*?\*/)[ ]*\n"
                   r"|(?P<macro>\#define[ ](?:[^\n]*\\\n)*[^\n]*)\n|(?P<directive>\#[^\n]*)\n"
                   r"|(?P<marker>ROTA_(?:BEGIN|END))\n", re.S)
INCLUDE = re.compile(r"^#include <(rota/\w+\.h)>", re.M)
COMMENT = re.compile(r"/\*.*?\*/", re.S)
AROUND = {"ROTA_BEGIN", "ROTA_END", "ROTA_BEGIN_C", "ROTA_END_C"}  # stand around declarations in every header
TRAILING = re.compile(r"[ ]*(/\*.*?\*/)?[ ]*\n", re.S)
MACRO = re.compile(r"#define (\w+)(\([^)]*\))?\s*(.*)", re.S)
FUNCTION = re.compile(r"(?P<result>[\w\s]+?[\s*]+)(?P<name>rota_\w+)\((?P<parameters>.*)\);", re.S)
SHAPES = [
    ("opaque", re.compile(r"typedef struct (?P<name>\w+) \w+;")),
    ("struct", re.compile(r"(?:typedef )?struct (?P<name>\w+) \{(?P<body>.*)\}[^}]*;", re.S)),
    ("enum", re.compile(r"(?:typedef )?enum (?P<name>\w*) ?\{(?P<body>.*)\}[^}]*;", re.S)),
    ("type", re.compile(r"typedef [^({]*?(?P<name>rota_\w+)(?:\(.*\))?;", re.S)),
    ("function", FUNCTION),
]


@dataclass
class Declaration:
    kind: str  # function, opaque, struct, enum, type or macro
    name: str  # empty for an enum without one
    code: str  # without comments
    note: str = ""  # the comment behind it
    members: list = field(default_factory=list)  # of (name, comment)

    @property
    def names(self):
        """Every name that a program may use because of it."""
        own = [self.name] if self.name else []
        return own + ([name for name, _ in self.members] if self.kind == "enum" else [])

    @property
    def words(self):
        return set(re.findall(r"\w+", self.code))

    @property
    def taken(self):
        """The words of what it takes: without what a function returns."""
        function = FUNCTION.fullmatch(self.code) if self.kind == "function" else None
        return set(re.findall(r"\w+", function["parameters"])) if function else self.words


@dataclass
class Group:
    section: str
    blocks: list = field(default_factory=list)  # of the comment
    notes: list = field(default_factory=list)  # blocks of the comments after it
    declarations: list = field(default_factory=list)

    def of_kind(self, *kinds):
        return [one for one in self.declarations if one.kind in kinds]

    @property
    def names(self):
        return [name for one in self.declarations for name in one.names]

    @property
    def words(self):
        return set().union(*(one.words for one in self.declarations))

    @property
    def taken(self):
        return set().union(*(one.taken for one in self.declarations))

    @property
    def is_only_constants(self):
        return all(one.kind == "macro" or one.kind == "enum" and not one.name for one in self.declarations)


@dataclass
class Header:
    name: str  # rota/pool.h
    title: str = ""
    blocks: list = field(default_factory=list)
    notes: list = field(default_factory=list)  # of (section, blocks): sections without declarations
    sections: list = field(default_factory=list)  # of lists of groups
    includes: list = field(default_factory=list)  # names of other headers of rota
    complaints: list = field(default_factory=list)

    @property
    def stem(self):
        return self.name.split("/")[1].removesuffix(".h")

    @property
    def groups(self):
        return [group for section in self.sections for group in section]


# -- Declarations --------------------------------------------------------------------------------

def end_of_declaration(text, start):
    """Behind the semicolon that ends it."""
    depth, position = 0, start
    for match in re.compile(r"/\*.*?\*/|[(){};]", re.S).finditer(text, start):
        position = match.end()
        if match[0] in "({":
            depth += 1
        elif match[0] in ")}":
            depth -= 1
        elif match[0] == ";" and depth == 0:
            return position
    return position


def without_comments(code):
    lines = [line.rstrip() for line in COMMENT.sub("", code).split("\n")]
    return "\n".join(line for line in lines if line)


def names_of_member(code):
    """`unsigned a, b` has two, `void (*f)(int)` one, `A = 1` is A."""
    pointer = re.search(r"\(\*(\w+)\)", code)
    if pointer:
        return [pointer[1]]
    parts = code.split("=")[0].split(",")
    return [re.findall(r"\w+", re.sub(r"\[.*?\]", "", part))[-1] for part in parts if part.strip()]


def read_members(body, separator):
    """The fields or constants, each with the comment before or behind it."""
    found, ahead = [], ""
    pattern = rf"(?P<comment>/\*.*?\*/)|(?P<code>[^{separator}/]*[^{separator}/\s][^{separator}/]*)|{separator}"
    is_new_line = True
    for match in re.finditer(pattern, body, re.S):
        if match["comment"] and is_new_line:
            ahead = plain_text(match["comment"])
        elif match["comment"] and found:
            found[-1][1] = plain_text(match["comment"])
        elif match["code"]:
            found.append([match["code"].strip(), ahead])
            ahead = ""
        is_new_line = body[match.end():].lstrip(" ").startswith("\n")
    return [(name, note) for code, note in found for name in names_of_member(code)]


def read_macro(code):
    code, comment = COMMENT.sub("", code), COMMENT.search(code)
    name, parameters, value = MACRO.match(code).groups()
    is_short = not parameters and "\n" not in value
    shown = f"#define {name}{parameters or ''}{' ' + value.strip() if is_short else ''}"
    return Declaration("macro", name, shown.strip(), plain_text(comment[0]) if comment else "")


def read_declaration(code, note):
    """None if it has a shape that is not known."""
    bare = without_comments(code).removeprefix("static inline ")
    for kind, shape in SHAPES:
        match = shape.fullmatch(code.strip() if kind in ("struct", "enum") else bare)
        if match:
            members = []
            if kind in ("struct", "enum"):
                members = read_members(match["body"], ";" if kind == "struct" else ",")
            return Declaration(kind, match["name"], bare, note, members)
    return None


# -- Headers -------------------------------------------------------------------------------------

class Reader:
    """Goes through a header from top to bottom."""

    def __init__(self, text, name):
        self.header, self.text, self.position = Header(name), text, 0
        self.section, self.group, self.comment = "", None, None
        self.is_after_blank = False
        self.header.sections.append([])
        self.header.includes = INCLUDE.findall(text)

    def read(self):
        self.read_head()
        while self.position < len(self.text):
            match = TOKEN.match(self.text, self.position)
            if match is None:
                self.take_declaration()
                continue
            self.position = match.end()
            if match["comment"] and self.take_comment(match["comment"]):
                break
            if match["macro"]:
                self.add(read_macro(match["macro"]))
            if match["marker"]:
                self.end_section(self.section)
            self.is_after_blank = match["blank"] is not None
        return self.header

    def read_head(self):
        head = HEAD.search(self.text)
        if head is None:
            self.header.complaints.append(f"{self.header.name}: no head comment")
            return
        blocks = blocks_of(plain_text(f"/*\n * {head[2]}*/"))
        if isinstance(blocks[0], Paragraph):
            self.header.title = blocks[0].text.rstrip(".")
        self.header.blocks, self.position = blocks[1:], head.end()

    def take_comment(self, raw):
        """True: what follows is not for programs."""
        banner = BANNER.fullmatch(raw)
        if banner:
            self.end_section(banner[1])
            return INTERNAL in banner[1]
        blocks = blocks_of(plain_text(raw))
        if self.text.startswith("\n", self.position):
            self.add_note(blocks)
        else:
            self.comment = blocks
        return False

    def add_note(self, blocks):
        if self.group:
            self.group.notes += blocks
        else:
            self.header.notes.append((self.section, blocks))

    def end_section(self, next_section):
        self.section, self.group = next_section, None
        self.header.sections.append([])

    def take_declaration(self):
        end = end_of_declaration(self.text, self.position)
        trailing = TRAILING.match(self.text, end)
        code = self.text[self.position:end]
        note = plain_text(trailing[1]) if trailing and trailing[1] else ""
        declaration = read_declaration(code, note)
        if declaration is None:
            self.header.complaints.append(f"{self.header.name}: not understood: {code.strip()[:60]}")
        else:
            self.add(declaration)
        self.position = trailing.end() if trailing else max(end, self.position + 1)
        self.is_after_blank = False

    def add(self, declaration):
        if is_private(declaration.name, self.header):
            self.comment = None if declaration.name in AROUND else self.comment
            return
        if self.comment is not None or self.group is None or self.begins_anew():
            self.group = Group(self.section, self.comment or [])
            self.header.sections[-1].append(self.group)
            self.comment = None
        if not set(declaration.names) & set(self.group.names) or declaration.kind == "struct":
            self.group.declarations.append(declaration)

    def begins_anew(self):
        return self.is_after_blank and bool(self.group.of_kind("function"))


def is_private(name, header):
    return name.startswith(("ROTA__", "rota__")) or name in AROUND or name == f"ROTA_{header.stem.upper()}_H"


def read_header(path):
    return Reader(path.read_text(encoding="utf-8"), f"rota/{path.name}").read()
