#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Hold a tape against the kernel's own text of the same ring buffer (guest-with-text.sh made it).

usage: tests/vm/compare-text.py LRUTAPE NAME     reads NAME.lrt, NAME.txt, NAME.stats, NAME.own,
       NAME.fields.txt

Event by event of each CPU, in its order: name, pid, time to the microsecond, the five letters of
context. Fields are compared twice: as `lrutape import` reads them from the text, which prints some
in other units and leaves some out; and, where the kernel has the option `fields` (since 6.4), all of
them by name and number. What the recorder's threads did for themselves is in the text only; the
tape says how many of those there were, and no other may be missing. Prints what was compared; exit status 1 if anything differs.
"""
import collections
import json
import os
import re
import subprocess
import sys

SHOWN = 5  # differences of each kind

HEAD = re.compile(r"^ *(?P<comm>.*)-(?P<pid>\d+) +\[(?P<cpu>\d+)\] (?P<context>[^ ]{5}) +"
                  r"(?P<seconds>\d+)\.(?P<micro>\d{6}): (?P<event>\w+): ?(?P<rest>.*)$")
# A name that follows another value; a value may hold blanks, but none here holds blank, name, "=".
FIELD = re.compile(r"(?:^| )(\w+)=")
NUMBER = re.compile(r"^(?:0x[0-9a-f]+ )?\((-?\d+)\)(?: .*)?$")

# include/linux/trace_events.h, enum trace_flag_type, 5.17 to 6.12
IRQS_OFF, NEED_RESCHED, HARDIRQ, SOFTIRQ = 0x01, 0x04, 0x08, 0x10
PREEMPT_RESCHED, NMI, BH_OFF = 0x20, 0x40, 0x80


def context_letters(flags, count):
    """As kernel/trace/trace_output.c prints them, trace_print_lat_fmt(), 5.17 to 6.12."""
    irqs = {(True, True): "D", (True, False): "d", (False, True): "b"}.get(
        (bool(flags & IRQS_OFF), bool(flags & BH_OFF)), ".")
    resched = {(True, True): "N", (True, False): "n", (False, True): "p"}.get(
        (bool(flags & NEED_RESCHED), bool(flags & PREEMPT_RESCHED)), ".")
    if flags & NMI:
        interrupt = "Z" if flags & HARDIRQ else "z"
    elif flags & HARDIRQ:
        interrupt = "H" if flags & SOFTIRQ else "h"
    else:
        interrupt = "s" if flags & SOFTIRQ else "."
    digits = "".join("%x" % part if part else "." for part in (count & 15, count >> 4))
    return irqs + resched + interrupt + digits


def read_text(path):
    """Lists of (event, pid, micro, context, rest) by CPU."""
    cpus = collections.defaultdict(list)
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        for number, line in enumerate(file, 1):
            if line.startswith("#"):
                continue
            match = HEAD.match(line.rstrip("\n"))
            if not match:
                sys.exit("%s:%d: not a line of a trace: %s" % (path, number, line))
            cpus[int(match["cpu"])].append((match["event"], int(match["pid"]),
                                            int(match["seconds"]) * 1000000 + int(match["micro"]),
                                            match["context"], match["rest"]))
    return cpus


def read_tape(lrutape, path):
    """Lists of dump's objects by CPU."""
    cpus = collections.defaultdict(list)
    with subprocess.Popen([lrutape, "dump", "--json", path], stdout=subprocess.PIPE) as dump:
        for line in dump.stdout:
            event = json.loads(line)
            cpus[event["cpu"]].append(event)
    if dump.returncode:
        sys.exit("%s: dump ended with %d" % (path, dump.returncode))
    return cpus


def read_counts(path):
    """Of each CPU its entries and read events, as the kernel counted them."""
    counts = collections.defaultdict(dict)
    with open(path, encoding="ascii") as file:
        for line in file:
            match = re.match(r"^(\d+) ([a-z ]+): +([\d.]+)$", line)
            counts[int(match[1])][match[2]] = match[3]
    return counts


