#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The reference: manual pages of all that the public headers declare, made of what they say.

reference.py --man ROOT OUT     writes OUT/man3 and OUT/man7
reference.py --html ROOT OUT    writes the same as OUT/*.html; needs mandoc
reference.py --check ROOT       complains of what has no comment, and of pages that mandoc does not like
reference.py --self-test        plants one mistake of each kind and looks whether it is found

tools/manual/headers.py tells how a header is read, tools/manual/pages.py what becomes a page. Error codes
come from tests/conformance/errors.txt, where each is shown by a test.
"""
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True

from manual import check, html, mdoc  # noqa: E402
from manual.pages import Reference  # noqa: E402


def date_of(root):
    """When a header was changed last, or what whoever builds a package says."""
    newest = max(path.stat().st_mtime for path in (root / "include/rota").glob("*.h"))
    day = time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", newest)))
    return f"{time.strftime('%B', day)} {day.tm_mday}, {day.tm_year}"


def write_man(reference, root, out):
    for folder in ("man3", "man7"):
        shutil.rmtree(out / folder, ignore_errors=True)  # there may be fewer than last time
        (out / folder).mkdir(parents=True)
    for name, text in mdoc.all_pages(reference, date_of(root)).items():
        (out / name).write_text(text, encoding="utf-8")


def write_html(reference, root, out):
    with tempfile.TemporaryDirectory() as man:
        write_man(reference, root, Path(man))
        html.write_html(reference, Path(man), out)


def check_pages(reference, root):
    """What is wrong with what is written."""
    with tempfile.TemporaryDirectory() as name:
        man, out = Path(name, "man"), Path(name, "html")
        write_man(reference, root, man)
        found = check.lint(man)
        if found is None:
            print("There is no mandoc: pages are written, but not looked at.")
            return []
        html.write_html(reference, man, out)
        return found + list(html.broken_links(out))


def check_all(root):
    reference = Reference(root)
    return check.complaints(reference) or check_pages(reference, root)


# -- The self-test -------------------------------------------------------------------------------

CLEAN = {
    "include/rota/rota.h": "/* rota/rota.h - all of it. */\n#include <rota/base.h>\n#include <rota/a.h>\n",
    "include/rota/base.h": """/*
 * rota/base.h - what all need.
 *
 * Failure   A call that fails changes nothing.
 * NULL      It is ROTA_EINVAL.
 * Memory    It is copied.
 * Threads   Any thread.
 */
ROTA_BEGIN

/* What a call returns. */
enum {
    ROTA_OK = 0,      /* all is well   */
    ROTA_EINVAL = -1, /* it is not     */
    ROTA_EBUSY = -2   /* still in use  */
};

ROTA_END
""",
    "include/rota/a.h": """/*
 * rota/a.h - a thing.
 *
 *     rota_thing_new(&thing);
 */
#include <rota/base.h>

ROTA_BEGIN

/* Things. */
typedef struct rota_thing rota_thing; /* yours until rota_thing_free */

/* -- Making -------- */

/*
 * size   how big it is
 */
typedef struct rota_thing_options {
    int size;
    void *reserved[2];
} rota_thing_options;

/* Makes a thing, with `options` or without. */
int rota_thing_new(const rota_thing_options *options, rota_thing **out);
void rota_thing_free(rota_thing *thing); /* NULL is allowed */

enum { ROTA_THINGS = 3 }; /* the most there are */

/* One of them. */
#define ROTA_THING(n) (n)

/* -- The rest: not for programs -------- */

int rota__hidden(void);

ROTA_END
""",
    "tests/conformance/errors.txt": "# ...   and others\nrota_thing_new EINVAL ...\n",
}
PLANTED = [
    ("include/rota/a.h", "; /* the most there are */", ";\nint a;", "not understood: int a;"),
    ("include/rota/a.h", " rota/a.h - a thing.", " a thing.", "no head comment"),
    ("include/rota/a.h", "enum {", "void rota_thing_do(void);\n\nenum {", "rota_thing_do is not documented"),
    ("include/rota/a.h", " /* the most there are */", "", "ROTA_THINGS is not documented"),
    ("include/rota/a.h", "/* One of them. */", "/* -- More --- */", "ROTA_THING is not documented"),
    ("include/rota/a.h", "void rota_thing_free", "int rota_thing_free", "rota_thing_free is not in errors.txt"),
    ("include/rota/a.h", " /* yours until rota_thing_free */", "", "who owns a rota_thing?"),
    ("include/rota/a.h", "NULL is allowed", "see rota_think", "there is no rota_think"),
    ("include/rota/a.h", "NULL is allowed", "see rota/b.h", "there is no rota/b.h"),
    ("include/rota/a.h", "/* Things. */\n", "", "rota_thing: no line says what it is about"),
    ("include/rota/base.h", " * Threads   Any thread.\n", "", "rota_thing_new: nothing is said of threads"),
    ("include/rota/base.h", " * Memory    It is copied.\n", "", "do not tell of Memory"),
    ("tests/conformance/errors.txt", "EINVAL", "EFULL", "nothing is said of ROTA_EFULL"),
    ("tests/conformance/errors.txt", "rota_thing_new", "rota_thing_old", "rota_thing_new is not in errors.txt"),
]


def complaints_of(files):
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            path = Path(root, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return check_all(Path(root))


def finds_broken_links():
    with tempfile.TemporaryDirectory() as out:
        Path(out, "a.3.html").write_text('<a href="a.3.html#NAME">a</a> <a href="b.3.html">b</a>')
        return list(html.broken_links(Path(out))) == ["a.3.html: the link to b.3 leads nowhere"]


def self_test():
    wrong = [f"wrong alarm: {complaint}" for complaint in complaints_of(CLEAN)]
    wrong += [] if finds_broken_links() else ["a broken link was missed"]
    for name, old, new, expected in PLANTED:
        planted = CLEAN[name].replace(old, new)
        found = complaints_of({**CLEAN, name: planted})
        if planted == CLEAN[name] or not any(expected in complaint for complaint in found):
            wrong.append(f"planted: {expected}; found: {found}")
    return wrong


def main():
    words = sys.argv[1:]
    if words == ["--self-test"]:
        complaints = self_test()
    elif words[:1] == ["--check"] and len(words) == 2:
        complaints = check_all(Path(words[1]))
    elif words[:1] in (["--man"], ["--html"]) and len(words) == 3:
        if words[0] == "--html" and shutil.which("mandoc") is None:
            sys.exit("reference.py: there is no mandoc, which is Debian's package of that name")
        root, complaints = Path(words[1]), []
        write = write_man if words[0] == "--man" else write_html
        write(Reference(root), root, Path(words[2]))
    else:
        sys.exit(__doc__)
    print("\n".join(complaints), end="\n" if complaints else "")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
