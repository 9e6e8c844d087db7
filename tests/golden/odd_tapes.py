#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tapes that docs/format.md allows and no recorder writes: both readers must make the same of them.

    odd_tapes.py DIRECTORY FIRST LAST      odd-FIRST.lrt to odd-LAST.lrt, each from its number as the seed, and
                                           odd-bare.lrt, whose event frame lists no column

Predictors, encodings, references and residuals are drawn blindly, so values are too; only what would
make the tape wrong is steered: places exist, times of a CPU go forwards, codes are in the list.
"""

import os
import random
import struct
import sys
import zlib

from slow_reader import (BASE, BESIDE, BYTES, CONTEXT, FOLLOW, INTEGER, LAST, LEFT_OUT, LITERALS, LOSSES, MASK,
                         PREVIOUS, RECENT, ROW, SAME, STRING, TEXT, Names)
from slow_reader import Cursor, EventFrame, Frame, Type

NONE, VARINT, PLANES, RUNS, TEXTS = range(5)
ALPHABETS = (b"abcz_", b"a%\\\"/ \xc3\xa9\xe2\x82\xac", bytes(range(1, 256)), "aé€😀\\/\n\r\t\b\f\x7f".encode(),
             b"\xed\xa0\x80\xc0\xaf\xf4\x90\x80\x80\xf5\xe0\x80\x80\xf0\x8f", bytes(range(1, 32)))


def string(text):
    return struct.pack("<I", len(text)) + text


def varint(n):
    out = bytearray()
    while n >= 0x80:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def make_frame(kind, payload, cpu=0, first_ns=0, last_ns=0, nr_lost=0, nr_unknown=0, counts=(), flags=0,
               raw_bytes=None):
    nr_events = sum(n for of_type, n in counts if of_type != LOSSES)
    rest = struct.pack("<IHHIIIIQQQIIII", 72 + 8 * len(counts), kind, flags, len(payload), zlib.crc32(payload),
                       len(payload) if raw_bytes is None else raw_bytes, cpu, first_ns, last_ns, nr_lost,
                       nr_unknown, nr_events, len(counts), 0)
    rest += b"".join(struct.pack("<HHI", of_type, 0, n) for of_type, n in counts)
    return b"LRTF" + struct.pack("<I", zlib.crc32(b"LRTF\0\0\0\0" + rest)) + rest + payload


class OddColumn:
    """One column entry and what its rows will read."""

    def __init__(self, code, field, predictor, encoding=NONE):
        self.code, self.field, self.predictor, self.encoding = code, field, predictor, encoding
        self.width = self.flags = self.shift = self.base = self.beside = 0
        self.ref = (0, 0)
        self.residuals = []
        self.texts, self.symbols = [], []  # predictor 9
        self.next_place = 0  # predictor 5

    def entry(self):
        return struct.pack("<HHBBBBHHHbBQ", self.code, self.field, self.predictor, self.encoding, self.width,
                           self.flags, *self.ref, self.beside, self.shift, 0, self.base)

    def streams(self):
        if self.encoding == TEXTS:
            return [b"".join(map(varint, self.symbols)), b"".join(varint(len(t)) for t in self.texts),
                    b"".join(t + b"\0" for t in self.texts)]
        if self.encoding == VARINT:
            return [b"".join(map(varint, self.residuals))]
        if self.encoding == PLANES:
            return [bytes(r >> 8 * i & 0xFF for r in self.residuals) for i in range(self.width)]
        if self.encoding == RUNS:
            out, nr_zeros = b"", 0
            for r in self.residuals:
                if r:
                    out += varint(nr_zeros) + varint(r)
                nr_zeros = 0 if r else nr_zeros + 1
            return [out]
        return []


def whole(frames, with_index=True):
    """A tape of these frames."""
    out = b"lrutape\n" + struct.pack("<5I", 1, 32, 0, 0, 0)
    out += struct.pack("<I", zlib.crc32(out))
    index = b""
    for frame in frames:
        index += struct.pack("<Q", len(out)) + frame[:struct.unpack_from("<I", frame, 8)[0]]
        out += frame
    if not with_index:
        return out  # its recorder was killed
    places = struct.pack("<Q", len(out))
    out += make_frame(4, index, flags=1)
    places += struct.pack("<Q", len(out) + 24)
    return out + b"LRTE" + struct.pack("<I", zlib.crc32(places)) + places


def bare_tape():
    """Three rows of a frame that lists no columns, so that every value is 0."""
    types = struct.pack("<HHHH", 0, 7, 2, 0)
    types += string(b"task") + string(b"task_newtask") + string(b"a format") + string(b"")
    for kind, size, name in ((INTEGER, 4, b"pid"), (STRING, 16, b"comm")):
        types += struct.pack("<HHBBH", 8, size, 1, kind, 0) + string(name) + string(b"a type")
    return whole([make_frame(1, types), make_frame(3, struct.pack("<II", 0, 0), 1, counts=[(0, 3)], raw_bytes=0)])


class OddTape:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.types = [self.make_type() for _ in range(self.random.randrange(1, 6))]
        self.types_payload = b"".join(map(self.pack_type, range(len(self.types))))
        cursor = Cursor(self.types_payload)
        self.read_types = []
        while cursor.more():
            self.read_types.append(Type(cursor))

    def word(self, least=0):
        r = self.random
        alphabet = r.choice(ALPHABETS)
        return bytes(r.choice(alphabet) for _ in range(r.randrange(least, 18)))

    def plain_word(self):
        return bytes(self.random.choice(b"abcdefg_") for _ in range(self.random.randrange(1, 9)))

    def number(self, nr_bytes=8):
        """Often small, often 0."""
        r = self.random
        return r.getrandbits(min(r.choice((1, 2, 3, 7, 8, 14, 32, 63, 64)), 8 * nr_bytes)) * (r.random() < 0.7)

    # ---- types and blobs

    def make_type(self):
        """(system, name, fields), a field (kind, size, is_signed, name)"""
        r = self.random
        system, name, fields = b"odd", self.plain_word(), []
        for i in range(r.randrange(7)):
            kind = r.choice([INTEGER] * 5 + [STRING, BYTES, LEFT_OUT])
            size = r.choice((1, 2, 4, 8)) if kind == INTEGER else 16
            fields.append((kind, size, r.randrange(2), r.choice((self.plain_word() + b"%d" % i, b"pfn", b"gfp_flags"))))
        if r.random() < 0.5:
            (system, name), (pid, comm) = r.choice(list(Names.TELLERS.items()))
            fields.append((INTEGER, 4, 1, pid))
            if r.random() < 0.8:
                fields.append(r.choice(((STRING, 16, 0, comm), (STRING, 16, 0, comm), (BYTES, 16, 0, comm),
                                        (INTEGER, 8, 0, comm))))
            r.shuffle(fields)
        return system, name, fields

    def pack_type(self, number):
        system, name, fields = self.types[number]
        out = struct.pack("<HHHH", number, 7, len(fields), 0)
        out += string(system) + string(name) + string(b"a format") + string(b"")
        for kind, size, is_signed, field_name in fields:
            out += struct.pack("<HHBBH", 8, size, is_signed, kind, 0) + string(field_name) + string(b"a type")
        return out

    def blobs(self):
        """(timestamp_ns, moment, name, data)"""
        r = self.random
        for _ in range(r.randrange(3)):
            comms = (self.word(1).replace(b"\n", b"").replace(b"%", b"\0").strip() or b"x" for _ in range(6))
            lines = b"".join(b"%d 1 0 %s\n" % (r.randrange(5), comm) for comm in comms)
            yield r.getrandbits(40), r.choice((0, 0, 1, 0xFFFFFFFF)), b"lrutape/tasks", lines
        for _ in range(r.randrange(4)):
            yield r.getrandbits(63), r.choice((0, 1, 7, 1000000, 0xFFFFFFFF)), self.word(1), self.word()

    # ---- event frames

    def choose_columns(self, kinds):
        """Columns of a frame whose codes have fields of these kinds (None: fields 0 to 3)."""
        r = self.random
        numbers = [(c, f) for c, of_code in enumerate(kinds) for f, kind in enumerate(of_code) if kind == INTEGER]
        columns = {}
        for code, of_code in enumerate(kinds):
            for field, kind in enumerate(of_code):
                if kind == LEFT_OUT or field and r.random() < 0.12:
                    continue
                if kind in (STRING, BYTES):
                    columns[code, field] = OddColumn(code, field, TEXT, TEXTS)
                    continue
                column = OddColumn(code, field, ROW, r.choice((NONE, VARINT, VARINT, PLANES, PLANES, RUNS)))
                columns[code, field] = column
                column.base = self.number()
                column.flags = 1 if field == 0 else r.randrange(2)
                if 0 < field < 4:
                    column.predictor = r.choice((BASE, PREVIOUS, ROW))
                elif field >= 4:
                    self.choose_reference(column, columns, numbers)
        for column in columns.values():
            if column.encoding == PLANES:
                column.width = 2 if column.predictor in (FOLLOW, RECENT) else r.randrange(1, 9)
        return columns

    def choose_reference(self, column, columns, numbers):
        r = self.random
        code, field = column.code, column.field
        before = [f for c, f in numbers if c == code and f < field]
        placed = [f for f in before if (code, f) in columns and columns[code, f].predictor in (FOLLOW, RECENT)]
        column.predictor = r.choice([BASE, PREVIOUS, LAST, LAST, FOLLOW, FOLLOW, RECENT, RECENT]
                                    + [SAME, SAME] * bool(before) + [BESIDE] * 5 * bool(placed))
        column.ref = r.choice(numbers)
        if column.predictor in (SAME, LAST):
            column.shift = r.choice((0, 0, 1, -1, 3, -12, 63, -63))
        if column.predictor == SAME:
            column.ref = (code, r.choice(before))
        elif column.predictor == BESIDE:
            column.ref = (columns[code, (place := r.choice(placed))].ref[0], place)
            column.beside = r.choice([f for c, f in numbers if c == column.ref[0]])
        elif column.predictor in (FOLLOW, RECENT):
            column.encoding = column.encoding or VARINT
            if r.random() < 0.8:
                literals = OddColumn(code, LITERALS + field, r.choice((BASE, PREVIOUS)), r.choice((NONE, VARINT, RUNS)))
                literals.base, literals.flags = self.number(), r.randrange(2)
                columns[code, LITERALS + field] = literals

    def fill(self, column, columns, nr_values):
        """What the column reads in one row. nr_values: lengths of the histories. Returns a step of time."""
        r = self.random
        if column.predictor == TEXT:
            if column.texts and r.random() < 0.4:
                column.symbols.append(r.randrange(len(column.texts)) + 1)
            else:
                column.symbols.append(0)
                column.texts.append(self.word())
        elif column.field == 0:
            step = r.choice((0, 0, 1, 2, 255)) if column.encoding else 0
            column.residuals.append(step)
            return step
        elif column.predictor in (FOLLOW, RECENT):
            length = nr_values.get(column.ref, 0)
            if not length or r.random() < 0.2:
                column.residuals.append(1)
                literals = columns.get((column.code, LITERALS + column.field))
                if literals and literals.encoding:
                    literals.residuals.append(self.number())
                return 0
            place = r.randrange(length)
            if column.predictor == FOLLOW:
                jump = place - column.next_place
                symbol = (2 * jump if jump > 0 else -2 * jump - 1) + 1 if jump else 0
                column.next_place = place + 1
            else:
                symbol = length - place if length - 1 - place else 0
            column.residuals.append(symbol)
        elif column.encoding:
            column.residuals.append(self.number(column.width or 8))
        return 0

    def make_row_types(self, codes):
        r = self.random
        column = OddColumn(LOSSES, 0, r.choice((BASE, CONTEXT, CONTEXT)), r.choice((VARINT, PLANES, RUNS)))
        column.width, column.flags = 2 * (column.encoding == PLANES), r.randrange(2)
        if column.predictor == BASE:
            if column.encoding == VARINT:
                column.base = r.choice((0, 5, 1 << 63))
            column.residuals = [code - column.base & MASK for code in codes]
            return column
        follower, before = [0] * 8, 0
        for code in codes:
            column.residuals.append(0 if follower[before] == code and r.random() < 0.9 else code + 1)
            follower[before] = code
            before = code
        return column

    def event_frame(self, cpu, first_ns):
        """(frame, last_ns)"""
        r = self.random
        listed = r.sample(range(len(self.types)), r.randrange(1, len(self.types) + 1)) + [LOSSES] * (r.random() < 0.7)
        r.shuffle(listed)
        kinds = [[None] * 4 + ([INTEGER] if t == LOSSES else [f[0] for f in self.types[t][2]]) for t in listed]
        columns = self.choose_columns(kinds)
        codes = r.choices(range(len(listed)), [r.choice((1, 1, 5)) for _ in listed], k=r.randrange(1, 60))
        last_ns, nr_values = first_ns, {}
        for code in codes:
            for field in range(len(kinds[code])):
                if (code, field) in columns:
                    last_ns += self.fill(columns[code, field], columns, nr_values)
                nr_values[code, field] = nr_values.get((code, field), 0) + 1
        entries = [self.make_row_types(codes)] + list(columns.values())
        r.shuffle(entries)
        streams = [stream for column in entries for stream in column.streams()]
        payload = struct.pack("<II", len(entries), len(streams)) + b"".join(c.entry() for c in entries)
        payload += b"".join(struct.pack("<II", len(s), len(s)) for s in streams) + b"".join(streams)
        header = dict(cpu=cpu, first_ns=first_ns, last_ns=last_ns, raw_bytes=sum(map(len, streams)),
                      counts=[(t, codes.count(c)) for c, t in enumerate(listed)])
        # The header tells the losses, which only a reader can count here.
        draft = EventFrame(Frame(make_frame(3, payload, **header), 0), self.read_types)
        lost = [values[4] for _, _, of_type, values in draft.rows() if of_type is None]
        nr_unknown = lost.count(MASK)
        return make_frame(3, payload, nr_lost=sum(lost) + nr_unknown & MASK, nr_unknown=nr_unknown, **header), last_ns

    def tape(self):
        r = self.random
        frames = [make_frame(1, self.types_payload)]
        for ns, moment, name, data in self.blobs():
            blob = struct.pack("<QIIQ", ns, moment, len(name), len(data)) + name + data
            frames.append(make_frame(2, blob, first_ns=ns, last_ns=ns))
        now = {}
        for _ in range(r.randrange(1, 6)):
            cpu = r.choice((0, 0, 1, 2, 1000))
            frame, now[cpu] = self.event_frame(cpu, now.get(cpu, 100) + r.choice((0, 0, 1, 40)))
            frames.append(frame)
        return whole(frames, r.random() >= 0.2)


if __name__ == "__main__":
    directory, first, last = sys.argv[1:]
    with open(os.path.join(directory, "odd-bare.lrt"), "wb") as file:
        file.write(bare_tape())
    for seed in range(int(first), int(last) + 1):
        with open(os.path.join(directory, f"odd-{seed}.lrt"), "wb") as file:
            file.write(OddTape(seed).tape())
