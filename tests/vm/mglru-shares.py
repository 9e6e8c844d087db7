#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Of a recording under MGLRU by guest-mglru.sh: KIND, equal, decided, percent.

usage: mglru-shares.py LRUTAPE TAPE
"""
import collections
import json
import subprocess
import sys

KINDS = {
    "isolate_request": "types",
    "victim": "victims",
    "isolate_figures": "isolations",
    "generation_size": "snapshots",
    "tier_counters": "snapshots",
}


def main():
    lrutape, tape = sys.argv[1:]
    said = subprocess.run([lrutape, "check", "--json", tape], stdout=subprocess.PIPE, check=True)
    rows = json.loads(said.stdout)["decisions"]
    equal, decided = collections.Counter(), collections.Counter()
    # An earlier class leaves its groups behind, with nothing in them.
    busy = {row["memcg"] for row in rows if row["decision"] == "victim"}
    # Reclaim from everybody stands with the root, what it does to the groups with them.
    everybody = ("/all",) if "/" in busy else ()
    for row in rows:
        kind, memcg = KINDS.get(row["decision"]), row["memcg"]
        if everybody:
            counts = memcg == "/" or memcg.startswith(everybody)
        else:
            counts = memcg in busy and memcg.startswith(("/lrutape-", "/two"))
        if kind and counts:
            equal[kind] += row["equal"]
            decided[kind] += row["decided"]
    for kind, nr in decided.items():
        print(kind, equal[kind], nr, "%.3f" % (100 * equal[kind] / nr))


main()
