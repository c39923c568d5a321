#!/usr/bin/env python3
"""Writes the table of HTML's named character references, from Python's own.

    make_entities.py OUT.inc

The lines are sorted by name, for a binary search: {"amp;", "&"},
"""
import html.entities
import sys


def quoted(text):
    return "".join("\\%03o" % byte for byte in text.encode())


with open(sys.argv[1], "w") as out:
    for name, text in sorted(html.entities.html5.items()):
        out.write('{"%s", "%s"},\n' % (name, quoted(text)))
