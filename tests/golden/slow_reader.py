#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A second, slow reader of tapes, written from docs/format.md alone: section numbers are that page's.

    slow_reader.py TAPE            what `lrutape dump TAPE` prints
    slow_reader.py --json TAPE     what `lrutape dump --json TAPE` prints
    slow_reader.py --blobs TAPE    what `lrutape dump --blobs TAPE` prints

It walks the frames and never looks at the index. A torn tape is read up to the tear.
Exit status: 0 read, if only up to a tear, which stderr tells; 1 not readable; 2 misused; 77 no libzstd.so.1.
"""

import ctypes
import heapq
import itertools
import struct
import sys
import zlib

MASK = (1 << 64) - 1
TYPES, BLOBS, EVENTS, INDEX = 1, 2, 3, 4  # kinds of frames
INTEGER, STRING, BYTES, LEFT_OUT = 0, 1, 2, 3  # kinds of fields
BASE, PREVIOUS, ROW, SAME, LAST, FOLLOW, RECENT, BESIDE, CONTEXT, TEXT = range(10)  # predictors
LOSSES = 0xFFFF
LITERALS = 0x8000


class TapeError(Exception):
    """The tape is not what the page says."""


def need(condition, message):
    if not condition:
        raise TapeError(message)


# ---- zstd


def load_zstd():
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_decompress.restype = ctypes.c_size_t
    library.ZSTD_decompress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    return library


def decompress(data, raw_bytes):
    """raw_bytes bytes; stored as they are if data has that size already."""
    if len(data) == raw_bytes:
        return data
    out = ctypes.create_string_buffer(raw_bytes + 1)
    got = zstd.ZSTD_decompress(out, raw_bytes, data, len(data))
    need(got == raw_bytes, "zstd: not what the header promises")
    return out.raw[:raw_bytes]


# ---- 1, 2: the file and its frames


class Frame:
    """One frame; payload as on disk."""

    HEADER = struct.Struct("<4sIIHHIIIIQQQIIII")

    def __init__(self, data, at):
        (self.magic, self.header_crc, self.header_bytes, self.kind, self.flags, self.payload_bytes,
         self.payload_crc, self.raw_bytes, self.cpu, self.first_ns, self.last_ns, self.nr_lost,
         self.nr_losses_unknown, self.nr_events, self.nr_counts, _) = self.HEADER.unpack_from(data, at)
        self.at = at
        counts_at = at + 72
        self.payload_at = at + self.header_bytes
        self.end = self.payload_at + self.payload_bytes
        self.payload = data[self.payload_at:self.end]
        if self.header_is_good(data):
            self.counts = [struct.unpack_from("<HHI", data, counts_at + 8 * i) for i in range(self.nr_counts)]

    def header_is_good(self, data):
        if self.magic != b"LRTF" or self.header_bytes != 72 + 8 * self.nr_counts or self.payload_at > len(data):
            return False
        header = data[self.at:self.payload_at]
        return zlib.crc32(header[:4] + bytes(4) + header[8:]) == self.header_crc

    def contents(self):
        return decompress(self.payload, self.raw_bytes)


def good_frame_after(data, at):
    """Where the next valid header is, or None."""
    while (at := data.find(b"LRTF", at)) >= 0:
        if at + 72 <= len(data) and Frame(data, at).header_is_good(data):
            return at
        at += 1
    return None


def trailer_is_good(data):
    magic, crc, _, file_bytes = struct.unpack("<4sIQQ", data[-24:])
    return magic == b"LRTE" and crc == zlib.crc32(data[-16:]) and file_bytes == len(data)


def read_frames(data):
    """(frames, where the tape is torn or None)"""
    need(data[:8] == b"lrutape\n", "not a tape")
    need(len(data) >= 32, "too short for a tape")
    version, header_bytes, refuse_flags, _, _, crc = struct.unpack_from("<6I", data, 8)
    need(version == 1, f"version {version}: this reads 1")
    need(crc == zlib.crc32(data[:28]), "file header: bad checksum")
    need(refuse_flags == 0, "file header: unknown flags")
    frames, at, size = [], header_bytes, len(data)
    has_trailer = trailer_is_good(data)
    while True:
        if has_trailer and at == size - 24:
            return frames, None
        frame = Frame(data, at) if size - at >= 72 else None
        if frame is None or not frame.header_is_good(data):
            later = good_frame_after(data, at + 1)
            need(later is None, f"frame at byte {at}: bad header, but a good one at {later}")
            return frames, at
        if frame.end > size:
            return frames, at
        if zlib.crc32(frame.payload) != frame.payload_crc:
            behind = has_trailer or good_frame_after(data, frame.end) is not None
            need(not behind, f"frame at byte {at}: bad checksum")
            return frames, at
        need(frame.flags & 0xFE == 0, f"frame at byte {at}: unknown flags")
        if TYPES <= frame.kind <= EVENTS:
            frames.append(frame)
        else:
            need(frame.flags & 1, f"frame at byte {at}: unknown kind {frame.kind}")
        at = frame.end


# ---- 3, 8: types and blobs


class Cursor:
    """Takes structs and byte strings from the front."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def unpack(self, layout):
        values = struct.unpack_from(layout, self.data, self.at)
        self.at += struct.calcsize(layout)
        return values

    def bytes(self, size):
        need(self.at + size <= len(self.data), "a string goes beyond the end of its frame")
        self.at += size
        return self.data[self.at - size:self.at]

    def string(self):
        return self.bytes(self.unpack("<I")[0])

    def more(self):
        return self.at < len(self.data)


