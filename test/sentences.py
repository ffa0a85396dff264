#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Prints the sentences of the pages that have more than 30 words, and fails if there are any. Code, links' targets and
headings do not count; a cell of a table and an entry of a list are sentences of their own."""

import pathlib
import re
import sys

most = 30
root = pathlib.Path(__file__).resolve().parent.parent
pages = ["README.md", ".github/*.md", ".packaging/*.md", "examples/*.md", "examples/guide/*.md",
         "examples/drop_in/*.md", "include/colligo/*.md", "include/colligo/decisions/*.md", "benchmarks/*.md",
         "benchmarks/*/README.md", "benchmarks/gallery/[chp]*[ks].md", "benchmarks/model/*.md",
         "benchmarks/model/*/*.md", "test/README.md", "test/faults/README.md"]


def sentences(text):
    text = re.sub(r"^```.*?^```$", "\n\n", text, flags=re.M | re.S)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    text = re.sub(r"^( {4}.*|#+ .*)$", "\n", text, flags=re.M)
    text = re.sub(r"`[^`]*`", "code", text)
    text = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", text)
    blocks = []
    for block in re.split(r"\n\s*\n|\n(?=[-*] |\d+\. |\|)|(?<=\|)\n", text):
        blocks += block.split("|") if block.lstrip().startswith("|") else [block]
    for block in blocks:
        block = re.sub(r"^\s*(?:[-*]|\d+\.) ", "", block)
        yield from re.split(r"(?<=[.?!:;])[\"')*]*\s+", " ".join(block.split()))


def main():
    long, count = [], 0
    for pattern in pages:
        for page in sorted(root.glob(pattern)):
            for sentence in sentences(page.read_text(encoding="utf-8")):
                count += 1
                words = len(re.findall(r"[^\s]*\w[^\s]*", sentence))
                if words > most:
                    long.append(f"{page.relative_to(root)}: {words} words: {sentence}")
    if count < 500:
        long.append(f"only {count} sentences were found")
    if long:
        sys.exit("\n".join(long))
    print(f"{count} sentences, none of more than {most} words")


main()
