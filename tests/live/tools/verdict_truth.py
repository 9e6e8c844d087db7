#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Hold verdicts on mapped pages against a log of the true accesses.

usage: verdict_truth.py VERDICTS.csv LOG [FLUSHES]

VERDICTS.csv is of `lrutape check --verdicts`, LOG of `logged_touch --log`. Only frames that the log has
count, and only verdicts that check is sure of. Prints per kind and word how many were right, how many
there were, the share in percent, and how many of those that are not right nobody could have known:

  old      no access between the end of the last look and the beginning of this one
  young    an access between the beginning of the last look and the end of this one, or since it came
  around   the same: fault-around alone makes young too, so that many are not

FLUSHES are the lines of `lrutape dump --event tlb_flush TAPE`. x86 clears young bits without a flush, and
sets none for a page whose translation a TLB still has. An "old" that the log contradicts could not have been
known if all touches since the last look came before the task's translations were next flushed. By that
rule any touch right behind a look could be excused, so the last line says of "young" verdicts how many
had no other touch.
"""
import bisect
import collections
import csv
import re
import struct
import sys

SWITCH, SHOOTDOWNS = 0, (1, 2, 3)  # enum tlb_flush_reason: task switch; remote, local, of the whole mm
SLACK_NS = 2000000  # the last look began earlier than it ended; a page comes on a list after its fault


def read_log(path):
    touches = collections.defaultdict(list)
    data = open(path, 'rb').read()
    for begin, took, pfn in struct.iter_unpack('<QII', data):
        if pfn:
            touches[pfn].append((begin, begin + took))
    return touches


def read_flushes(path):
    """When all of the workload's translations left the TLB of the CPU that it ran on, sorted.

    A task switch names the task before. Whose translations it flushed is seen by who is the next to be
    named on that CPU.
    """
    line = re.compile(r'(.*)-(\d+) \[(\d+)\] (\d+)\.(\d+): tlb_flush: reason=(\d+) pages=(\d+)')
    rows = [(m[1], int(m[2]), m[3], int(m[4]) * 10**9 + int(m[5]), int(m[6]), int(m[7]) > 1 << 63)
            for m in map(line.match, open(path)) if m]
    workload = min((pid for task, pid, *_ in rows if task == 'logged_touch'), default=None)
    flushes, switched = [], {}
    for _, pid, cpu, ns, reason, everything in rows:
        switch = switched.pop(cpu, None)
        if switch and pid == workload:
            flushes.append(switch)
        if everything and reason == SWITCH:
            switched[cpu] = ns
        elif everything and pid == workload and reason in SHOOTDOWNS:
            flushes.append(ns)
    return sorted(flushes)


def within(touches, after, before):
    """Touches that began after the one and ended before the other."""
    i = bisect.bisect_left(touches, (after, 0))
    while i < len(touches) and touches[i][1] <= before:
        yield touches[i]
        i += 1


def all_before_flush(touches, flushes, since):
    i = bisect.bisect_left(flushes, since)
    return i == len(flushes) or all(touch[1] < flushes[i] for touch in touches)


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


def main(verdicts, log, flushes=None):
    touches = read_log(log)
    flushes = read_flushes(flushes) if flushes else []
    first = min(t[0][0] for t in touches.values())
    last = max(t[-1][1] for t in touches.values())
    count, right, hidden = collections.Counter(), collections.Counter(), collections.Counter()
    unsure = young = young_hidden = 0
    for row in csv.DictReader(open(verdicts, newline='')):
        pfn = int(row['pfn'], 16)
        since, begin, end = (int(row[k]) for k in ('since_ns', 'begin_ns', 'end_ns'))
        if pfn not in touches or since < first or end > last:
            continue
        if row['trust'] != 'sure':
            unsure += 1
            continue
        word, key = row['word'], (row['kind'], row['word'])
        between = list(within(touches[pfn], since, begin)) if word in ('old', 'young') else []
        early = bool(flushes and between) and all_before_flush(between, flushes, since)
        count[key] += 1
        if word == 'old':
            right[key] += not between
            hidden[key] += early
        elif word in ('young', 'around'):
            right[key] += any_overlapping(touches[pfn], since - SLACK_NS, end)
        if word == 'young' and row['look'] == 'again' and between:
            young += 1
            young_hidden += early
    for kind, word in sorted(count):
        if word != 'unknown':
            n, r = count[kind, word], right[kind, word]
            print('%s %s %d %d %.3f %d' % (kind, word, r, n, 100 * r / n, hidden[kind, word]))
    print('unknown %d, not sure %d' % (sum(n for (_, w), n in count.items() if w == 'unknown'), unsure))
    if flushes:
        print('all young: %d %d %.3f' % (young_hidden, young, 100 * young_hidden / max(young, 1)))


main(*sys.argv[1:])