class Field:
    def __init__(self, cursor):
        _, self.size, self.is_signed, self.kind, _ = cursor.unpack("<HHBBH")
        self.name, self.ctype = cursor.string(), cursor.string()
        self.is_hex = self.name == b"pfn" or self.name.endswith(b"flags")


class Type:
    def __init__(self, cursor):
        self.number, _, nr_fields, _ = cursor.unpack("<HHHH")
        self.system, self.name, _, _ = (cursor.string() for _ in range(4))
        self.fields = [Field(cursor) for _ in range(nr_fields)]


def read_types(frames):
    types = []
    for frame in frames:
        if frame.kind == TYPES:
            cursor = Cursor(frame.contents())
            while cursor.more():
                types.append(Type(cursor))
                need(types[-1].number == len(types) - 1, "types are not in order")
    return types


def read_blobs(frames):
    """(timestamp_ns, moment, name, data) in file order"""
    for frame in frames:
        if frame.kind == BLOBS:
            cursor = Cursor(frame.contents())
            while cursor.more():
                timestamp_ns, moment, name_bytes, data_bytes = cursor.unpack("<QIIQ")
                yield timestamp_ns, moment, cursor.bytes(name_bytes), cursor.bytes(data_bytes)


# ---- 5, 6: streams to residuals


def varints(stream):
    value = shift = 0
    for byte in stream:
        if byte < 0x80:
            yield (value | byte << shift) & MASK
            value = shift = 0
        else:
            value |= (byte & 0x7F) << shift
            shift += 7
    need(shift == 0, "a varint is cut off")


def runs(stream):
    pairs = varints(stream)
    for nr_zeros in pairs:
        yield from itertools.repeat(0, min(nr_zeros, 1 << 20))
        yield next(pairs)
    yield from itertools.repeat(0)


def planes(streams):
    return map(int.from_bytes, map(bytes, zip(*streams)), itertools.repeat("little"))


def unzigzag(r):
    return r >> 1 ^ -(r & 1)


class Column:
    """A column entry of section 5."""

    ENTRY = struct.Struct("<HHBBBBHHHbBQ")

    def __init__(self, payload, at):
        (self.code, self.field, self.predictor, self.encoding, self.width, self.flags, self.ref_type,
         self.ref_field, self.beside, self.shift, _, self.base) = self.ENTRY.unpack_from(payload, at)
        need(self.predictor <= TEXT and self.encoding <= 4 and self.flags <= 1, "unknown column entry")

    def nr_streams(self):
        return (0, 1, self.width, 1, 3)[self.encoding]

    def set_streams(self, streams):
        self.streams = streams
        if self.encoding == 4:
            return
        readers = (lambda: itertools.repeat(0), lambda: varints(streams[0]), lambda: planes(streams),
                   lambda: runs(streams[0]))
        residuals = readers[self.encoding]()
        is_symbol = self.predictor in (FOLLOW, RECENT) or (self.code, self.field) == (LOSSES, 0)
        if self.encoding and not self.flags and not is_symbol:
            residuals = map(unzigzag, residuals)
        self.next_residual = residuals.__next__


# ---- 7: residuals to values


