#!/usr/bin/env python3
"""tools/dockerfile.py

Takes a Dockerfile apart into shell, for a machine without Docker: what RUN, COPY,
ARG and FROM say is done in directories that stand for images.  tools/package.sh
runs what is printed.

    dockerfile.py Dockerfile PG_MAJOR=17

The shell that reads it has the functions  image STAGE NAME  (a new root in
$STAGES/STAGE, the image NAME in it) and  in_stage STAGE COMMAND; it evaluates
this in a function, which returns 1 at the first step that fails.  Only the
instructions named above are known, and nothing is passed over.
"""
import re
import shlex
import sys


def instructions(path):
    """(name, rest) of each instruction, its lines joined."""
    with open(path, encoding="utf-8") as source:
        text = "".join(line for line in source if not line.startswith("#"))
    for line in re.sub(r"\\\n\s*", " ", text).split("\n"):
        if line.strip():
            yield line.strip().split(None, 1)


def main():
    arguments = dict(one.split("=", 1) for one in sys.argv[2:])
    stage, stages = None, 0

    def value(text):
        return re.sub(r"\$\{(\w+)\}", lambda match: arguments[match.group(1)], text)

    for name, rest in instructions(sys.argv[1]):
        if name == "ARG":
            variable, _, default = rest.partition("=")
            arguments.setdefault(variable, default)
        elif name == "FROM":
            image, _, stage = value(rest).partition(" AS ")
            stages += 1
            stage = stage or "final"
            print("image %s %s || return 1" % (stage, shlex.quote(image)))
        elif name == "RUN":
            print("in_stage %s %s || return 1" % (stage, shlex.quote(value(rest))))
        elif name == "COPY":
            words = value(rest).split()
            if words[0].startswith("--from="):
                source, target = '"$STAGES/%s"%s' % (words[0][len("--from="):], shlex.quote(words[1])), words[2]
            else:
                source, target = '"$CONTEXT"/%s' % shlex.quote(words[0]), words[1]
            print('mkdir -p "$STAGES/%s"%s && cp -a %s/. "$STAGES/%s"%s || return 1' % (stage, target, source, stage, target))
        else:
            sys.exit("error: %s: the instruction %s is not known" % (sys.argv[1], name))
    if not stages:
        sys.exit("error: %s: no FROM" % sys.argv[1])


if __name__ == "__main__":
    main()
