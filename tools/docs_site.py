"""tools/docs_site.py: what mkdocs does differently for our pages (a hook that mkdocs.yml names).

README.md is the site's first page, so it is written once.  Links that lead out of docs/ to files of the
source tree are shown as their names, since the site has no such files.
"""
import os
import re

from mkdocs.structure.files import File

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))


def on_files(files, config):
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as source:
        text = source.read().replace("](docs/", "](").replace('="docs/', '="')
    files.append(File.generated(config, "index.md", content=text))
    return files


def on_page_markdown(markdown, page, config, files):
    docs = os.path.join(ROOT, "docs")
    here = os.path.dirname(os.path.join(docs, page.file.src_uri))

    def keep(match):
        target = match.group(2).split("#")[0]
        if not target or ":" in target:
            return match.group(0)
        path = os.path.normpath(os.path.join(here, target))
        return match.group(0) if (path + os.sep).startswith(docs + os.sep) and os.path.isfile(path) else match.group(1)

    return re.sub(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)", keep, markdown)