class EventFrame:
    """Rows of an event frame: (time, cpu, type or None for a loss, values of all columns)."""

    def __init__(self, frame, types):
        self.frame = frame
        self.types = [None if c[0] == LOSSES else types[c[0]] for c in frame.counts]
        self.nr_fields = [4 + (1 if t is None else len(t.fields)) for t in self.types]
        self.read_columns(frame.payload)
        # Values of the current row or, between rows, of the last one, by code and field number.
        self.values = [[0] * n for n in self.nr_fields]
        self.row = [frame.first_ns, 0, 0, 0]
        self.histories = {}  # of the columns that others refer to by place
        self.places = {}  # (code, field): where follow or recent found this row's value, None: a literal

    def read_columns(self, payload):
        nr_columns, nr_streams = struct.unpack_from("<II", payload, 0)
        entries = [Column(payload, 8 + 24 * i) for i in range(nr_columns)]
        at = 8 + 24 * nr_columns
        sizes = [struct.unpack_from("<II", payload, at + 8 * i) for i in range(nr_streams)]
        at += 8 * nr_streams
        streams = []
        for raw_bytes, stored_bytes in sizes:
            streams.append(decompress(payload[at:at + stored_bytes], raw_bytes))
            at += stored_bytes
        need(at == len(payload), "streams do not end with the payload")
        streams = iter(streams)
        self.columns = {}
        for column in entries:
            need((column.code, column.field) not in self.columns, "a column is listed twice")
            column.set_streams(list(itertools.islice(streams, column.nr_streams())))
            self.columns[column.code, column.field] = column

    def is_text(self, code, field):
        return (field >= 4 and self.types[code] is not None
                and self.types[code].fields[field - 4].kind in (STRING, BYTES))

    def rows(self):
        columns, values, row, cpu = self.columns, self.values, self.row, self.frame.cpu
        for column in columns.values():
            if column.predictor in (FOLLOW, RECENT):
                self.histories[column.ref_type, column.ref_field] = []
            elif column.predictor == BESIDE:
                self.histories[column.ref_type, column.beside] = []
        steps = [self.make_steps(code) for code in range(len(self.types))]
        next_code = self.make_row_types()
        for _ in range(sum(c[2] for c in self.frame.counts)):
            code = next_code()
            for step in steps[code]:
                step()
            current = values[code]
            row[:] = current[:4]
            yield row[0], cpu, self.types[code], current

    def make_row_types(self):
        column = self.columns.get((LOSSES, 0))
        if column is None:
            return lambda: 0
        residual = column.next_residual
        if column.predictor == BASE:
            return lambda: column.base + residual() & MASK
        need(column.predictor == CONTEXT, "the row-type column's predictor is not one for it")
        follower = [0] * len(self.types)
        before = 0

        def context():
            nonlocal before
            s = residual()
            code = s - 1 if s else follower[before]
            follower[before] = code
            before = code
            return code

        return context

    def make_steps(self, code):
        steps = []
        for field in range(self.nr_fields[code]):
            column = self.columns.get((code, field))
            text = self.is_text(code, field)
            history = self.histories.get((code, field))
            if column is None or column.predictor in (BASE, PREVIOUS) and not column.encoding:
                # The same in every row.
                self.values[code][field] = b"" if text else column.base if column else 0
            else:
                self.values[code][field] = b"" if text else column.base
                steps.append(self.make_step(column))
            if history is not None:
                current = self.values[code]
                steps.append(lambda current=current, field=field, append=history.append: append(current[field]))
        return steps

    def make_step(self, column):
        """A function that decodes the column's value in the current row."""
        code, field, base, shift, predictor = (column.code, column.field, column.base, column.shift,
                                               column.predictor)
        current = self.values[code]
        if predictor == TEXT:
            return self.make_text(column)
        residual = column.next_residual

        if predictor == BASE:
            def step():
                current[field] = base + residual() & MASK
        elif predictor == PREVIOUS:
            def step():
                current[field] = current[field] + residual() & MASK
        elif predictor == ROW:
            row = self.row

            def step():
                current[field] = row[field] + residual() & MASK
        elif predictor in (SAME, LAST):
            other = current if predictor == SAME else self.values[column.ref_type]
            ref_field = column.ref_field

            def step():
                value = other[ref_field]
                value = value << shift if shift >= 0 else value >> -shift
                current[field] = value + residual() & MASK
        elif predictor in (FOLLOW, RECENT):
            step = self.make_place(column)
        elif predictor == BESIDE:
            history = self.histories[column.ref_type, column.beside]
            places, key = self.places, (code, column.ref_field)

            def step():
                place = places[key]
                found = place is not None and place < len(history)
                current[field] = (history[place] if found else current[field]) + residual() & MASK
        else:
            raise TapeError("a column's predictor is not one for it")
        return step

    def make_place(self, column):
        """follow and recent"""
        code, field = column.code, column.field
        current, places, key = self.values[code], self.places, (code, field)
        history = self.histories[column.ref_type, column.ref_field]
        symbol = column.next_residual
        literals = self.columns.get((code, LITERALS + field))
        literal = literals.base if literals else 0
        is_follow = column.predictor == FOLLOW
        next_place = 0

        def step():
            nonlocal literal, next_place
            s = symbol()
            if s == 1:
                places[key] = None
                if literals:
                    start = literal if literals.predictor == PREVIOUS else literals.base
                    literal = start + literals.next_residual() & MASK
                current[field] = literal
                return
            if is_follow:
                place = next_place + (unzigzag(s - 1) if s else 0)
                next_place = place + 1
            else:
                place = len(history) - 1 - (s - 1 if s else 0)
            need(0 <= place < len(history), "a place outside its history")
            places[key] = place
            current[field] = history[place]

        return step

    def make_text(self, column):
        current, field = self.values[column.code], column.field
        symbol = varints(column.streams[0]).__next__
        length = varints(column.streams[1]).__next__
        text = column.streams[2]
        texts = []
        at = 0

        def step():
            nonlocal at
            s = symbol()
            if s == 0:
                end = at + length()
                texts.append(text[at:end])
                need(text[end:end + 1] == b"\0", "a text without its NUL")
                at = end + 1
                s = len(texts)
            current[field] = texts[s - 1]

        return step


