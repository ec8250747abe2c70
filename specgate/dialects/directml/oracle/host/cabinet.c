/* What the build of 2.1 needs of Cabinet.dll, which Wine lacks: its shaders are packed as MSZIP, that is deflate.
 *
 * Packed data is a head of 24 bytes (the whole size at 8, the size of a block at 16) and blocks: 32 bits with the packed
 * size, the letters CK, a deflate stream. References reach back into the blocks before.
 */
#include <stdint.h>
#include <string.h>
#include <windows.h>

enum { HEAD = 24, MSZIP = 2, MAX_BITS = 15, LENGTHS = 288, DISTANCES = 30 };

/* A reader of bits, lowest first; `wrong` stays set once something was not as it should be. */
typedef struct {
    const uint8_t *next, *end;
    uint32_t held, count;
    int wrong;
} reader;

typedef struct { uint8_t *start, *next, *end; } writer;

/* A canonical code: how many codes there are of each length, and the symbols in the order of their codes. */
typedef struct { uint16_t count[MAX_BITS + 1], symbol[LENGTHS]; } code;

static uint32_t bits(reader *in, uint32_t wanted) {
    while (in->count < wanted) {
        if (in->next == in->end) {
            in->wrong = 1;
            return 0;
        }
        in->held |= (uint32_t)*in->next++ << in->count;
        in->count += 8;
    }
    uint32_t value = in->held & ((1u << wanted) - 1);
    in->held >>= wanted;
    in->count -= wanted;
    return value;
}

static void make_code(code *made, const uint8_t *lengths, int symbols) {
    uint16_t at[MAX_BITS + 2] = {0};
    memset(made, 0, sizeof *made);
    for (int i = 0; i < symbols; i++) made->count[lengths[i]]++;
    made->count[0] = 0;
    for (int length = 1; length <= MAX_BITS; length++) at[length + 1] = at[length] + made->count[length];
    for (int i = 0; i < symbols; i++)
        if (lengths[i]) made->symbol[at[lengths[i]]++] = (uint16_t)i;
}

static int symbol(reader *in, const code *from) {
    int value = 0, first = 0, index = 0;
    for (int length = 1; length <= MAX_BITS && !in->wrong; length++) {
        value |= (int)bits(in, 1);
        int count = from->count[length];
        if (value - first < count) return from->symbol[index + value - first];
        index += count;
        first = (first + count) << 1;
        value <<= 1;
    }
    in->wrong = 1;
    return 256;
}

static void copy_back(reader *in, writer *out, uint32_t length, uint32_t distance) {
    if (distance > (size_t)(out->next - out->start) || length > (size_t)(out->end - out->next)) {
        in->wrong = 1;
        return;
    }
    for (; length; length--, out->next++) *out->next = *(out->next - distance);
}

static void packed_block(reader *in, writer *out, const code *lengths, const code *distances) {
    while (!in->wrong) {
        int found = symbol(in, lengths);
        if (found == 256) return;
        if (found < 256) {
            if (out->next == out->end) in->wrong = 1;
            else *out->next++ = (uint8_t)found;
            continue;
        }
        uint32_t step = (uint32_t)found - 257, extra = step < 8 || step == 28 ? 0 : step / 4 - 1;
        if (step > 28) in->wrong = 1;
        uint32_t length = step < 8 ? 3 + step : step == 28 ? 258 : 3 + ((4 + step % 4) << extra) + bits(in, extra);
        step = (uint32_t)symbol(in, distances);
        if (step >= DISTANCES) in->wrong = 1;
        if (in->wrong) return;
        extra = step < 4 ? 0 : step / 2 - 1;
        copy_back(in, out, length, step < 4 ? 1 + step : 1 + ((2 + step % 2) << extra) + bits(in, extra));
    }
}

static void stored_block(reader *in, writer *out) {
    in->held = in->count = 0; /* the rest of the byte */
    uint32_t size = bits(in, 16);
    bits(in, 16); /* the same, inverted */
    if (in->wrong || size > (size_t)(in->end - in->next) || size > (size_t)(out->end - out->next)) {
        in->wrong = 1;
        return;
    }
    memcpy(out->next, in->next, size);
    in->next += size;
    out->next += size;
}

