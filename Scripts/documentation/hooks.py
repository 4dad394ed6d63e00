# SPDX-License-Identifier: Apache-2.0
"""Lets MkDocs read the pages as GitHub does."""

import fnmatch
import html
import os
import pathlib
import re
import shutil

MERMAID = os.environ.get("MERMAID", "")
FENCE = re.compile(r"^\s*(```|~~~)")
# Code in a table that contains a bar, which Python-Markdown shows with its backslash.
CODE_WITH_BAR = re.compile(r"`([^`]*\\\|[^`]*)`")


def slug(text, separator="-"):
    """The anchor of a heading on GitHub: in lower case, without punctuation, blanks as dashes."""
    text = re.sub(r"[^\w\- ]", "", text.strip().lower())
    return text.replace(" ", separator)


def on_config(config):
    config.mdx_configs.setdefault("toc", {})["slugify"] = slug
    pages = pathlib.Path(config.docs_dir)
    names = sorted(str(page.relative_to(pages)) for page in pages.rglob("*.md"))
    config.nav = [expanded(item, names) for item in config.nav]
    if MERMAID:
        config.extra_javascript.append("mermaid.min.js")
        config.extra_javascript.append("mermaid-start.js")
    return config


def expanded(item, names):
    """A section of the navigation, its patterns replaced by the files that match."""
    if not isinstance(item, dict):
        return item
    (title, children), = item.items()
    if isinstance(children, str):
        return item
    files = []
    for child in children:
        files += fnmatch.filter(names, child) if "*" in child else [child]
    return {title: files}


def on_page_markdown(markdown, page, config, files):
    lines, fenced, diagram, listed = [], False, False, False
    for line in markdown.splitlines():
        if FENCE.match(line):
            if not fenced and MERMAID and line.strip() == "```mermaid":
                lines.append('<pre class="mermaid">')
                fenced = diagram = True
                continue
            fenced = not fenced
            if diagram and not fenced:
                diagram = False
                lines.append("</pre>")
                continue
        if diagram:
            line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        # A list begins without an empty line before it, which Python-Markdown needs.
        elif not fenced and re.match(r"([-*]|\d+\.) ", line) and lines and re.match(r"[^\s\-*|#>]", lines[-1]) \
                and not re.match(r"\d+\. ", lines[-1]):
            lines.append("")
        if not fenced and line:
            # Python-Markdown wants four spaces for each level of a list.
            indent = len(line) - len(line.lstrip())
            listed = bool(re.match(r"([-*]|\d+\.) ", line)) or listed and indent > 0
            if listed and indent > 1:
                line = " " * (4 * (indent // 2)) + line.lstrip()
            if line.startswith("|"):
                line = CODE_WITH_BAR.sub(code_with_bar, line)
        lines.append(line)
    return "\n".join(lines)


def code_with_bar(code):
    return f"<code>{html.escape(code[1].replace(chr(92) + '|', '|'), quote=False).replace('|', '&#124;')}</code>"


def on_post_build(config):
    if not MERMAID:
        return
    site = pathlib.Path(config.site_dir)
    shutil.copy(MERMAID, site / "mermaid.min.js")
    (site / "mermaid-start.js").write_text("mermaid.initialize({startOnLoad: true, securityLevel: 'strict'});\n")
