#!/usr/bin/env python3
"""tools/compdb.py

Prints compile_commands.json for editors, from what a dry run of make says.
"""
import json
import os
import re
import subprocess

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))


def main():
    dry_run = subprocess.run(["make", "-n", "-B", "all"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    entries = []
    for line in dry_run.stdout.split("\n"):
        match = re.search(r" -c -o (\S+)\.o (\S+\.c)$", line)
        if match:
            entries.append({"directory": ROOT, "command": line, "file": match.group(2)})
    print(json.dumps(entries, indent=1))


if __name__ == "__main__":
    main()
