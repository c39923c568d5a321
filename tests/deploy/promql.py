"""Which metrics a PromQL expression reads, and with which label values: enough of the language for
our own rules and dashboard. What it does not understand it reports as a metric, so that a gap in
this reader fails a test instead of hiding a name."""

import re
from typing import NamedTuple

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"' r"|'(?:[^'\\]|\\.)*'")
_LISTS = re.compile(r"\b(by|without|on|ignoring|group_left|group_right)\s*(\([^)]*\))?")
_KEYWORDS = {"and", "or", "unless", "bool", "offset", "inf", "nan", "atan2"}
_NAME = re.compile(r"(?<![\w:.$])[a-zA-Z_:][\w:]*")
_LABEL = re.compile(r'(\w+)\s*(=~|!~|!=|=)\s*(".*?"|\'.*?\')')


class Selector(NamedTuple):
    metric: str
    equal: dict  # Label -> value, of the `=` matchers.
    labels: set  # Every label that is named.


def selectors(expression: str) -> list[Selector]:
    strings = {}

    def hide(match):
        strings[f'"{len(strings)}"'] = match.group()
        return f'"{len(strings) - 1}"'

    text = re.sub(r"#.*", "", _STRING.sub(hide, expression))
    text = re.sub(r"\[[^\]]*\]", "", text)  # Ranges.
    text = _LISTS.sub(" ", text)
    found = []
    for match in _NAME.finditer(re.sub(r"\{[^}]*\}", lambda m: " " * len(m.group()), text)):
        rest = text[match.end():].lstrip()
        if rest.startswith("(") or match.group().lower() in _KEYWORDS:
            continue
        inside = re.match(r"\{([^}]*)\}", rest)
        matchers = _LABEL.findall(inside.group(1)) if inside else []
        found.append(Selector(match.group(),
                              {label: strings[value][1:-1] for label, how, value in matchers
                               if how == "="},
                              {label for label, _, _ in matchers}))
    return found


def exposed(text: str) -> dict[str, list[dict]]:
    """Metric -> the labels of each of its samples, of a /metrics page."""
    samples = {}
    for line in text.splitlines():
        match = re.match(r"([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+\S+", line)
        if match and not line.startswith("#"):
            labels = dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', match.group(2) or ""))
            samples.setdefault(match.group(1), []).append(labels)
    return samples
