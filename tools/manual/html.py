# SPDX-License-Identifier: MIT
"""Pages in HTML, made by mandoc of those in mdoc, and an index of them."""
import html
import re
import subprocess
from pathlib import Path

from manual.comments import upper_first

LINK = re.compile(r'href="([^"#:]+)\.html(#[^"]*)?"')
CODE = re.compile(r'(<var class="F[at]">|<pre>)(.*?)(?=</var>|</pre>)', re.S)
NAME = re.compile(r"\b(?:rota|ROTA)_\w+")
MANDOC = ["mandoc", "-Thtml", "-O", "man=%N.%S.html,style=style.css"]
STYLE = Path(__file__).with_name("style.css")
FRAME = """<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="utf-8"/>
  <meta name="viewport" content="width=device-width, initial-scale=1.0"/>
  <link rel="stylesheet" href="style.css"/>
  <title>{title}</title>{more}
</head>
<body>
{body}
</body>
</html>
"""


def target_of(reference, page):
    """`rota_submit.3` is told of in `rota_execute.3`."""
    name = page.removesuffix(".3")
    return f"{reference.page_of[name].name}.3" if name in reference.page_of else page


def point_at_pages(reference, text):
    """Links lead to the page itself, not to one that leads there."""
    return LINK.sub(lambda link: f'href="{target_of(reference, link[1])}.html{link[2] or ""}"', text)


def link_names(reference, page, text):
    """Names in declarations and examples are links, too."""
    def link(name):
        target = reference.page_of.get(name[0])
        is_elsewhere = target and f"{target.name}.3" != page
        return f'<a href="{target.name}.3.html">{name[0]}</a>' if is_elsewhere else name[0]

    return CODE.sub(lambda code: code[1] + NAME.sub(link, code[2]), text)


def way_back(reference, path):
    links = ['<a href="index.html">rota</a>']
    page = reference.page_of.get(path.stem)
    if page:
        overview = reference.overview_of(page.header)
        links.append(f'<a href="{overview}.7.html">{page.header.name}</a>')
    return f"<nav>{' / '.join(links)}</nav>"


def convert(reference, path):
    made = subprocess.run([*MANDOC, str(path)], capture_output=True, text=True, check=True).stdout
    made = made.replace("<html>", '<html lang="en">', 1)
    made = re.sub(r"<body>", f"<body>\n{way_back(reference, path)}", made, count=1)
    return link_names(reference, path.name, point_at_pages(reference, made))


def redirect(name, target):
    return FRAME.format(title=name, more=f'\n  <meta http-equiv="refresh" content="0; url={target}.html"/>',
                        body=f'<p><a href="{target}.html">{name}</a></p>')


# -- The index -----------------------------------------------------------------------------------

def line_of(page, name):
    """What the index says of a name: at least what it is."""
    line = page.line_of(name)
    kind = page.declaration_of(name).kind
    if line:
        return html.escape(upper_first(line))
    if kind == "function":
        return f"<code>{html.escape(' '.join(page.declaration_of(name).code.split()))}</code>"
    return "A macro" if kind == "macro" else "A type" if name.startswith("rota_") else "A constant"


def rows_of(page):
    for name in page.names:
        first = ' class="first"' if name == page.name else ""
        yield (f'<dt{first}><a href="{page.name}.3.html"><code>{name}</code></a></dt>'
               f"<dd{first}>{line_of(page, name)}</dd>")


def part_of(reference, header):
    overview = reference.overview_of(header)
    rows = "\n".join(row for page in reference.pages_of(header) for row in rows_of(page))
    return (f'<section>\n<h2><a href="{overview}.7.html">{header.name}</a></h2>\n'
            f"<p>{html.escape(upper_first(header.title))}.</p>\n<dl class=\"index\">\n{rows}\n</dl>\n</section>")


def index(reference):
    parts = "\n".join(part_of(reference, header) for header in reference.headers)
    head = (f"<h1>rota {reference.version}</h1>\n<p>{html.escape(upper_first(reference.all.title))}.\n"
            'What its headers have in common: <a href="rota.7.html">rota(7)</a>.</p>')
    return FRAME.format(title="rota: the reference", more="", body=f"{head}\n{parts}")


def write_html(reference, man, out):
    """From the pages in man to out."""
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("*.html"):  # there may be fewer than last time
        old.unlink()
    for path in sorted(man.glob("man?/*")):
        page, target = path.name, target_of(reference, path.name)
        made = convert(reference, path) if page == target else redirect(path.stem, target)
        (out / f"{page}.html").write_text(made, encoding="utf-8")
    (out / "index.html").write_text(index(reference), encoding="utf-8")
    (out / "style.css").write_text(STYLE.read_text(encoding="utf-8"), encoding="utf-8")


def broken_links(out):
    for path in sorted(out.glob("*.html")):
        for link in sorted(set(LINK.findall(path.read_text(encoding="utf-8")))):
            if not (out / f"{link[0]}.html").exists():
                yield f"{path.name}: the link to {link[0]} leads nowhere"