static void fixed_block(reader *in, writer *out) {
    uint8_t sizes[LENGTHS];
    code lengths, distances;
    for (int i = 0; i < LENGTHS; i++) sizes[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    make_code(&lengths, sizes, LENGTHS);
    memset(sizes, 5, DISTANCES);
    make_code(&distances, sizes, DISTANCES);
    packed_block(in, out, &lengths, &distances);
}

static void coded_block(reader *in, writer *out) {
    static const uint8_t order[] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    uint8_t sizes[LENGTHS + 32] = {0};
    code lengths, distances;
    uint32_t first = bits(in, 5) + 257, all = first + bits(in, 5) + 1, given = bits(in, 4) + 4, at = 0;
    if (first > 286 || all - first > DISTANCES) in->wrong = 1;
    for (uint32_t i = 0; i < given; i++) sizes[order[i]] = (uint8_t)bits(in, 3);
    make_code(&lengths, sizes, 19);
    memset(sizes, 0, sizeof sizes);
    while (at < all && !in->wrong) {
        int found = symbol(in, &lengths);
        if (found < 16) {
            sizes[at++] = (uint8_t)found;
            continue;
        }
        uint8_t again = found == 16 && at ? sizes[at - 1] : 0;
        uint32_t times = found == 16 ? 3 + bits(in, 2) : found == 17 ? 3 + bits(in, 3) : 11 + bits(in, 7);
        if ((found == 16 && !at) || found > 18 || times > all - at) in->wrong = 1;
        else for (; times; times--) sizes[at++] = again;
    }
    make_code(&lengths, sizes, (int)first);
    make_code(&distances, sizes + first, (int)(all - first));
    if (!in->wrong) packed_block(in, out, &lengths, &distances);
}

static int inflate(const uint8_t *data, size_t size, writer *out) {
    reader in = {data, data + size, 0, 0, 0};
    for (uint32_t last = 0; !last && !in.wrong;) {
        last = bits(&in, 1);
        uint32_t kind = bits(&in, 2);
        if (in.wrong || kind == 3) return 0;
        (kind == 0 ? stored_block : kind == 1 ? fixed_block : coded_block)(&in, out);
    }
    return !in.wrong;
}

/* The ordinals stand in cabinet.def. */

BOOL WINAPI CreateDecompressor(DWORD algorithm, void *routines, HANDLE *made) {
    (void)routines;
    if (algorithm != MSZIP) {
        SetLastError(ERROR_NOT_SUPPORTED);
        return FALSE;
    }
    *made = (HANDLE)1; /* there is nothing to remember */
    return TRUE;
}

BOOL WINAPI Decompress(HANDLE self, const void *data, SIZE_T size, void *made, SIZE_T room, SIZE_T *whole) {
    const uint8_t *next = data, *end = next + size;
    writer out = {made, made, NULL};
    uint64_t total;
    (void)self;
    SetLastError(ERROR_INVALID_DATA);
    if (size < HEAD) return FALSE;
    memcpy(&total, next + 8, 8);
    *whole = total;
    if (!made || room < total) {
        SetLastError(ERROR_INSUFFICIENT_BUFFER);
        return FALSE;
    }
    out.end = out.start + total;
    for (next += HEAD; out.next < out.end;) {
        uint32_t packed;
        if (end - next < 6) return FALSE;
        memcpy(&packed, next, 4);
        next += 4;
        if (packed < 2 || packed > (size_t)(end - next) || next[0] != 'C' || next[1] != 'K') return FALSE;
        uint8_t *before = out.next;
        if (!inflate(next + 2, packed - 2, &out) || out.next == before) return FALSE;
        next += packed;
    }
    SetLastError(ERROR_SUCCESS);
    return TRUE;
}

BOOL WINAPI CloseDecompressor(HANDLE self) {
    (void)self;
    return TRUE;
}