def read_rows(frames, types):
    """All rows: by time, of equal times the lower CPU first, rows of a CPU in their order."""
    cpus = {}
    for frame in frames:
        if frame.kind == EVENTS:
            cpus.setdefault(frame.cpu, []).append(frame)

    def rows_of(cpu):
        for frame in cpus[cpu]:
            yield from EventFrame(frame, types).rows()

    return heapq.merge(*map(rows_of, sorted(cpus)), key=lambda row: row[:2])


# ---- 12: as text


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def pid_of(value):
    """Of a pid only the low 32 bits count, of flags and preempt count the low 8."""
    return (value & 0xFFFFFFFF ^ 1 << 31) - (1 << 31)


def clock(ns):
    return "%d.%09d" % divmod(ns, 1000000000)


def escape(text):
    return "".join(chr(b) if 0x20 <= b <= 0x7E and b != 0x5C else "\\x%02x" % b for b in text)


def json_string(text):
    """Bytes that are not valid UTF-8 come as the characters of their numbers."""
    out = ['"']
    for c in text.decode("utf-8", "surrogateescape"):
        n = ord(c)
        if 0xDC80 <= n <= 0xDCFF:
            out.append("\\u%04x" % (n - 0xDC00))
        elif n < 0x20 or n == 0x7F:
            out.append("\\u%04x" % n)
        else:
            out.append("\\" + c if c in '"\\' else c)
    out.append('"')
    return "".join(out)


def field_formatter(field, json):
    if field.kind == STRING:
        return json_string if json else escape
    if field.kind == BYTES:
        return (lambda value: '"%s"' % value.hex()) if json else bytes.hex
    if field.is_hex and not json:
        return hex
    return signed if field.is_signed else int


class Names:
    """Names of threads as last told."""

    TELLERS = {
        (b"sched", b"sched_process_fork"): (b"child_pid", b"child_comm"),
        (b"sched", b"sched_process_exec"): (b"pid", b"filename"),
        (b"sched", b"sched_process_exit"): (b"pid", b"comm"),
        (b"task", b"task_newtask"): (b"pid", b"comm"),
        (b"cgroup", b"cgroup_attach_task"): (b"pid", b"comm"),
    }

    def __init__(self, blobs, show):
        self.show, self.names = show, {}
        self.tell(0, b"<idle>")
        tasks = [data for _, moment, name, data in blobs if name == b"lrutape/tasks" and moment == 0]
        for line in tasks[0].split(b"\n") if tasks else []:
            words = line.split(b" ", 3)
            if len(words) == 4 and words[0].isdigit():
                self.tell(int(words[0]), words[3])

    def tell(self, pid, name):
        name = name.split(b"\0")[0][:15]
        if name:
            self.names[pid] = self.show(name)

    def teller(self, of_type):
        """A function to call with the values of each row of that type, or None."""
        wanted = self.TELLERS.get((of_type.system, of_type.name))
        if not wanted:
            return None
        fields = [f.name for f in of_type.fields]
        if not all(name in fields for name in wanted):
            return None
        pid_at, name_at = (fields.index(name) for name in wanted)
        if of_type.fields[pid_at].kind != INTEGER or of_type.fields[name_at].kind not in (STRING, BYTES):
            return None
        pid_at, name_at = 4 + pid_at, 4 + name_at
        if wanted[1] == b"filename":
            return lambda values: self.tell(pid_of(values[pid_at]), values[name_at].split(b"/")[-1])
        return lambda values: self.tell(pid_of(values[pid_at]), values[name_at])


