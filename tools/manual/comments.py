# SPDX-License-Identifier: MIT
"""The text of comments: paragraphs, tables of words that are explained, and code.

    A line that begins where the text begins belongs to a paragraph. A word, two blanks or more,
    and text are a row of a table:

    name   what it is, and
           the same row goes on

        code();     is indented by four more
"""
import re
import textwrap
from dataclasses import dataclass

ROW = re.compile(r"(\S(?:.*?\S)?)  +(\S.*)")
SENTENCE_END = re.compile(r"(?<=[.?!])\s+(?=[^\s])")


@dataclass
class Paragraph:
    text: str


@dataclass
class Table:
    rows: list  # of (word, text)


@dataclass
class Code:
    text: str


def plain_text(raw):
    """What stands between the marks of a comment, without what is there for its looks."""
    first, *rest = raw[2:-2].rstrip().split("\n")
    if rest and not first.strip():
        return "\n".join(line[3:] if line.startswith(" * ") else "" for line in rest)
    return (first.strip() + "\n" + textwrap.dedent("\n".join(rest))).strip()


def indent_of(line):
    return len(line) - len(line.lstrip())


def take_code(lines):
    """The indented lines at the front, with empty ones between them."""
    end = 0
    for number, line in enumerate(lines):
        if line.strip() and indent_of(line) < 4:
            break
        if line.strip():
            end = number + 1
    return textwrap.dedent("\n".join(lines[:end])), lines[end:]


def take_table(lines):
    rows = []
    while lines and lines[0].strip():
        row = ROW.fullmatch(lines[0])
        if row:
            rows.append((row[1], row[2]))
        elif indent_of(lines[0]) >= 4:
            rows[-1] = (rows[-1][0], f"{rows[-1][1]} {lines[0].strip()}")
        else:
            break
        lines = lines[1:]
    return rows, lines


def take_paragraph(lines):
    end = 0
    while end < len(lines) and lines[end].strip() and indent_of(lines[end]) < 4:
        end += 1
    return " ".join(line.strip() for line in lines[:end]), lines[end:]


def blocks_of(text):
    """The text as paragraphs, tables and code."""
    blocks, lines = [], text.split("\n")
    while lines:
        if not lines[0].strip():
            lines = lines[1:]
        elif indent_of(lines[0]) >= 4:
            code, lines = take_code(lines)
            blocks.append(Code(code))
        elif ROW.fullmatch(lines[0]):
            rows, lines = take_table(lines)
            blocks.append(Table(rows))
        else:
            paragraph, lines = take_paragraph(lines)
            blocks.append(Paragraph(paragraph))
    return blocks


def sentences(text):
    return SENTENCE_END.split(" ".join(text.split()))


def prose_of(blocks):
    """All sentences of paragraphs and tables."""
    texts = []
    for block in blocks:
        if isinstance(block, Paragraph):
            texts.append(block.text)
        elif isinstance(block, Table):
            texts += [text for _, text in block.rows]
    return [sentence for text in texts for sentence in sentences(text)]


def row_of(blocks, word):
    """What a table says of the word, or None."""
    for block in blocks:
        if isinstance(block, Table):
            for name, text in block.rows:
                if name == word:
                    return text
    return None


def upper_first(text):
    return text[:1].upper() + text[1:]


def lower_first(text):
    """Unless the word is a name or an abbreviation."""
    return text[:1].lower() + text[1:] if text[1:2].islower() or text[1:2] == " " else text
