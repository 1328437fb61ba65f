# SPDX-License-Identifier: MIT
"""What the headers and the list of error codes leave unsaid."""
import re
import shutil
import subprocess

from manual.comments import prose_of
from manual.headers import FUNCTION

NAME = re.compile(r"(?<![\w/])(?:rota_[a-z]\w*|rota/\w+\.h)")


def said_of(page):
    """All text that a page has of its own."""
    notes = [note for one in page.declarations for note in [one.note, *(note for _, note in one.members)]]
    return prose_of(page.blocks) + [note for note in notes if note]


def is_documented(group, declaration, name):
    members = [note for member, note in declaration.members if note and name in (member, declaration.name)]
    return bool(group.blocks or group.notes or declaration.note or members)


def of_names(reference):
    for page in reference.pages:
        for group in page.groups:
            for one in group.declarations:
                yield from (f"{page.header.name}: {name} is not documented"
                            for name in one.names if not is_documented(group, one, name))


def of_errors(reference):
    for page in reference.pages:
        for one in page.functions:
            result = FUNCTION.fullmatch(one.code)["result"].strip()
            if result == "int" and one.name not in reference.errors.codes:
                yield f"{page.header.name}: {one.name} is not in errors.txt"
            yield from (f"errors.txt: nothing is said of ROTA_{code}, of {one.name}"
                        for code in reference.errors.of(one.name) or []
                        if not reference.meanings.get(f"ROTA_{code}"))


def of_pages(reference):
    for page in reference.pages:
        yield from (f"{page.header.name}: who owns a {name}? Its typedef has no comment"
                    for name, note in reference.ownership_of(page).items() if not note)
        if page.functions and not reference.thread_safety_of(page):
            yield f"{page.name}: nothing is said of threads"
        if not said_of(page):
            yield f"{page.name}: the page is empty"
        elif not page.summary:
            yield f"{page.name}: no line says what it is about"


def of_conventions(reference):
    return [f"rota/base.h: its conventions do not tell of {word}"
            for word in ("Failure", "NULL", "Memory", "Threads") if not reference.convention(word)]


def of_mentions(reference):
    known = set(reference.page_of) | {header.name for header in reference.headers}
    for header in reference.headers:
        texts = prose_of(header.blocks)
        texts += [text for page in reference.pages_of(header) for text in said_of(page)]
        for name in sorted(set(NAME.findall(" ".join(texts))) - known):
            yield f"{header.name}: there is no {name}"


def complaints(reference):
    found = [complaint for header in reference.headers for complaint in header.complaints]
    for part in (of_names, of_errors, of_pages, of_conventions, of_mentions):
        found += part(reference)
    return list(dict.fromkeys(found))


def lint(man):
    """What mandoc says of the pages; None: there is no mandoc."""
    if shutil.which("mandoc") is None:
        return None
    pages = [path for path in sorted(man.glob("man?/*")) if not path.read_text(encoding="utf-8").startswith(".so ")]
    done = subprocess.run(["mandoc", "-Tlint", "-W", "warning", *pages], capture_output=True, text=True)
    return (done.stdout + done.stderr).splitlines()