def read_nr_own(lrutape, path):
    """By CPU, how many events of the recorder's own work its tape says it left out."""
    told = subprocess.run([lrutape, "dump", "--blob", "lrutape/recorder", path], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    return {int(cpu): int(own) for cpu, own in re.findall(r"^cpu (\d+) .* own (\d+) ", told, re.M)}


def tape_head(event):
    """As in the text: the kernel rounds to the nearest microsecond."""
    return (event["event"], event["pid"], (event["time_ns"] + 500) // 1000,
            context_letters(event["flags"], event["preempt_count"]))


def own_work(lines, events, own_pids):
    """Places of lines of the recorder's threads that are not on the tape: both read from the end,
    as only the beginning can be on the tape and no more in the text."""
    places, at = set(), len(events) - 1
    for place in range(len(lines) - 1, -1, -1):
        if at >= 0 and lines[place][:4] == tape_head(events[at]):
            at -= 1
        elif lines[place][1] in own_pids:
            places.add(place)
        else:
            at -= 1  # a difference, to be told
    return places


class Differences:
    """Told a few of a kind, counted all."""

    def __init__(self):
        self.total = 0
        self.by_kind = collections.Counter()

    def tell(self, kind, text):
        self.total += 1
        self.by_kind[kind] += 1
        if self.by_kind[kind] <= SHOWN:
            print("    %s: %s" % (kind, text))


def fields_by_name(rest):
    """The text of option `fields`: name=0x10 (16), name=(16), name=text."""
    places = list(FIELD.finditer(rest))
    for place, following in zip(places, places[1:] + [None]):
        text = rest[place.end():following.start() if following else len(rest)]
        number = NUMBER.match(text)
        yield place[1], int(number[1]) if number else text


def same_number(told, ours):
    """The option `fields` prints all integers as signed of their width; the tape knows the sign."""
    if isinstance(told, int) and isinstance(ours, int) and told < 0 <= ours:
        return any(told + (1 << bits) == ours for bits in (8, 16, 32, 64))
    return told == ours


def compare(lrutape, name):
    differences = Differences()
    text = read_text(name + ".txt")
    by_name = read_text(name + ".fields.txt") if os.path.exists(name + ".fields.txt") else None
    release = subprocess.run([lrutape, "dump", "--blob", "lrutape/release", name + ".lrt"], check=True,
                             stdout=subprocess.PIPE, text=True).stdout
    # The release says which bits a name of the text stands for.
    subprocess.run([lrutape, "import", "--from", "ftrace-text", "--release", release, "-o",
                    name + ".import.lrt", name + ".txt"], check=True, stdout=subprocess.DEVNULL)
    imported = read_tape(lrutape, name + ".import.lrt")
    tape = read_tape(lrutape, name + ".lrt")
    nr_own = read_nr_own(lrutape, name + ".lrt")
    with open(name + ".own", encoding="ascii") as file:
        own_pids = {int(line) for line in file}
    nr_events = nr_from_text = nr_by_name = nr_before = nr_left_out = 0
    absent, kinds = collections.Counter(), set()

    for cpu, counts in sorted(read_counts(name + ".stats").items()):
        before, entries = int(counts["read events"]), int(counts["entries"])
        lines = text[cpu]
        own = own_work(lines, tape[cpu], own_pids)
        before -= nr_own[cpu] - len(own)  # of those read before, these are not on the tape
        events = tape[cpu][max(before, 0):]
        nr_before += before
        nr_left_out += nr_own[cpu]
        if int(counts["overrun"]) or int(counts["dropped events"]):
            differences.tell("CPU %d" % cpu, "the kernel lost events: %s" % counts)
        if before < 0:
            differences.tell("CPU %d" % cpu, "%d lines of the recorder's own are not on the tape, which "
                             "says it left out %d" % (len(own), nr_own[cpu]))
        sizes = [entries, len(lines), len(events) + len(own), len(imported[cpu])]
        if by_name is not None:
            sizes.append(len(by_name[cpu]))
        if len(set(sizes)) != 1:
            differences.tell("CPU %d" % cpu, "numbers of events differ, kernel's count, its text, tape, "
                             "imported text, text by fields: %s" % sizes)
        on_tape = [place for place in range(min(sizes)) if place not in own]
        for event, at in zip(events, on_tape):
            line, read = lines[at], imported[cpu][at]
            nr_events += 1
            kinds.add(event["event"])
            head = tape_head(event)
            if head != line[:4]:
                differences.tell("head", "CPU %d: tape %s, text %s" % (cpu, head, line[:4]))
                continue
            for field, ours in event["fields"].items():
                if field not in read["fields"]:
                    absent[event["event"] + "." + field] += 1
                    continue
                nr_from_text += 1
                if read["fields"][field] != ours:
                    differences.tell("%s.%s" % (event["event"], field),
                                     "tape %r, text %r: %s" % (ours, read["fields"][field], line[4]))
            if by_name is None:
                continue
            named = dict(fields_by_name(by_name[cpu][at][4]))
            for field, ours in event["fields"].items():
                nr_by_name += 1
                if field not in named or not same_number(named[field], ours):
                    differences.tell("%s.%s by name" % (event["event"], field),
                                     "tape %r, text %r" % (ours, named.get(field)))
    print("    %d events of %d kinds: name, CPU, pid, time, context; %d fields from the text%s; "
          "%d differences" % (nr_events, len(kinds), nr_from_text,
                              ", %d by name" % nr_by_name if by_name is not None else "",
                              differences.total))
    if nr_left_out:
        print("    %d events of the recorder's own work were left out, as the tape says" % nr_left_out)
    if nr_before:
        print("    %d events were on the tape before the text was begun" % nr_before)
    if absent:
        print("    not in the text: " + ", ".join(sorted(absent)))
    return nr_events > 0 and not differences.total


if len(sys.argv) != 3:
    sys.exit(__doc__.split("\n\n")[1])
sys.exit(0 if compare(sys.argv[1], sys.argv[2]) else 1)
