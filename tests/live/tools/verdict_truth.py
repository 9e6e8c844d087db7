#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Hold verdicts on mapped pages against a log of the true accesses.

usage: verdict_truth.py VERDICTS.csv LOG

VERDICTS.csv is of `lrutape check --verdicts`, LOG of `logged_touch --log`. Only frames that the log has
count, and only verdicts that check is sure of. Prints per kind and word how many there were and
how many were right:

  old      no access between the end of the last look and the beginning of this one
  young    an access between the beginning of the last look and the end of this one, or since it came
  around   the same: fault-around alone makes young too, so that many are not
"""
import bisect
import collections
import csv
import struct
import sys

SLACK_NS = 2000000  # the last look began earlier than it ended; a page comes on a list after its fault


def read_log(path):
    touches = collections.defaultdict(list)
    data = open(path, 'rb').read()
    for begin, took, pfn in struct.iter_unpack('<QII', data):
        if pfn:
            touches[pfn].append((begin, begin + took))
    return touches


def any_within(touches, after, before):
    """A touch that began after the one and ended before the other."""
    i = bisect.bisect_left(touches, (after, 0))
    return i < len(touches) and touches[i][1] <= before


def any_overlapping(touches, after, before):
    """A touch of which any part lies between."""
    i = bisect.bisect_right(touches, (before, 1 << 63))
    while i > 0:
        i -= 1
        if touches[i][1] >= after:
            return True
        if touches[i][0] < after - 10**9:
            return False
    return False


def main(verdicts, log):
    touches = read_log(log)
    first = min(t[0][0] for t in touches.values())
    last = max(t[-1][1] for t in touches.values())
    count, right = collections.Counter(), collections.Counter()
    unsure = 0
    for row in csv.DictReader(open(verdicts, newline='')):
        pfn = int(row['pfn'], 16)
        since, begin, end = (int(row[k]) for k in ('since_ns', 'begin_ns', 'end_ns'))
        if pfn not in touches or since < first or end > last:
            continue
        if row['trust'] != 'sure':
            unsure += 1
            continue
        word, key = row['word'], (row['kind'], row['word'])
        count[key] += 1
        if word == 'old':
            right[key] += not any_within(touches[pfn], since, begin)
        elif word in ('young', 'around'):
            right[key] += any_overlapping(touches[pfn], since - SLACK_NS, end)
    for kind, word in sorted(count):
        if word != 'unknown':
            n, r = count[kind, word], right[kind, word]
            print('%s %s %d %d %.3f' % (kind, word, r, n, 100 * r / n))
    print('unknown %d, not sure %d' % (sum(n for (_, w), n in count.items() if w == 'unknown'), unsure))


main(*sys.argv[1:])
