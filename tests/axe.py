#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""tests/axe.py AXE_JS BROWSER PAGE...: what axe-core finds wrong with a page, in
light and in dark. Chromium runs it within the page and prints what it said."""
import html
import json
import pathlib
import re
import subprocess
import sys

TELL = """axe.run().then(found => {
    document.documentElement.innerHTML = "<body></body>";
    document.body.textContent = "said " + JSON.stringify({
        dark: matchMedia("(prefers-color-scheme: dark)").matches,
        passes: found.passes.length,
        violations: found.violations.map(violation => violation.id + ": " +
            violation.nodes.map(node => node.html).join(" "))}) + " end";
});"""


def judge(axe, browser, page, dark):
    """What axe-core says of a page: a dictionary."""
    probed = pathlib.Path("axe.html").absolute()
    probed.write_text(page.replace(
        "</body>", f"<script>{axe}</script><script>{TELL}</script></body>"))
    dumped = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu",
         f"--blink-settings=preferredColorScheme={0 if dark else 1}",
         "--virtual-time-budget=60000", "--dump-dom", probed.as_uri()],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=180, text=True)
    said = re.search("said (.*) end", html.unescape(dumped.stdout), re.S)
    if not said:
        sys.exit(f"axe-core says nothing: {dumped.stderr[-400:]}")
    return json.loads(said.group(1))


def main():
    axe = pathlib.Path(sys.argv[1]).read_text()
    wrong = []
    for name in sys.argv[3:]:
        page = pathlib.Path(name).read_text()
        for dark in False, True:
            found = judge(axe, sys.argv[2], page, dark)
            assert found["dark"] == dark and found["passes"] > 15, found
            wrong += [f"{name}, {'dark' if dark else 'light'}: {violation}"
                      for violation in found["violations"]]
    print("\n".join(wrong))
    sys.exit(bool(wrong))


main()
