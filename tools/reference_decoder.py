#!/usr/bin/env python3
"""Decodes columns from docs/format.md alone: short, slow, and independent of src/codec.

    reference_decoder.py FILE.col ...            print the rows (test/unit/dump.h)
    reference_decoder.py --check FILE.col ...    compare them with FILE.txt

LZ blocks need the modules lz4 and zstandard, or else liblz4 and libzstd.
"""
import ctypes
import ctypes.util
import struct
import sys

RAW, CONSTANT, DELTA_DELTA, GORILLA, DICTIONARY, LZ4, ZSTD, DECIMAL, NUMERIC, PACKED, JSONB, SIMPLE8B, LARGE = range(1, 14)
INT, FLOAT, BYTES = 1, 2, 3
M64 = (1 << 64) - 1


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        assert self.at + n <= len(self.data), "input ends early"
        self.at += n
        return self.data[self.at - n:self.at]

    def rest(self):
        return self.take(len(self.data) - self.at)

    def number(self, n):
        return int.from_bytes(self.take(n), "little")

    def varint(self):
        value = shift = 0
        while True:
            byte = self.number(1)
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def zigzag(self):
        return unzigzag(self.varint())

    def count(self):
        high = self.number(1)
        return high if high < 128 else (high & 127) << 8 | self.number(1)

    def packed(self, n, width):
        """n numbers of width bits."""
        return split_bits(self.number((n * width + 7) // 8), n, width)


def split_bits(bits, n, width):
    return [bits >> i * width & (1 << width) - 1 for i in range(n)]


def unzigzag(u):
    return u >> 1 ^ -(u & 1)


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def ans_table(r):
    """Size of the table, and for each state: token, bits to read, next state."""
    head, ntokens = r.number(1), r.varint()
    log, order, counts = head & 15, head >> 4, []
    bits, at = int.from_bytes(r.data[r.at:], "little"), 0
    for _ in range(ntokens):
        ones = 0
        while bits >> at + ones & 1:
            ones += 1
        x = 1 << ones + order | bits >> at + ones + 1 & (1 << ones + order) - 1
        counts.append(x - (1 << order))
        at += 2 * ones + order + 1
    r.take((at + 7) // 8)
    size = 1 << log
    assert sum(counts) == size, "damaged table"
    token_at, p = [0] * size, 0
    for token, count in enumerate(counts):
        for _ in range(count):
            token_at[p] = token
            p = (p + (size >> 1) + (size >> 3) + 3) % size
    states = []
    for token in token_at:
        j = counts[token]
        counts[token] += 1
        nbits = log + 1 - j.bit_length()
        states.append((token, nbits, (j << nbits) - size))
    return log, states


def split_numbers(r, k, count):
    """Numbers of k low bits and the rest in unary."""
    nunary = r.number(1)
    low = r.packed(count, k)
    unary = r.take(nunary)
    assert unary and unary[-1], "a byte too many in unary numbers"
    ones = [i for i in range(8 * nunary) if unary[i // 8] >> i % 8 & 1]
    assert len(ones) == count, "unary numbers are not as many as they should be"
    return [at - before - 1 << k | x for at, before, x in zip(ones, [-1] + ones, low)]


def archived_numbers(r, direct, mantissa, table, token_len, raw_len, count):
    """The numbers of a block of method 1."""
    log, states = table
    bits, raws, numbers = r.number(token_len), r.number(raw_len), []
    state = split_bits(bits, 4, log)
    bits >>= 4 * log
    for i in range(count):
        token, nbits, following = states[state[i % 4]]
        state[i % 4] = following + (bits & (1 << nbits) - 1)
        bits >>= nbits
        if token >= 1 << direct:
            above = token - (1 << direct)
            low = direct + (above >> mantissa) - mantissa
            token = (1 << mantissa | above & (1 << mantissa) - 1) << low | raws & (1 << low) - 1
            raws >>= low
        numbers.append(token)
    return numbers


def lz(codec, data, size):
    try:
        if codec == LZ4:
            import lz4.block
            return lz4.block.decompress(data, uncompressed_size=size)
        import zstandard
        return zstandard.ZstdDecompressor().decompress(data, max_output_size=size)
    except ImportError:
        pass
    out = ctypes.create_string_buffer(max(size, 1))
    if codec == LZ4:
        library = ctypes.CDLL(ctypes.util.find_library("lz4") or "liblz4.so.1")
        got = library.LZ4_decompress_safe(bytes(data), out, len(data), size)
    else:
        library = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
        library.ZSTD_decompress.restype = ctypes.c_size_t
        got = library.ZSTD_decompress(out, ctypes.c_size_t(size), bytes(data), ctypes.c_size_t(len(data)))
    assert got == size, "damaged LZ block"
    return out.raw[:size]


def int_stream(data, n):
    """n integers, unsigned modulo 2^64."""
    r = Reader(data)
    mode = r.number(1)
    transform, packing, based, rows = mode & 3, mode >> 2 & 3, mode & 16, 64 << (mode >> 6)
    first = r.zigzag()
    divisor = r.varint() if mode & 32 else 1
    if packing == 0:
        step = r.zigzag() if transform == 1 else 0
        return [first + i * step & M64 for i in range(n)]
    values = []
    base = start = step = slope = 0
    if packing == 3:
        assert mode < 64, "unknown mode"
        method, rows = r.number(1), 1024
        base = r.zigzag() if based else 0
        if method == 2:
            width, rows, planes = r.number(1), n, []
            for k in range(0, n - transform, 1024):
                c = min(1024, n - transform - k)
                planes.append((c, width))
            raw, at, archived = lz(ZSTD, r.rest(), (n - transform) * width), 0, []
            for c, width in planes:
                archived += [sum(raw[at + b * c + i] << 8 * b for b in range(width)) for i in range(c)]
                at += c * width
        else:
            assert method == 1, "unknown method"
            head, table = r.number(1), ans_table(r)
    for k in range(0, n, rows):
        m = min(rows, n - k)
        c = max(0, m - transform)
        if packing != 3:
            assert packing == 2, "unknown packing"
            size = r.number(1)
        elif method == 1:
            size = r.varint(), r.varint()
        if based and packing != 3:
            base += r.zigzag()
        if transform > 0 and k > 0:
            step += r.zigzag()
            start += step
        if transform == 2:
            slope += r.zigzag()
        if packing == 3:
            u = archived if method == 2 else archived_numbers(r, head & 15, head >> 4, table, *size, c)
        elif 65 <= size <= 85:
            u = split_numbers(r, size - 65, c)
        else:
            assert size & 127 <= 64, "wrong width"
            u = r.packed(c, size & 127)
            if size & 128:
                count, high = r.number(1), r.number(1)
                positions = r.take(count)
                for position, bits in zip(positions, r.packed(count, high)):
                    u[position] |= bits << (size & 127)
        residuals = [base + x if based else unzigzag(x) for x in u]
        if transform == 0:
            s = residuals
        else:
            s, delta = [start], slope
            if transform == 2 and m > 1:
                s.append(start + slope)
            for x in residuals:
                delta = delta + x if transform == 2 else x
                s.append(s[-1] + delta)
        values += [first + divisor * x & M64 for x in s]
    return values


def gorilla(data, width, n):
    r = Reader(data)
    r.take(2 * ((n + 255) // 256 - 1))      # lengths of blocks, for those who skip
    values = []
    for k in range(0, n, 256):
        m = min(256, n - k)
        value, nwindows = r.number(width), r.number(1)
        values.append(value)
        changed = r.packed(m - 1, 1)
        opens = iter(r.packed(sum(changed), 1))
        windows = iter(r.packed(nwindows, 11 if width == 8 else 10))
        plan = []
        for x in changed:
            if x and next(opens):
                window = next(windows)
                size = (window >> 5) + 1
                trail = width * 8 - (window & 31) - size
            plan.append((size, trail) if x else (0, 0))
        total = sum(size for size, _ in plan)
        bits = r.number((total + 7) // 8)
        for size, trail in plan:
            value ^= (bits & (1 << size) - 1) << trail
            bits >>= size
            values.append(value)
    return values


S8B_NUMBERS = 0, 64, 32, 21, 16, 12, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1
S8B_WIDTH = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 21, 32, 64


def simple8b(data, n):
    r = Reader(data)
    r.take(2 * ((n + 255) // 256 - 1))      # lengths of blocks, for those who skip
    values = []
    for k in range(0, n, 256):
        m = min(256, n - k)
        value = r.zigzag()
        step = r.zigzag() if m > 1 else 0
        nwords = r.varint()
        selectors = r.packed((nwords + 1) // 2 * 2, 4)
        numbers = []
        for selector in selectors[:nwords]:
            word = r.number(8)
            if selector == 0:
                numbers += [word >> 9] * ((word & 511) + 1)
            else:
                width = S8B_WIDTH[selector]
                numbers += [word >> i * width & (1 << width) - 1 for i in range(S8B_NUMBERS[selector])]
        numbers = numbers[:max(m - 2, 0)] if nwords else [0] * max(m - 2, 0)
        values.append(value & M64)
        for i in range(1, m):
            if i > 1:
                u = numbers[i - 2]
                step += u >> 1 ^ -(u & 1)
            value += step
            values.append(value & M64)
    return values


def decimal(data, width, n):
    r = Reader(data)
    exponent = r.number(1)
    if exponent == 255:
        integers, top = int_stream(r.rest(), n), 1 << width * 8 - 1
        return [(u ^ top if width == 8 else u) >> 1 | (u & 1) * top for u in integers]
    count = r.varint()
    positions = [r.number(2) for _ in range(count)]
    exceptions = [r.number(width) for _ in range(count)]
    form = "<d" if width == 8 else "<f"
    values = []
    for u in int_stream(r.rest(), n):
        signed = u - (1 << 64) if u >> 63 else u
        values.append(int.from_bytes(struct.pack(form, float(signed) / 10.0 ** exponent), "little"))
    for position, value in zip(positions, exceptions):
        values[position] = value
    return values


def numeric(data, n):
    r = Reader(data)
    scale = r.number(1)
    displays, values = int_stream(r.take(r.varint()), n), []
    places = (scale + 3) // 4
    for u, display in zip(payload(r.number(1), INT, 8, r.rest(), n), displays):
        integer = u - (1 << 64) if u >> 63 else u
        left, digits = abs(integer) * 10 ** (4 * places - scale), []
        while left:
            digits.insert(0, left % 10000)
            left //= 10000
        weight = len(digits) - places - 1 if digits else 0
        while digits and digits[-1] == 0:
            digits.pop()
        head = 0x8000 | (0x2000 if integer < 0 else 0) | display << 7 | weight & 127
        values.append(struct.pack("=%dH" % (1 + len(digits)), head, *digits))
    return values


def byte_strings(codec, data, n):
    r = Reader(data)
    blocks = [(r.varint(), r.varint(), r.varint()) for _ in range(r.varint())]
    lengths = int_stream(r.take(r.varint()), n)
    raw = b""
    for _, size, stored in blocks:
        block = r.take(stored >> 1)
        raw += lz(codec, block, size) if stored & 1 else block
    values, at = [], 0
    for length in lengths:
        values.append(raw[at:at + length])
        at += length
    return values


def large_strings(data, n):
    r = Reader(data)
    library, head = r.number(1), Reader(r.take(r.varint()))
    lead = head.varint()
    lengths, tails = int_stream(head.take(head.varint()), n), int_stream(head.take(head.varint()), n)
    stream = b""
    for _ in range(head.varint()):
        size, stored, crc = head.varint(), head.varint(), head.number(4)
        block = r.take(stored >> 1)
        assert crc == crc32c(block), "wrong checksum of a block"
        stream += lz(library, block, size) if stored & 1 else block
    assert head.at == len(head.data) and r.at == len(data), "wrong length"
    s, values = Reader(stream), []
    firsts = [s.take(min(length, lead)) for length in lengths]
    for first, length, tail in zip(firsts, lengths, tails):
        values.append(first + s.take(max(length - lead, 0)))
        assert sum(0x80 <= byte < 0xc0 for byte in values[-1]) == tail, "wrong number of bytes within characters"
    assert s.at == len(stream), "bytes behind the last value"
    return values


def packed_strings(data, n):
    r = Reader(data)
    positions = []
    for _ in range(r.varint()):
        count, least, head = r.varint(), r.number(1), r.number(1)
        split, gap = (r.number(1), r.number(1)) if head & 16 else (0, 0)
        positions += [(least, head & 15, split, gap)] * count
    lengths = int_stream(r.take(r.varint()), n)
    sizes = [r.varint() for _ in range((n - 1) // 256)] + [None]
    values = []
    for k, size in enumerate(sizes):
        bits = int.from_bytes(r.rest() if size is None else r.take(size), "little")
        for length in lengths[k * 256:k * 256 + 256]:
            value = []
            for least, width, split, gap in positions[:length]:
                code = bits & (1 << width) - 1
                bits >>= width
                value.append((least + code + (gap if code >= split else 0)) % 256)
            values.append(bytes(value))
    return values


def nested(r, n):
    """n byte strings in a codec that is named."""
    codec = r.number(1)
    return payload(codec, BYTES, 0, r.take(r.varint()), n)


def container(kind, path, shape, paths, leaves, at):
    """The bytes of an object or array that begins at `at` in its document."""
    tokens = [divmod(shape.varint(), 8) for _ in range(shape.varint())]
    keys = [paths[p][1] for p, _ in tokens] if kind == 5 else []
    assert all(paths[p][0] == path * 2 + (kind != 5) for p, _ in tokens), "member of another path"
    start = at + -at % 4 + 4 + 4 * (len(keys) + len(tokens))
    entries, body = [(0, key) for key in keys], b"".join(keys)
    for p, t in tokens:
        value = b""
        if t in (5, 6):
            value = container(t, p, shape, paths, leaves, start + len(body))
        elif t == 0:
            value = next(leaves[p][0])
        elif t == 1:
            number = next(leaves[p][1])
            size = len(number) + 4 if sys.byteorder == "big" else (len(number) + 4) * 4
            value = bytes(-(start + len(body)) % 4) + struct.pack("=I", size) + number
        entries.append((min(t, 5), value))
        body += value
    head = len(tokens) | {5: 0x20000000, 6: 0x40000000, 7: 0x50000000}[kind]
    out, end = bytes(-at % 4) + struct.pack("=I", head), 0
    for i, (t, value) in enumerate(entries):
        end += len(value)
        out += struct.pack("=I", t << 28 | (0x80000000 | end if i % 32 == 0 else len(value)))
    return out + body


def documents(data, n):
    r = Reader(data)
    total, npaths = r.varint(), r.varint()
    paths = [(None, None)]
    if npaths:
        parents = int_stream(r.take(r.varint()), npaths)
        paths += zip(parents, nested(r, npaths))
    shapes, leaves = nested(r, n), [None]
    for _ in range(npaths):
        columns = []
        for _ in range(2):
            count = r.varint()
            columns.append(iter(nested(r, count) if count else []))
        leaves.append(columns)
    values = []
    for shape in map(Reader, shapes):
        values.append(container(shape.number(1), 0, shape, paths, leaves, 0))
        assert shape.at == len(shape.data), "shape is too long"
    assert sum(map(len, values)) == total and r.at == len(data), "wrong length"
    return values


def float_planes(r, width, n):
    """Floats in a zstd frame, as bits: value after value, or byte plane after byte plane."""
    form = r.number(1)
    assert form < 2, "unknown form"
    raw = lz(ZSTD, r.rest(), n * width)
    return [int.from_bytes(raw[i::n] if form else raw[i * width:(i + 1) * width], "little") for i in range(n)]


def payload(codec, kind, width, data, n):
    """n values: byte strings, or numbers as unsigned bits."""
    r = Reader(data)
    if n == 0:
        return []
    if codec == CONSTANT:
        return [data if kind == BYTES else r.zigzag() if kind == INT else r.number(width)] * n
    if codec == DICTIONARY:
        nentries, nested = r.varint(), r.number(1)
        entries = payload(nested, kind, width, r.take(r.varint()), nentries)
        return [entries[code] for code in int_stream(r.rest(), n)]
    if codec == NUMERIC:
        return numeric(data, n)
    if codec == PACKED:
        return packed_strings(data, n)
    if codec == JSONB:
        return documents(data, n)
    if codec == LARGE:
        return large_strings(data, n)
    if kind == BYTES:
        return byte_strings(codec, data, n)
    if codec == RAW:
        return [r.number(width) for _ in range(n)]
    if codec == GORILLA:
        return gorilla(data, width, n)
    if codec == SIMPLE8B:
        return simple8b(data, n)
    if codec == ZSTD:
        return float_planes(r, width, n)
    return decimal(data, width, n) if codec == DECIMAL else int_stream(data, n)


def column(data):
    """kind, width and the rows of a column; None is null."""
    r = Reader(data)
    version, codec, shape, crc = r.number(1), r.number(1), r.number(1), r.number(4)
    assert version == 1, "unknown format version"
    if codec != LARGE:
        assert crc == crc32c(data[:3] + data[7:]), "wrong checksum"
    kind, mode, nrows = shape & 3, shape >> 4 & 3, r.count()
    width = 0 if kind == BYTES else 1 << (shape >> 2 & 3)
    nulls = [mode == 1] * nrows
    if mode > 1:
        nnulls = r.count()
        if mode == 3:
            nulls = [bool(bit) for bit in r.packed(nrows, 1)]
        else:
            nulls = []
            while len(nulls) < nrows:
                nulls += [False] * r.count()
                nulls += [True] * r.count() if len(nulls) < nrows else []
        assert sum(nulls) == nnulls and len(nulls) == nrows, "damaged null map"
    if codec == LARGE:      # the checksum is of what stands before the blocks
        head = Reader(data[r.at:])
        head.take(1)
        head.take(head.varint())
        assert crc == crc32c(data[:3] + data[7:r.at + head.at]), "wrong checksum"
    values = iter(payload(codec, kind, width, r.rest(), nrows - sum(nulls)))
    return kind, width, [None if null else next(values) for null in nulls]


def text(data):
    kind, width, rows = column(data)
    lines = ["%d %d %d" % (kind, width, len(rows))]
    for value in rows:
        if value is None:
            lines.append("\\N")
        elif kind == BYTES:
            lines.append("'" + value.hex())
        elif kind == FLOAT:
            lines.append("0x%0*x" % (width * 2, value))
        else:
            value &= (1 << width * 8) - 1
            lines.append(str(value - (1 << width * 8) if value >> width * 8 - 1 else value))
    return "\n".join(lines) + "\n"


def main(arguments):
    check = arguments[:1] == ["--check"]
    bad = 0
    for name in arguments[check:]:
        with open(name, "rb") as source:
            data = source.read()
        if not check:
            sys.stdout.write(text(data))
            continue
        with open(name[:-4] + ".txt", encoding="ascii") as source:
            if source.read() != text(data):
                print("%s differs" % name)
                bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