def print_rows(frames, json, write):
    types = read_types(frames)
    names = Names(read_blobs(frames), json_string if json else escape)
    formats = {}
    for t in types:
        shown = [(4 + i, f) for i, f in enumerate(t.fields) if f.kind != LEFT_OUT]
        formatters = [(at, field_formatter(f, json)) for at, f in shown]
        if json:
            layout = ',"system":%s,"event":%s,"fields":{' % (json_string(t.system), json_string(t.name))
            layout = layout.replace("%", "%%")
            layout += ",".join(json_string(f.name).replace("%", "%%") + ":%s" for _, f in shown) + "}}\n"
        else:
            layout = escape(t.name).replace("%", "%%") + ":"
            layout += "".join(" %s=%%s" % escape(f.name).replace("%", "%%") for _, f in shown) + "\n"
        formats[t] = names.teller(t), layout, formatters
    last_ns = {}
    for ns, cpu, of_type, values in read_rows(frames, types):
        if of_type is None:
            lost, since = values[4], last_ns.get(cpu, 0)
            if json:
                count = "null" if lost == MASK else lost
                write('{"time_ns":%d,"cpu":%d,"event":"LOST","fields":{"count":%s,"since_ns":%d}}\n'
                      % (ns, cpu, count, since))
            else:
                count = "unknown" if lost == MASK else lost
                write("<lost> [%03d] %s: LOST: events=%s since=%s\n" % (cpu, clock(ns), count, clock(since)))
            continue
        last_ns[cpu] = ns
        tell, layout, formatters = formats[of_type]
        if tell:
            tell(values)
        pid = pid_of(values[1])
        if json:
            write('{"time_ns":%d,"cpu":%d,"pid":%d,"comm":%s,"flags":%d,"preempt_count":%d'
                  % (ns, cpu, pid, names.names.get(pid, "null"), values[2] & 0xFF, values[3] & 0xFF))
        else:
            write("%s-%d [%03d] %d.%09d: "
                  % (names.names.get(pid, "<...>"), pid, cpu, ns // 1000000000, ns % 1000000000))
        write(layout % tuple([form(values[at]) for at, form in formatters]))


def print_blobs(frames, write):
    moments = {0: "start", 0xFFFFFFFF: "end"}
    for timestamp_ns, moment, name, data in read_blobs(frames):
        write("%-6s %s %8d %s\n" % (moments.get(moment, moment), clock(timestamp_ns), len(data), escape(name)))


def main(arguments):
    options = [a for a in arguments if a.startswith("--")]
    paths = [a for a in arguments if not a.startswith("--")]
    if len(paths) != 1 or len(options) > 1 or not set(options) <= {"--json", "--blobs"}:
        print("usage: slow_reader.py [--json | --blobs] TAPE", file=sys.stderr)
        return 2
    with open(paths[0], "rb") as tape:
        data = tape.read()
    with open(1, "w", encoding="utf-8", closefd=False, buffering=1 << 20) as out:
        try:
            frames, torn_at = read_frames(data)
            need(frames or torn_at is None, f"torn at byte {torn_at}, before its first frame ends")
            if options == ["--blobs"]:
                print_blobs(frames, out.write)
            else:
                print_rows(frames, options == ["--json"], out.write)
        except TapeError as error:
            print(f"slow_reader.py: {paths[0]}: {error}", file=sys.stderr)
            return 1
    if torn_at is not None:
        where = f"torn at byte {torn_at}" if torn_at < len(data) else "without its index"
        print(f"slow_reader.py: {paths[0]}: {where}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    try:
        zstd = load_zstd()
    except OSError:
        print("libzstd.so.1 is not there")
        sys.exit(77)
    sys.exit(main(sys.argv[1:]))
