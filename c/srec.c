/*
 * Reader of .srec files: see srec.h for how to use it and docs/format.md for what is checked and computed.
 *
 * From top to bottom: bytes, SHA-256, JSON, the container, metadata, tables, graph, ids and texts, arithmetic, questions.
 * Nothing is unpacked: rows, codes and edges are read from the file as they are needed, with a few marks in the arena
 * that say where to start reading. Every sum is exact (format, section 6), so its order is free; every other operation is
 * one float64 rounding in the order of the format.
 */
#include "srec.h"

#include <float.h>
#include <math.h>
#include <string.h>

#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 1
#error "float64 must be computed as float64: on 32-bit x86 compile with -msse2 -mfpmath=sse"
#endif

#define TRY(call) \
    do { \
        srec_code code_ = (call); \
        if (code_ != SREC_OK) return code_; \
    } while (0)

enum {
    HEADER_MOST = 1 << 20,
    FILE_MOST = 1 << 29, /* bits of a file then fit 32 bits */
    DIGEST_START = 35,
    DIGEST_END = 99,
    DEPTH_MOST = 64,
    MAJOR = 1,
    NODES_MOST = (1 << 24) - 1,
    DIM_MOST = 65536,
    LEVELS_MOST = 256,
    ROW_MOST = 4096,   /* entries of a row of gaps */
    BLOCK_ROWS = 4096, /* rows whose weighted sum is exact */
    GRAPH_CLASSES = 16,
    GAP_WIDEST = 24,
    CLASSES_MOST = 24, /* of gaps: wider ones are beyond any column */
    CODE_MOST = 8,     /* bits of the code of a class */
    WEIGHTS_MOST = 65,
    FOLDS_MOST = 64,
    GOLDEN_MOST = 64,
    ROW_BYTES = 12, /* counted of each row in memory */
    LEVEL_BYTES = 1,
    CLASS_BYTES = 8,
    CHUNK = 1024, /* columns of a block sum that are made at once */
    PIECE = 256,  /* entries of a row that are unpacked at once */
    TILE = 64,    /* rows that are scored at once */
    NAME_ROOM = 48
};

#define SAFE_INTEGER 9007199254740991.0
#define LARGEST_WEIGHT 1e6
#define LARGEST_TERM 1e6
#define GOLDEN_TOLERANCE 1e-6

/* ---- Bytes ---- */

static uint32_t u16_at(const uint8_t *at) { return (uint32_t)at[0] | (uint32_t)at[1] << 8; }

static uint32_t u32_at(const uint8_t *at) { return u16_at(at) | u16_at(at + 2) << 16; }

static uint64_t u64_at(const uint8_t *at) {
    return (uint64_t)at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16 | (uint64_t)at[3] << 24 | (uint64_t)at[4] << 32 |
           (uint64_t)at[5] << 40 | (uint64_t)at[6] << 48 | (uint64_t)at[7] << 56; /* one instruction, where compilers see it */
}

static double double_of(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double f32_at(const uint8_t *at) {
    uint32_t bits = u32_at(at);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double f16_at(const uint8_t *at) {
    uint32_t bits = u16_at(at), exponent = bits >> 10 & 31, fraction = bits & 1023;
    uint64_t wide = exponent == 31 ? 2047 : exponent + 1023 - 15;
    double size = exponent ? double_of(wide << 52 | (uint64_t)fraction << 42) : fraction * (1.0 / 16777216);
    return bits & 0x8000 ? -size : size;
}

static unsigned bit_length(uint32_t value) {
#ifdef __GNUC__
    return value ? 32 - (unsigned)__builtin_clz(value) : 0;
#else
    unsigned length = 0;
    for (; value; value >>= 1) length++;
    return length;
#endif
}

static unsigned low_zeros(uint32_t value) {
#ifdef __GNUC__
    return (unsigned)__builtin_ctz(value);
#else
    return bit_length(value & (0u - value)) - 1;
#endif
}

static unsigned low_zeros64(uint64_t value) {
#ifdef __GNUC__
    return (unsigned)__builtin_ctzll(value);
#else
    return (uint32_t)value ? low_zeros((uint32_t)value) : 32 + low_zeros((uint32_t)(value >> 32));
#endif
}

/* Smallest b with 2^b >= count. */
static unsigned bits_for(uint32_t count) { return count > 1 ? bit_length(count - 1) : 0; }

/* Whether bytes are valid UTF-8: shortest forms only, no surrogates, nothing beyond the last plane. */
static int is_utf8(const uint8_t *at, size_t length) {
    const uint8_t *end = at + length;
    while (at < end) {
        uint32_t value = *at++, more, least;
        if (value < 0x80) continue;
        if (value < 0xc2 || value > 0xf4) return 0;
        more = value < 0xe0 ? 1 : value < 0xf0 ? 2 : 3;
        least = more == 1 ? 0x80 : more == 2 ? 0x800 : 0x10000;
        if ((size_t)(end - at) < more) return 0;
        value &= 0x3fu >> more;
        for (; more; more--) {
            if ((*at & 0xc0) != 0x80) return 0;
            value = value << 6 | (*at++ & 0x3fu);
        }
        if (value < least || value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) return 0;
    }
    return 1;
}

/* ---- SHA-256 (FIPS 180-4) ---- */

static const uint32_t ROUND[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01,
    0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
    0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08,
    0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

typedef struct {
    uint32_t state[8];
    uint8_t block[64];
    uint64_t length;
} sha256;

static uint32_t rotated(uint32_t value, unsigned by) { return value >> by | value << (32 - by); }

static void sha256_block(uint32_t *state, const uint8_t *block) {
    uint32_t w[64], a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5], g = state[6], h = state[7];
    unsigned j;
    for (j = 0; j < 16; j++, block += 4) {
        w[j] = (uint32_t)block[0] << 24 | (uint32_t)block[1] << 16 | (uint32_t)block[2] << 8 | block[3];
    }
    for (; j < 64; j++) {
        uint32_t one = w[j - 15], two = w[j - 2];
        w[j] = w[j - 16] + (rotated(one, 7) ^ rotated(one, 18) ^ one >> 3) + w[j - 7] + (rotated(two, 17) ^ rotated(two, 19) ^ two >> 10);
    }
    for (j = 0; j < 64; j++) {
        uint32_t one = h + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) + ((e & f) ^ (~e & g)) + ROUND[j] + w[j];
        uint32_t two = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + one;
        d = c;
        c = b;
        b = a;
        a = one + two;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
    state[5] += f;
    state[6] += g;
    state[7] += h;
}

static void sha256_add(sha256 *hash, const uint8_t *bytes, size_t length) {
    while (length) {
        size_t held = hash->length % 64, part = 64 - held < length ? 64 - held : length;
        hash->length += part;
        if (part == 64) {
            sha256_block(hash->state, bytes);
        } else {
            memcpy(hash->block + held, bytes, part);
            if (held + part == 64) sha256_block(hash->state, hash->block);
        }
        bytes += part;
        length -= part;
    }
}

/* The 64 digits that belong in a file: its SHA-256 with those digits read as zeros. */
static void make_digest(const uint8_t *file, size_t size, uint8_t digits[DIGEST_END - DIGEST_START]) {
    sha256 hash = {{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}, {0}, 0};
    uint8_t end[72] = {0x80};
    uint64_t bits;
    size_t pad;
    unsigned j;
    memset(digits, '0', DIGEST_END - DIGEST_START);
    sha256_add(&hash, file, DIGEST_START);
    sha256_add(&hash, digits, DIGEST_END - DIGEST_START);
    sha256_add(&hash, file + DIGEST_END, size - DIGEST_END);
    bits = 8 * hash.length;
    pad = 1 + (119 - hash.length % 64) % 64;
    for (j = 0; j < 8; j++) end[pad + j] = (uint8_t)(bits >> (56 - 8 * j));
    sha256_add(&hash, end, pad + 8);
    for (j = 0; j < 64; j++) digits[j] = (uint8_t)"0123456789abcdef"[hash.state[j / 8] >> (28 - 4 * (j % 8)) & 15];
}

/* ---- JSON: a strict reader of text that is never copied ---- */

/*
 * A place in a text. Texts nest: the header is UTF-8 (level 0), a string in it that holds JSON is read through its
 * escapes (level 1), and strings in that through two layers of escapes (level 2).
 */
typedef struct {
    const uint8_t *at, *end;
    int level;
} cursor;

static int32_t hex_digit(int32_t character) {
    if (character >= '0' && character <= '9') return character - '0';
    character |= 32;
    return character >= 'a' && character <= 'f' ? character - 'a' + 10 : -1;
}

static int32_t take_at(cursor *text, int level);

/* Four hexadecimal digits, or -1. */
static int32_t take_unit(cursor *text, int level) {
    int32_t value = 0, j;
    for (j = 0; j < 4; j++) {
        int32_t digit = hex_digit(take_at(text, level));
        if (digit < 0) return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* What a backslash and the characters after it stand for; the text was checked before. */
static int32_t take_escape(cursor *text, int level) {
    int32_t character = take_at(text, level), unit;
    cursor next;
    switch (character) {
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'u': break;
    default: return character;
    }
    unit = take_unit(text, level);
    if (unit < 0xd800 || unit > 0xdbff) return unit;
    next = *text;
    if (take_at(&next, level) == '\\' && take_at(&next, level) == 'u') {
        int32_t low = take_unit(&next, level);
        if (low >= 0xdc00 && low <= 0xdfff) {
            *text = next;
            return 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
        }
    }
    return unit; /* half a pair by itself */
}

static int32_t take_at(cursor *text, int level) {
    int32_t value, more;
    if (level) {
        value = take_at(text, level - 1);
        return value == '\\' ? take_escape(text, level - 1) : value;
    }
    if (text->at >= text->end) return -1;
    value = *text->at++;
    if (value < 0x80) return value;
    more = value < 0xe0 ? 1 : value < 0xf0 ? 2 : 3; /* valid UTF-8, so all of them are there */
    value &= 0x3f >> more;
    for (; more && text->at < text->end; more--) value = value << 6 | (*text->at++ & 0x3f);
    return value;
}

/* The next character, or -1 at the end. */
static int32_t take(cursor *text) { return take_at(text, text->level); }

static int32_t look(const cursor *text) {
    cursor copy = *text;
    return take(&copy);
}

static int32_t look_past_space(cursor *text) {
    for (;;) {
        cursor next = *text;
        int32_t character = take(&next);
        if (character != ' ' && character != '\t' && character != '\n' && character != '\r') return character;
        *text = next;
    }
}

/* Past a string; `content` is what stands between its quotes. 0 if it is not well formed. */
static int skip_string(cursor *text, cursor *content) {
    if (take(text) != '"') return 0;
    content->at = text->at;
    content->level = text->level + 1;
    for (;;) {
        int32_t character;
        content->end = text->at;
        character = take(text);
        if (character < 0x20) return 0;
        if (character == '"') return 1;
        if (character != '\\') continue;
        character = take(text);
        if (character == 'u' ? take_unit(text, text->level) < 0 : character < 1 || character > 127 || !strchr("\"\\/bfnrt", character)) {
            return 0;
        }
    }
}

static int skip_digits(cursor *text) {
    int any = 0;
    while (look(text) >= '0' && look(text) <= '9') any = take(text);
    return any != 0;
}

static int skip_number(cursor *text) {
    int32_t character;
    if (look(text) == '-') take(text);
    if (look(text) == '0') {
        take(text);
    } else if (!skip_digits(text)) {
        return 0;
    }
    if (look(text) == '.') {
        take(text);
        if (!skip_digits(text)) return 0;
    }
    character = look(text);
    if (character != 'e' && character != 'E') return 1;
    take(text);
    character = look(text);
    if (character == '+' || character == '-') take(text);
    return skip_digits(text);
}

static int skip_word(cursor *text, const char *word) {
    for (; *word; word++) {
        if (take(text) != *word) return 0;
    }
    return 1;
}

static int skip_scalar(cursor *text) {
    cursor content;
    switch (look(text)) {
    case '"': return skip_string(text, &content);
    case 't': return skip_word(text, "true");
    case 'f': return skip_word(text, "false");
    case 'n': return skip_word(text, "null");
    default: return skip_number(text);
    }
}

static int skip_key(cursor *text, cursor *key) {
    look_past_space(text);
    if (!skip_string(text, key)) return 0;
    look_past_space(text);
    if (take(text) != ':') return 0;
    look_past_space(text);
    return 1;
}

/* Past the brackets that close here and a comma: 1 if another value follows, 0 if the outermost one ended, -1 if wrong. */
static int skip_closing(cursor *text, int *depth, uint64_t *objects) {
    cursor key;
    while (*depth) {
        int32_t character;
        look_past_space(text);
        character = take(text);
        if (character == ',') return !(*objects & 1) || skip_key(text, &key) ? 1 : -1;
        if (character != (*objects & 1 ? '}' : ']')) return -1;
        --*depth;
        *objects >>= 1;
    }
    return 0;
}

/* Past one value of any kind; 0 if it is not well formed or too deep. No recursion: a bit for each open bracket. */
static int skip_value(cursor *text) {
    uint64_t objects = 0;
    int depth = 0, more;
    cursor key;
    do {
        int32_t character = look_past_space(text);
        if (character == '{' || character == '[') {
            if (depth++ == DEPTH_MOST) return 0;
            take(text);
            objects = objects << 1 | (character == '{');
            if (look_past_space(text) != character + 2) { /* in ASCII a bracket closes two after it opens */
                if (character == '{' && !skip_key(text, &key)) return 0;
                more = 1;
                continue;
            }
        } else if (!skip_scalar(text)) {
            return 0;
        }
        more = skip_closing(text, &depth, &objects);
    } while (more > 0);
    return more == 0;
}

/* Whether a text is one JSON value; `value` is then at its first character. */
static int is_json(cursor text, cursor *value) {
    look_past_space(&text);
    *value = text;
    return skip_value(&text) && look_past_space(&text) < 0;
}

/* The next member of an object, whose brace `at` is at before the first call; 0 at the end. The text is well formed. */
static int next_member(cursor *at, cursor *key, cursor *value) {
    look_past_space(at);
    if (take(at) == '}' || look_past_space(at) == '}') return 0;
    skip_key(at, key);
    *value = *at;
    return skip_value(at);
}

/* The next element of a list, likewise. */
static int next_element(cursor *at, cursor *value) {
    look_past_space(at);
    if (take(at) == ']' || look_past_space(at) == ']') return 0;
    *value = *at;
    return skip_value(at);
}

/* Order of two texts by their characters. */
static int compare_texts(cursor a, cursor b) {
    int32_t one, other;
    do {
        one = take(&a);
        other = take(&b);
    } while (one == other && one >= 0);
    return one < other ? -1 : one > other;
}

static cursor plain_text(const char *name) {
    cursor text;
    text.at = (const uint8_t *)name;
    text.end = text.at + strlen(name);
    text.level = 0;
    return text;
}

/* The value of a key; of the last one where it occurs twice, as other readers of JSON have it. */
static int find_member(cursor object, const char *name, cursor *found) {
    cursor key, value;
    int any = 0;
    if (look(&object) != '{') return 0;
    while (next_member(&object, &key, &value)) {
        if (compare_texts(key, plain_text(name)) == 0) {
            *found = value;
            any = 1;
        }
    }
    return any;
}

static int string_content(cursor value, cursor *content) {
    return look(&value) == '"' && skip_string(&value, content);
}

static int string_is(cursor value, const char *expected) {
    cursor content;
    return string_content(value, &content) && compare_texts(content, plain_text(expected)) == 0;
}

/* ---- Decimal numbers to float64, rightly rounded, whatever the locale ---- */

enum { LIMBS = 44 };

typedef struct {
    uint32_t limb[LIMBS];
    int count;
} big;

static void big_set(big *number, uint64_t value) {
    memset(number, 0, sizeof *number);
    number->limb[0] = (uint32_t)value;
    number->limb[1] = (uint32_t)(value >> 32);
    number->count = value >> 32 ? 2 : 1;
}

static void big_multiply(big *number, uint32_t factor) {
    uint64_t carry = 0;
    int j;
    for (j = 0; j < number->count; j++) {
        carry += (uint64_t)number->limb[j] * factor;
        number->limb[j] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry && number->count < LIMBS) number->limb[number->count++] = (uint32_t)carry;
}

static void big_power(big *number, int power) {
    for (; power >= 9; power -= 9) big_multiply(number, 1000000000);
    for (; power > 0; power--) big_multiply(number, 10);
}

static int big_bits(const big *number) { return 32 * (number->count - 1) + (int)bit_length(number->limb[number->count - 1]); }

static void big_shift(big *number, int by) {
    for (; by >= 31; by -= 31) big_multiply(number, 1u << 31);
    if (by > 0) big_multiply(number, 1u << by);
}

static int big_compare(const big *a, const big *b) {
    int j = (a->count > b->count ? a->count : b->count) - 1;
    for (; j >= 0; j--) {
        if (a->limb[j] != b->limb[j]) return a->limb[j] < b->limb[j] ? -1 : 1;
    }
    return 0;
}

static void big_subtract(big *a, const big *b) {
    uint64_t borrow = 0;
    int j;
    for (j = 0; j < a->count; j++) {
        uint64_t difference = (uint64_t)a->limb[j] - b->limb[j] - borrow;
        a->limb[j] = (uint32_t)difference;
        borrow = difference >> 63;
    }
    while (a->count > 1 && !a->limb[a->count - 1]) a->count--;
}

/* digits * 10^power, digits at most 19 of them; `more`: non-zero digits were left off after them. */
static double scaled_decimal(uint64_t digits, int power, int more) {
    big top, bottom;
    uint64_t quotient = 0;
    double small = 1.0;
    int shift, j;
    if (!digits || power < -400) return 0.0;
    if (power > 310) return HUGE_VAL;
    if (!more && digits <= (uint64_t)SAFE_INTEGER && power >= -22 && power <= 22) { /* both exact: one rounding */
        for (j = 0; j < power || j < -power; j++) small *= 10.0;
        return power < 0 ? (double)digits / small : (double)digits * small;
    }
    big_set(&top, digits);
    big_set(&bottom, 1);
    big_power(power < 0 ? &bottom : &top, power < 0 ? -power : power);
    shift = big_bits(&bottom) - big_bits(&top);
    if (shift > 0) big_shift(&top, shift);
    if (shift < 0) big_shift(&bottom, -shift);
    for (j = 0; j < 64; j++) { /* the ratio is between 1/2 and 2: 63 bits of quotient or more, then a sticky one */
        quotient <<= 1;
        if (big_compare(&top, &bottom) >= 0) {
            big_subtract(&top, &bottom);
            quotient |= 1;
        }
        big_multiply(&top, 2);
    }
    if (more || top.count > 1 || top.limb[0]) quotient |= 1;
    return ldexp((double)quotient, -63 - shift);
}

/* A number; 0 if the value is something else. */
static int number_of(cursor value, double *number) {
    uint64_t digits = 0;
    int negative, power = 0, after_point = 0, more = 0, exponent = 0, sign = 1;
    int32_t character = take(&value);
    negative = character == '-';
    if (negative) character = take(&value);
    if (character < '0' || character > '9') return 0;
    for (; (character >= '0' && character <= '9') || character == '.'; character = take(&value)) {
        if (character == '.') {
            after_point = 1;
        } else if (digits < 1000000000000000000u) {
            digits = 10 * digits + (uint64_t)(character - '0');
            power -= after_point;
        } else {
            more |= character != '0';
            power += !after_point;
        }
    }
    if (character == 'e' || character == 'E') {
        character = take(&value);
        if (character == '-' || character == '+') {
            sign = character == '-' ? -1 : 1;
            character = take(&value);
        }
        for (; character >= '0' && character <= '9'; character = take(&value)) {
            if (exponent < 10000000) exponent = 10 * exponent + (character - '0');
        }
    }
    *number = scaled_decimal(digits, power + sign * exponent, more);
    if (negative) *number = -*number;
    return 1;
}

/* An integer, however it is written (16.0, 1e2), that float64 holds exactly. */
static int integer_of(cursor value, double *number) {
    return number_of(value, number) && fabs(*number) <= SAFE_INTEGER && floor(*number) == *number;
}

static int count_of(cursor value, uint64_t *count) {
    double number;
    if (!integer_of(value, &number) || number < 0) return 0;
    *count = (uint64_t)number;
    return 1;
}

/* ---- What a model is made of ---- */

enum { F64, I64, U64, F32, I32, U32, F16, BF16, I16, U16, I8, U8, BOOL, TYPES };

static const struct {
    char name[5];
    uint8_t size;
} TYPE[TYPES] = {{"F64", 8}, {"I64", 8}, {"U64", 8}, {"F32", 4}, {"I32", 4}, {"U32", 4}, {"F16", 2},
                 {"BF16", 2}, {"I16", 2}, {"U16", 2}, {"I8", 1}, {"U8", 1}, {"BOOL", 1}};

#define ONE_OF(type) (1u << (type))
#define COUNTS (ONE_OF(U8) | ONE_OF(U16) | ONE_OF(U32))
#define ANY UINT32_MAX

/* A member of the header: places of its key and value in the file and, once checked, the tensor it describes. */
typedef struct {
    uint32_t key, key_end, value, order;
    uint32_t begin, end; /* in the payload */
    uint32_t shape[2];   /* as much as a reader needs; ANY where a size is beyond 32 bits */
    uint8_t type, rank;
} record;

/* A tensor whose type and shape are right. */
typedef struct {
    const uint8_t *at;
    uint32_t count; /* elements */
    uint8_t type;
} view;

/* Numbers of so many bits back to back, each a place in a short table. */
typedef struct {
    const uint8_t *at;
    unsigned bits;
} levels;

enum { CODES_BYTES, CODES_HALVES, CODES_LEVELS };
enum { ALL_COLUMNS, MASK, INDEX, PREFIX, GAPS };
enum { SCALE_ROWS, SCALE_LEVELS, SCALE_UNIT, SCALE_ONE };

/* The scales of rows: one stored for each, or as levels, or what makes a row as long as one, or 1. */
typedef struct {
    int kind;
    view value;
    levels level;
} scales;

/* Sparse rows, in any of the encodings of sections 4.1 and 4.2. */
typedef struct {
    uint32_t rows, dim;
    scales scale;
    int codes;
    view code; /* codes, or the values that they take */
    levels code_level;
    int positions;
    const uint8_t *mask; /* or columns */
    uint32_t width;      /* bytes of a row of the mask, or of a column */
    view count;          /* entries of each row, or of all, or the values they take */
    levels count_level;
    const uint8_t *high, *low; /* streams of gaps; of gaps in classes their codes and the bits behind them */
    const uint8_t *end;        /* of the file */
    uint8_t *class_of;         /* of gaps in classes: what a byte begins with, after that the lengths of the codes */
    uint32_t rounds;           /* most entries of a row of gaps */
    unsigned shift;            /* marks stand at every 2^shift rows */
    uint32_t *mark;            /* entries before that row */
    uint32_t *gap_mark;        /* the bits of both streams before it, for each round unless gaps are in classes */
} rows;

/* A table: rows, or product codes whose codebooks are rows. */
typedef struct {
    rows row;
    uint32_t slices, entries; /* 0 slices: no product codes */
    levels part;
    scales scale;
    uint32_t count; /* rows of the table */
} table;

typedef struct {
    view offset;
    const uint8_t *text;
    uint32_t count;
} texts;

enum { IDS_RANGE, IDS_INT, IDS_STRING };

typedef struct {
    int kind;
    uint32_t count;
    view number;
    texts text;
    view order;
    int ordered;
} ids;

typedef struct {
    view count;
    const uint8_t *classes, *extra;
    uint8_t width[GRAPH_CLASSES];
    uint32_t base[GRAPH_CLASSES];
    unsigned grid_bits;
} graph;

typedef struct {
    srec_mode mode;
    uint32_t items, users, dim, fold_tables;
    int self_loops, item_ids, user_ids, weighted;
    double size_power;
    cursor base, user_id; /* user_id.at is NULL where there is none */
} profile;

/* Bytes handed out from one end, never given back. */
typedef struct {
    uint8_t *at, *end;
} arena;

struct srec_model {
    const uint8_t *file;
    size_t size, payload;
    cursor header, metadata;
    arena arena;
    record *records;
    uint32_t record_count;
    int minor;
    profile profile;
    double weight[WEIGHTS_MOST];
    uint32_t weight_count;
    table *tables; /* score, layer0 or lists, then fold.0 .. */
    uint32_t table_count;
    view degree, fold_weight, term, vector, seen, popularity, norm;
    levels degree_level, weight_level, term_level;
    uint32_t *item_degree; /* in full: counted */
    graph graph;
    texts titles, tag_names;
    const uint8_t *tag_bits;
    ids items, users;
    cursor golden;
    uint32_t golden_count;
    char where[SREC_WHERE];
    uint64_t left; /* of what the file may unpack to, whatever this reader unpacks */
    /* room to work in */
    uint8_t *bits[2];        /* a bit for each item, twice */
    double *vector_room[3];  /* of `dim` numbers: the user's vector, another, and one snapped to a grid */
    double *chunk;           /* a block sum */
    double *sums, *squares;  /* of the rows scored at once */
    uint32_t *next, *starts; /* of the rows of a block of gaps */
    uint32_t *columns;       /* of one row of gaps */
    double *lookup;          /* of product codes: a number for each entry of the codebooks, twice */
    double *work;            /* neighbours: scores; full: three vectors over the nodes */
};

static srec_code fail(srec_model *model, srec_code code, const char *where) {
    size_t length = strlen(where);
    if (length >= SREC_WHERE) length = SREC_WHERE - 1;
    memcpy(model->where, where, length);
    model->where[length] = 0;
    return code;
}

/* Counts what other readers unpack: all must refuse the same files. */
static srec_code count_memory(srec_model *model, uint64_t count, uint32_t bytes, const char *where) {
    if (count * bytes > model->left) return fail(model, SREC_TOO_LARGE, where);
    model->left -= count * bytes;
    return SREC_OK;
}

static uint64_t memory_most(const srec_model *model) { return 10 * (uint64_t)model->size + (1 << 20); }

static uint32_t column_bytes(uint32_t dim) { return dim <= 1 << 8 ? 1 : dim <= 1 << 16 ? 2 : 4; }

static const char *joined(char room[NAME_ROOM], const char *name, const char *part) {
    size_t length = strlen(name);
    memcpy(room, name, length);
    memcpy(room + length, part, strlen(part) + 1);
    return room;
}

/* ---- Container ---- */

static cursor at_value(const srec_model *model, const record *entry) {
    cursor value = model->header;
    value.at = model->file + entry->value;
    return value;
}

static cursor key_of(const srec_model *model, const record *entry) {
    cursor key;
    key.at = model->file + entry->key;
    key.end = model->file + entry->key_end;
    key.level = 1;
    return key;
}

static int by_key(const srec_model *model, const record *a, const record *b) {
    int order = compare_texts(key_of(model, a), key_of(model, b));
    return order ? order < 0 : a->order < b->order;
}

static int by_place(const srec_model *model, const record *a, const record *b) {
    (void)model;
    return a->begin != b->begin ? a->begin < b->begin : a->end != b->end ? a->end < b->end : a->order < b->order;
}

typedef int before(const srec_model *model, const record *a, const record *b);

static void sift_record(const srec_model *model, record *heap, uint32_t at, uint32_t count, before *is_before) {
    for (;;) {
        uint32_t child = 2 * at + 1;
        record held;
        if (child >= count) return;
        if (child + 1 < count && is_before(model, heap + child, heap + child + 1)) child++;
        if (!is_before(model, heap + at, heap + child)) return;
        held = heap[at];
        heap[at] = heap[child];
        heap[child] = held;
        at = child;
    }
}

/* Heapsort: in place, without recursion, and never slow. */
static void sort_records(const srec_model *model, before *is_before) {
    uint32_t count = model->record_count, j;
    for (j = count / 2; j-- > 0;) sift_record(model, model->records, j, count, is_before);
    for (j = count; j-- > 1;) {
        record held = model->records[0];
        model->records[0] = model->records[j];
        model->records[j] = held;
        sift_record(model, model->records, 0, j, is_before);
    }
}

static uint32_t member_count(cursor object) {
    cursor key, value;
    uint32_t count = 0;
    if (look(&object) != '{') return 0;
    while (next_member(&object, &key, &value)) count++;
    return count;
}

/* The members of an object as records, sorted by key; of equal keys the last value counts. */
static void collect(srec_model *model, cursor object) {
    cursor key, value;
    uint32_t count = 0, j;
    while (next_member(&object, &key, &value)) {
        record *entry = model->records + count;
        memset(entry, 0, sizeof *entry);
        entry->key = (uint32_t)(key.at - model->file);
        entry->key_end = (uint32_t)(key.end - model->file);
        entry->value = (uint32_t)(value.at - model->file);
        entry->order = count++;
    }
    model->record_count = count;
    sort_records(model, by_key);
    for (count = 0, j = 0; j < model->record_count; j++) {
        record *last = model->records + count;
        if (count && compare_texts(key_of(model, last - 1), key_of(model, model->records + j)) == 0) {
            last[-1].value = model->records[j].value;
        } else {
            model->records[count++] = model->records[j];
        }
    }
    model->record_count = count;
}

static int is_prefix(const uint8_t *header, size_t length) {
    static const char PREFIX[] = "{\"__metadata__\":{\"sha256\":\"";
    size_t prefix = sizeof PREFIX - 1, j;
    if (length < prefix + 65 || memcmp(header, PREFIX, prefix) || header[prefix + 64] != '"') return 0;
    for (j = prefix; j < prefix + 64; j++) {
        if (!(header[j] >= '0' && header[j] <= '9') && !(header[j] >= 'a' && header[j] <= 'f')) return 0;
    }
    return 1;
}

/* What can be said of a file without any room: its header is there and is JSON. Sets model->header and model->metadata. */
static srec_code check_header(srec_model *model, const uint8_t *file, size_t size) {
    uint64_t length;
    cursor text;
    memset(model, 0, sizeof *model);
    model->file = file;
    model->size = size;
    if (size < 8) return fail(model, SREC_TRUNCATED, "header length");
    length = u64_at(file);
    if (length > HEADER_MOST) return fail(model, SREC_HEADER_TOO_LARGE, "header length");
    if (size - 8 < length) return fail(model, SREC_TRUNCATED, "header");
    if (size >= FILE_MOST) return fail(model, SREC_FILE_ERROR, "size of the file");
    model->payload = 8 + (size_t)length;
    if (!is_prefix(file + 8, (size_t)length)) return fail(model, SREC_NOT_SREC, "header");
    if (length % 8) return fail(model, SREC_HEADER_NOT_PADDED, "header length");
    if (!is_utf8(file + 8, (size_t)length)) return fail(model, SREC_HEADER_NOT_UTF8, "header");
    text.at = file + 8;
    text.end = file + model->payload;
    text.level = 0;
    if (!is_json(text, &model->header)) return fail(model, SREC_HEADER_NOT_JSON, "header");
    find_member(model->header, "__metadata__", &model->metadata);
    return SREC_OK;
}

/* MAJOR.MINOR, each of one to six digits. */
static int version_of(cursor text, int32_t *major, int32_t *minor) {
    int32_t number[2] = {0, 0}, part, digits, character = 0;
    for (part = 0; part < 2; part++) {
        for (digits = 0; (character = take(&text)) >= '0' && character <= '9'; digits++) {
            if (digits == 6) return 0;
            number[part] = 10 * number[part] + character - '0';
        }
        if (!digits || character != (part ? -1 : '.')) return 0;
    }
    *major = number[0];
    *minor = number[1];
    return 1;
}

static srec_code check_metadata(srec_model *model) {
    cursor value, version;
    int32_t major = 0, minor = 0;
    uint32_t j;
    if (look(&model->metadata) != '{') return fail(model, SREC_BAD_METADATA, "__metadata__");
    collect(model, model->metadata);
    for (j = 0; j < model->record_count; j++) {
        value = at_value(model, model->records + j);
        if (look(&value) != '"') return fail(model, SREC_BAD_METADATA, "__metadata__");
    }
    if (!find_member(model->metadata, "format", &value) || !string_is(value, "srec")) {
        return fail(model, SREC_BAD_METADATA, "format");
    }
    if (!find_member(model->metadata, "version", &value) || !string_content(value, &version) ||
        !version_of(version, &major, &minor)) {
        return fail(model, SREC_BAD_METADATA, "version");
    }
    if (major > MAJOR) return fail(model, SREC_NEWER_VERSION, "version");
    if (major < 1) return fail(model, SREC_BAD_METADATA, "version");
    model->minor = minor;
    return SREC_OK;
}

/* Elements of a list of counts, the first few of them kept; -1 if it is something else, or longer than `most`. */
static int counts_of(cursor list, int most, uint64_t *counts) {
    cursor value;
    int length = 0;
    if (look(&list) != '[') return -1;
    while (next_element(&list, &value)) {
        if (length == most || !count_of(value, counts + length)) return -1;
        length++;
    }
    return length;
}

/* What the header says of a tensor. */
static srec_code read_entry(const srec_model *model, cursor value, record *entry) {
    uint64_t shape[8] = {0}, offsets[2] = {0}, bytes, payload = model->size - model->payload;
    cursor dtype, list;
    int rank, j;
    if (look(&value) != '{' || !find_member(value, "dtype", &dtype) || look(&dtype) != '"') return SREC_BAD_TENSOR_ENTRY;
    if (!find_member(value, "shape", &list)) return SREC_BAD_TENSOR_ENTRY;
    rank = counts_of(list, 8, shape);
    if (rank < 0 || !find_member(value, "data_offsets", &list) || counts_of(list, 2, offsets) != 2) {
        return SREC_BAD_TENSOR_ENTRY;
    }
    for (entry->type = 0; entry->type < TYPES && !string_is(dtype, TYPE[entry->type].name);) entry->type++;
    if (entry->type == TYPES) return SREC_UNKNOWN_DTYPE;
    if (offsets[1] > payload) return SREC_OFFSET_OUT_OF_RANGE;
    bytes = TYPE[entry->type].size;
    for (j = 0; j < rank; j++) {
        if (!shape[j]) bytes = 0;
    }
    for (j = 0; j < rank && bytes; j++) {
        if (shape[j] > payload / bytes) return SREC_WRONG_LENGTH; /* more than there is */
        bytes *= shape[j];
    }
    if (offsets[0] > offsets[1] || offsets[1] - offsets[0] != bytes) return SREC_WRONG_LENGTH;
    if (offsets[0] % TYPE[entry->type].size) return SREC_MISALIGNED;
    entry->begin = (uint32_t)offsets[0];
    entry->end = (uint32_t)offsets[1];
    entry->rank = (uint8_t)rank;
    for (j = 0; j < 2; j++) entry->shape[j] = shape[j] < ANY ? (uint32_t)shape[j] : ANY;
    return SREC_OK;
}

/* Names may hold anything, so what is shown of one is what is plain. */
static srec_code fail_at(srec_model *model, srec_code code, const record *entry) {
    char name[SREC_WHERE] = "";
    cursor key = key_of(model, entry);
    size_t length = 0;
    int32_t character;
    while (length + 1 < sizeof name && (character = take(&key)) >= 0) {
        name[length++] = character >= 32 && character < 127 ? (char)character : '?';
    }
    return fail(model, code, name);
}

static srec_code check_coverage(srec_model *model) {
    uint32_t position = 0, j;
    sort_records(model, by_place);
    for (j = 0; j < model->record_count; j++) {
        const record *entry = model->records + j;
        if (entry->begin < position) return fail_at(model, SREC_OVERLAPPING_TENSORS, entry);
        if (entry->begin > position) return fail_at(model, SREC_HOLE_IN_PAYLOAD, entry);
        position = entry->end;
    }
    return position == model->size - model->payload ? SREC_OK : fail(model, SREC_HOLE_IN_PAYLOAD, "end of the file");
}

/* The rest of section 1: leaves the tensors sorted by name. */
static srec_code check_container(srec_model *model) {
    uint8_t digits[DIGEST_END - DIGEST_START];
    uint32_t j, worst = 0;
    srec_code first = SREC_OK;
    TRY(check_metadata(model));
    collect(model, model->header);
    for (j = 0; compare_texts(key_of(model, model->records + j), plain_text("__metadata__")); j++) {}
    memmove(model->records + j, model->records + j + 1, (--model->record_count - j) * sizeof *model->records);
    for (j = 0; j < model->record_count; j++) { /* each check of all tensors comes before the next: the first code counts */
        srec_code code = read_entry(model, at_value(model, model->records + j), model->records + j);
        if (code && (!first || code < first)) {
            first = code;
            worst = j;
        }
    }
    if (first) return fail_at(model, first, model->records + worst);
    TRY(check_coverage(model));
    sort_records(model, by_key);
    make_digest(model->file, model->size, digits);
    if (memcmp(digits, model->file + DIGEST_START, sizeof digits)) return fail(model, SREC_WRONG_CHECKSUM, "checksum");
    return SREC_OK;
}

static const record *find_record(const srec_model *model, const char *name) {
    uint32_t low = 0, high = model->record_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        int order = compare_texts(key_of(model, model->records + middle), plain_text(name));
        if (!order) return model->records + middle;
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

static int has(const srec_model *model, const char *name, const char *part) {
    char room[NAME_ROOM];
    return find_record(model, joined(room, name, part)) != NULL;
}

static view view_of(const srec_model *model, const record *entry) {
    view found;
    found.at = model->file + model->payload + entry->begin;
    found.count = (entry->end - entry->begin) / TYPE[entry->type].size;
    found.type = entry->type;
    return found;
}

/* A tensor that must have one of these types and this shape (ANY: any size). */
static srec_code get_shape(srec_model *model, const char *name, const char *part, unsigned types, const uint32_t *shape,
                           int rank, view *found) {
    char room[NAME_ROOM];
    const record *entry = find_record(model, joined(room, name, part));
    int j;
    if (!entry) return fail(model, SREC_MISSING_TENSOR, room);
    if (!(types & ONE_OF(entry->type)) || entry->rank != rank) return fail(model, SREC_WRONG_TENSOR, room);
    for (j = 0; j < rank; j++) {
        if (shape[j] != ANY && shape[j] != entry->shape[j]) return fail(model, SREC_WRONG_TENSOR, room);
    }
    *found = view_of(model, entry);
    return SREC_OK;
}

static srec_code get(srec_model *model, const char *name, const char *part, unsigned types, uint32_t count, view *found) {
    return get_shape(model, name, part, types, &count, 1, found);
}

static uint32_t count_at(const view *counts, uint32_t at) {
    switch (counts->type) {
    case U8: return counts->at[at];
    case U16: return u16_at(counts->at + 2 * (size_t)at);
    default: return u32_at(counts->at + 4 * (size_t)at);
    }
}

static double real_at(const view *reals, uint32_t at) {
    return reals->type == F16 ? f16_at(reals->at + 2 * (size_t)at) : f32_at(reals->at + 4 * (size_t)at);
}

/* ---- Metadata ---- */

static int count_between(cursor object, const char *name, uint32_t least, uint32_t most, uint32_t *count) {
    cursor value;
    uint64_t number;
    if (!find_member(object, name, &value) || !count_of(value, &number) || number < least || number > most) return 0;
    *count = (uint32_t)number;
    return 1;
}

/* Which of some words a member is, or -1. */
static int one_of(cursor object, const char *name, const char *const *words, int count) {
    cursor value;
    if (!find_member(object, name, &value)) return -1;
    while (count-- > 0 && !string_is(value, words[count])) {}
    return count;
}

static int user_id_of(cursor object, cursor *user_id) {
    double number;
    user_id->at = NULL;
    if (!find_member(object, "user_id", user_id)) return 1;
    if (look(user_id) == 'n') {
        user_id->at = NULL;
        return 1;
    }
    return look(user_id) == '"' || integer_of(*user_id, &number);
}

static int fold_in_of(cursor object, profile *found) {
    cursor fold_in, power;
    int there = find_member(object, "fold_in", &fold_in);
    found->weighted = there || found->mode == SREC_NEIGHBOURS;
    if (!found->weighted) return 1;
    if (!there || found->mode == SREC_FULL || found->self_loops) return 0;
    return find_member(fold_in, "size_power", &power) && number_of(power, &found->size_power) &&
           (found->size_power == 0.0 || found->size_power == 0.5 || found->size_power == 1.0);
}

/* The JSON object that a key of the metadata holds as text. */
static int object_of(cursor metadata, const char *name, cursor *object) {
    cursor value, text;
    return find_member(metadata, name, &value) && string_content(value, &text) && is_json(text, object) &&
           look(object) == '{';
}

/* The field that is wrong, or NULL. */
static const char *read_profile(cursor metadata, profile *found) {
    static const char *const MODES[] = {"items", "full", "personal", "neighbours"};
    static const char *const KINDS[] = {"range", "int", "string"};
    cursor raw, value;
    int full, alone, mode;
    memset(found, 0, sizeof *found);
    if (!object_of(metadata, "model", &raw)) return "model";
    mode = one_of(raw, "mode", MODES, 4);
    if (mode < 0) return "model.mode";
    found->mode = (srec_mode)mode;
    full = found->mode == SREC_FULL;
    if (!count_between(raw, "items", 1, NODES_MOST, &found->items)) return "model.items";
    if (!count_between(raw, "users", full, NODES_MOST, &found->users)) return "model.users";
    if (!count_between(raw, "dim", 1, DIM_MOST, &found->dim)) return "model.dim";
    if (!find_member(raw, "self_loops", &value) || (look(&value) != 't' && look(&value) != 'f')) return "model.self_loops";
    found->self_loops = look(&value) == 't';
    alone = full || found->mode == SREC_NEIGHBOURS; /* one table makes users and scores */
    if (!count_between(raw, "fold_tables", 0, alone ? 0 : found->self_loops ? FOLDS_MOST : 1, &found->fold_tables)) {
        return "model.fold_tables";
    }
    found->item_ids = one_of(raw, "item_ids", KINDS, 3);
    if (found->item_ids < 0) return "model.item_ids";
    found->user_ids = full ? one_of(raw, "user_ids", KINDS, 3) : 0;
    if (found->user_ids < 0) return "model.user_ids";
    if (!find_member(raw, "base", &found->base) || look(&found->base) != '"') return "model.base";
    if (found->mode == SREC_PERSONAL && !user_id_of(raw, &found->user_id)) return "model.user_id";
    return fold_in_of(raw, found) ? NULL : "model.fold_in";
}

/* ---- Room to work in ---- */

/* Marks take so much of a row on average, shared among the tables; little where the scores take eight bytes already. */
enum { CLASS_ROOM = (1 << CODE_MOST) + CLASSES_MOST };
enum { MARK_BYTES = 3, MARK_SHIFT_LEAST = 4, MARK_SHIFT_MOST = 12, MARK_ROOM = 1 << 14 };

/* Bytes of one mark: the entries before a row and, of gaps, for each round or once the bits before it in two streams. */
static uint32_t mark_bytes(uint32_t places) { return 4 + 8 * places; }

static uint32_t mark_count(uint32_t count, unsigned shift) { return ((count - 1) >> shift) + 1; }

/* How far apart the marks of one of some tables are: the closer, the faster a row is found. 0 tables: lists of neighbours. */
static unsigned mark_shift(uint32_t count, uint32_t places, uint32_t tables) {
    uint64_t most = tables ? (uint64_t)MARK_BYTES * count / tables : count / 4 + MARK_ROOM;
    unsigned shift = MARK_SHIFT_LEAST;
    while (shift < MARK_SHIFT_MOST && 1u << shift < count && (uint64_t)mark_count(count, shift) * mark_bytes(places) > most) shift++;
    return shift;
}

/* A fuzzer sets bytes between the pieces of an arena that nobody may touch. */
#ifndef SREC_GUARD
#define SREC_GUARD 0
#define SREC_FORBID(at, bytes) ((void)(at))
#endif

static uint64_t padded(uint64_t bytes) { return ((bytes + 15) & ~(uint64_t)15) + SREC_GUARD; }

/* Zeroed room for some elements, or NULL. */
static void *reserve(arena *from, uint64_t count, size_t element) {
    uint64_t bytes = padded(count * element);
    uint8_t *found = from->at;
    if (bytes > (uint64_t)(from->end - from->at)) return NULL;
    from->at += bytes;
    memset(found, 0, (size_t)bytes);
    SREC_FORBID(found + bytes - SREC_GUARD, SREC_GUARD);
    return found;
}

/* How much of each kind of room a model needs. */
typedef struct {
    uint64_t marks;   /* bytes */
    uint64_t records;
    uint64_t tables;
    uint64_t dim;     /* of a user's vector */
    uint64_t lookup;  /* numbers */
    uint64_t work;    /* numbers */
    uint32_t rounds, block, tile; /* entries of a row of gaps, rows between marks, rows that are scored at once */
} plan;

/* A tensor found in the header without any room, for the plan; not found where its entry is wrong. */
static int glimpse(const srec_model *model, const char *name, const char *part, unsigned types, view *found) {
    char room[NAME_ROOM];
    cursor value;
    record entry;
    memset(&entry, 0, sizeof entry);
    if (!find_member(model->header, joined(room, name, part), &value)) return 0;
    if (read_entry(model, value, &entry) || !(types & ONE_OF(entry.type))) return 0;
    *found = view_of(model, &entry);
    return 1;
}

static void plan_rows(const srec_model *model, const char *name, uint64_t count, uint32_t tables, plan *total) {
    char room[NAME_ROOM];
    cursor ignored;
    view counts;
    uint32_t rounds = 0, places = 0, j, block;
    unsigned shift;
    int gaps = 0;
    if (ROW_BYTES * count > memory_most(model) || !count) return; /* refused anyway */
    if (glimpse(model, name, ".code.value", ONE_OF(I8), &counts) && glimpse(model, name, ".count.value", COUNTS, &counts)) {
        for (j = 0; j < counts.count && j < LEVELS_MOST; j++) {
            if (count_at(&counts, j) > rounds) rounds = count_at(&counts, j);
        }
        if (rounds > ROW_MOST) rounds = ROW_MOST;
        places = rounds;
        gaps = 1;
        if (find_member(model->header, joined(room, name, ".gap.length"), &ignored)) {
            places = rounds > 0;
            total->marks += padded(CLASS_ROOM);
        }
        if ((count + 1) / 2 > total->work) total->work = (count + 1) / 2; /* a 32-bit number a row, when opened */
    }
    shift = mark_shift((uint32_t)count, places, tables);
    total->marks += padded((uint64_t)mark_count((uint32_t)count, shift) * 4) +
                    padded((uint64_t)mark_count((uint32_t)count, shift) * 8 * places);
    block = gaps ? 1u << shift : 0;
    if (block > total->block) total->block = block;
    if (tables && block > total->tile) total->tile = block;
    if (rounds > total->rounds) total->rounds = rounds;
}

static void plan_table(const srec_model *model, const char *name, uint32_t count, uint32_t tables, plan *total) {
    char room[NAME_ROOM];
    view slices;
    if (glimpse(model, name, ".slices", ONE_OF(U16), &slices) && slices.count == 2) {
        uint64_t entries = (uint64_t)u16_at(slices.at) * u16_at(slices.at + 2);
        plan_rows(model, joined(room, name, ".book"), entries, tables, total);
        if (ROW_BYTES * entries <= memory_most(model) && 2 * entries > total->lookup) total->lookup = 2 * entries;
    } else {
        plan_rows(model, name, count, tables, total);
    }
}

static const char *fold_name(char room[NAME_ROOM], uint32_t number) {
    memcpy(room, "fold.", 5);
    room[5] = (char)('0' + number / 10);
    room[6] = (char)('0' + number % 10);
    room[7] = 0;
    if (number < 10) {
        room[5] = room[6];
        room[6] = 0;
    }
    return room;
}

static plan make_plan(const srec_model *model) {
    char room[NAME_ROOM];
    profile about;
    plan total;
    uint32_t members = member_count(model->header), inner = member_count(model->metadata), j;
    memset(&total, 0, sizeof total);
    total.records = members > inner ? members : inner;
    total.tile = TILE;
    if (read_profile(model->metadata, &about)) return total;
    total.tables = 1 + about.fold_tables;
    total.dim = about.mode == SREC_NEIGHBOURS ? 0 : about.dim;
    if (about.items + (about.mode == SREC_FULL ? about.users : 0) > model->size) return total; /* refused: more rows than bytes */
    if (about.mode == SREC_FULL) {
        plan_table(model, "layer0", about.users + about.items, 1, &total);
        j = about.self_loops ? 3 : 2;
        if (total.work < (uint64_t)j * (about.users + about.items)) total.work = (uint64_t)j * (about.users + about.items);
    } else if (about.mode == SREC_NEIGHBOURS) {
        plan_rows(model, "lists", about.items, 0, &total);
        if (total.work < about.items) total.work = about.items;
    } else {
        plan_table(model, "score", about.items, 1 + about.fold_tables, &total);
        for (j = 0; j < about.fold_tables; j++) {
            plan_table(model, fold_name(room, j), about.items, 1 + about.fold_tables, &total);
        }
    }
    total.marks += 2 * padded(about.items / 8 + 1) + (about.mode == SREC_FULL ? padded(4 * (uint64_t)about.items) : 0);
    return total;
}

static uint64_t plan_bytes(const plan *total) {
    return 16 + padded(sizeof(srec_model)) + padded(total->records * sizeof(record)) +
           padded(total->tables * sizeof(table)) + total->marks + 3 * padded(8 * total->dim) + padded(8 * CHUNK) +
           2 * padded(8 * (uint64_t)total->tile) + 2 * padded(4 * ((uint64_t)total->block + 1)) +
           padded(4 * (uint64_t)total->rounds) + padded(8 * total->lookup) + padded(8 * total->work);
}

/* ---- Levels ---- */

static uint32_t level_at(const levels *from, uint64_t number) {
    uint64_t bit = number * from->bits;
    const uint8_t *at = from->at + (bit >> 3);
    unsigned offset = bit & 7, window;
    if (!from->bits) return 0;
    window = at[0];
    if (offset + from->bits > 8) window |= (unsigned)at[1] << 8;
    return window >> offset & ((1u << from->bits) - 1);
}

static srec_code read_levels(srec_model *model, const char *name, uint64_t count, uint32_t values, levels *found) {
    char room[NAME_ROOM];
    unsigned bits = bits_for(values), spare;
    uint64_t j;
    view packed;
    TRY(get(model, name, ".level", ONE_OF(U8), ANY, &packed));
    joined(room, name, ".level");
    if (packed.count != (count * bits + 7) / 8) return fail(model, SREC_WRONG_COUNT, room);
    spare = (unsigned)(count * bits % 8);
    if (spare && packed.at[packed.count - 1] >> spare) return fail(model, SREC_NONZERO_PADDING, room);
    found->at = packed.at;
    found->bits = bits;
    if (values == 1u << bits) return SREC_OK;
    for (j = 0; j < count; j++) {
        if (level_at(found, j) >= values) return fail(model, SREC_LEVEL_OUT_OF_RANGE, room);
    }
    return SREC_OK;
}

static srec_code read_values(srec_model *model, const char *name, unsigned types, uint32_t least, view *found) {
    char room[NAME_ROOM];
    TRY(get(model, name, ".value", types, ANY, found));
    if (found->count >= least && found->count <= LEVELS_MOST) return SREC_OK;
    return fail(model, SREC_WRONG_TENSOR, joined(room, name, ".value"));
}

/* ---- Rows ---- */

static double scale_value(const scales *from, uint32_t row) {
    return from->kind == SCALE_ROWS ? real_at(&from->value, row)
                                    : f32_at(from->value.at + 4 * (size_t)level_at(&from->level, row));
}

/* All numbers must be in a range, which none is that is not finite. */
static srec_code check_reals(srec_model *model, const char *name, const view *stored, double least, double most, srec_code code) {
    uint32_t j;
    for (j = 0; j < stored->count; j++) {
        double value = real_at(stored, j);
        if (!(value >= least && value <= most)) return fail(model, code, name);
    }
    return SREC_OK;
}

static srec_code check_scales(srec_model *model, const char *name, const view *stored) {
    return check_reals(model, name, stored, 0.0, DBL_MAX, SREC_BAD_SCALE);
}

/* Up to eight bytes as one number. */
static uint64_t word_at(const uint8_t *at, size_t bytes) {
    uint64_t word = 0;
    if (bytes >= 8) return u64_at(at);
    while (bytes) word = word << 8 | at[--bytes];
    return word;
}

/* Bits that are set in some bytes. */
static uint64_t bits_set(const uint8_t *bytes, size_t count) {
    uint64_t total = 0;
    size_t at;
    for (at = 0; at < count; at += 8) {
        uint64_t word = word_at(bytes + at, count - at);
        word = word - (word >> 1 & 0x5555555555555555u);
        word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
        total += ((word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u >> 56;
    }
    return total;
}

/* Entries of a row. */
static uint32_t row_count(const rows *from, uint32_t row) {
    switch (from->positions) {
    case MASK: return (uint32_t)bits_set(from->mask + (size_t)row * from->width, from->width);
    case INDEX: return count_at(&from->count, from->count.count == 1 ? 0 : row);
    case PREFIX:
    case GAPS: return count_at(&from->count, level_at(&from->count_level, row));
    default: return from->dim;
    }
}

/* Entries before a row. */
static uint32_t row_start(const rows *from, uint32_t row) {
    uint32_t at, start;
    if (from->positions == ALL_COLUMNS) return row * from->dim;
    if (from->positions == INDEX && from->count.count == 1) return row * count_at(&from->count, 0);
    at = row >> from->shift << from->shift;
    start = from->mark[row >> from->shift];
    for (; at < row; at++) start += row_count(from, at);
    return start;
}

/* Entries of all rows, which fit 32 bits in a file that this reader takes; sets the marks unless they are NULL. */
static uint64_t count_entries(rows *of) {
    uint64_t total = 0;
    uint32_t row, spacing = 1u << of->shift;
    if (of->positions == ALL_COLUMNS) return (uint64_t)of->rows * of->dim;
    for (row = 0; row < of->rows; row++) {
        if (row % spacing == 0) of->mark[row >> of->shift] = (uint32_t)total;
        total += row_count(of, row);
    }
    return total;
}

static srec_code reserve_marks(srec_model *model, rows *of, uint32_t tables, int classes) {
    uint32_t places = classes && of->rounds ? 1 : of->rounds;
    of->shift = mark_shift(of->rows, places, tables);
    of->mark = reserve(&model->arena, mark_count(of->rows, of->shift), 4);
    of->gap_mark = reserve(&model->arena, (uint64_t)mark_count(of->rows, of->shift) * places, 8);
    if (classes) of->class_of = reserve(&model->arena, CLASS_ROOM, 1);
    if (of->mark && of->gap_mark && (!classes || of->class_of)) return SREC_OK;
    return fail(model, SREC_ARENA_TOO_SMALL, "arena");
}

static srec_code check_padding(srec_model *model, const char *name, const uint8_t *bits, uint64_t count, uint32_t used) {
    uint32_t width = (used + 7) / 8;
    uint64_t row;
    if (used % 8 == 0) return SREC_OK;
    for (row = 0; row < count; row++) {
        if (bits[(size_t)row * width + width - 1] >> used % 8) return fail(model, SREC_NONZERO_PADDING, name);
    }
    return SREC_OK;
}

static int code_length_fits(const view *code, uint64_t entries) {
    return code->count == (code->type == I8 ? entries : (entries + 1) / 2);
}

/* The entries that the codes can hold, in memory. */
static srec_code count_codes(srec_model *model, const char *name, const rows *of) {
    uint32_t column = of->positions == ALL_COLUMNS ? 0 : column_bytes(of->dim);
    return count_memory(model, (uint64_t)of->code.count * (of->code.type == I8 ? 1 : 2), 1 + column, name);
}

static srec_code read_mask(srec_model *model, const char *name, rows *of) {
    char room[NAME_ROOM];
    uint32_t shape[2];
    view mask;
    shape[0] = of->rows;
    shape[1] = of->width = (of->dim + 7) / 8;
    TRY(get_shape(model, name, ".mask", ONE_OF(U8), shape, 2, &mask));
    TRY(count_codes(model, name, of));
    TRY(check_scales(model, joined(room, name, ".scale"), &of->scale.value));
    TRY(check_padding(model, joined(room, name, ".mask"), mask.at, of->rows, of->dim));
    of->mask = mask.at;
    return code_length_fits(&of->code, count_entries(of)) ? SREC_OK : fail(model, SREC_WRONG_COUNT, joined(room, name, ".code"));
}

static uint32_t index_at(const rows *of, uint32_t entry) {
    return of->width == 1 ? of->mask[entry] : u16_at(of->mask + 2 * (size_t)entry);
}

static srec_code check_ascending(srec_model *model, const char *name, const rows *of) {
    uint32_t row, entry = 0;
    for (row = 0; row < of->rows; row++) {
        uint32_t end = entry + row_count(of, row);
        for (entry += entry < end; entry < end; entry++) {
            if (index_at(of, entry) <= index_at(of, entry - 1)) return fail(model, SREC_INDEX_NOT_ASCENDING, name);
        }
    }
    return SREC_OK;
}

static srec_code read_index(srec_model *model, const char *name, rows *of) {
    char room[NAME_ROOM];
    view index;
    uint32_t entry;
    of->width = of->dim > 256 ? 2 : 1;
    TRY(get(model, name, ".index", of->width == 1 ? ONE_OF(U8) : ONE_OF(U16), ANY, &index));
    TRY(get(model, name, ".count", ONE_OF(U8) | ONE_OF(U16), ANY, &of->count));
    if (of->count.count != 1 && of->count.count != of->rows) return fail(model, SREC_WRONG_TENSOR, joined(room, name, ".count"));
    TRY(count_codes(model, name, of));
    TRY(check_scales(model, joined(room, name, ".scale"), &of->scale.value));
    of->mask = index.at;
    joined(room, name, ".index");
    for (entry = 0; entry < index.count; entry++) {
        if (index_at(of, entry) >= of->dim) return fail(model, SREC_INDEX_OUT_OF_RANGE, room);
    }
    if (count_entries(of) != index.count) return fail(model, SREC_WRONG_COUNT, joined(room, name, ".count"));
    TRY(check_ascending(model, room, of));
    return code_length_fits(&of->code, index.count) ? SREC_OK : fail(model, SREC_WRONG_COUNT, joined(room, name, ".code"));
}

static srec_code read_dense(srec_model *model, const char *name, rows *of) {
    char room[NAME_ROOM];
    if (!code_length_fits(&of->code, (uint64_t)of->rows * of->dim)) return fail(model, SREC_WRONG_TENSOR, joined(room, name, ".code"));
    TRY(count_codes(model, name, of));
    return check_scales(model, joined(room, name, ".scale"), &of->scale.value);
}

static srec_code check_codes(srec_model *model, const char *name, const rows *of, uint64_t entries) {
    char room[NAME_ROOM];
    uint64_t entry;
    joined(room, name, ".code");
    if (of->codes == CODES_BYTES) {
        if (memchr(of->code.at, 0x80, of->code.count)) return fail(model, SREC_CODE_OUT_OF_RANGE, room);
        return SREC_OK;
    }
    if (entries % 2 && of->code.at[of->code.count - 1] >> 4) return fail(model, SREC_NONZERO_PADDING, room);
    for (entry = 0; entry < entries; entry++) {
        if ((of->code.at[entry / 2] >> 4 * (entry % 2) & 15) == 8) return fail(model, SREC_CODE_OUT_OF_RANGE, room);
    }
    return SREC_OK;
}

/* Section 4.1: rows of int8 or int4. */
static srec_code read_wide_rows(srec_model *model, const char *name, uint32_t tables, rows *of) {
    char room[NAME_ROOM];
    int masked = has(model, name, ".mask"), indexed = has(model, name, ".index");
    TRY(count_memory(model, of->rows, ROW_BYTES, name));
    if (!has(model, name, ".scale")) return fail(model, SREC_MISSING_TENSOR, joined(room, name, ".scale"));
    if (!has(model, name, ".code")) return fail(model, SREC_MISSING_TENSOR, joined(room, name, ".code"));
    if (masked && indexed) return fail(model, SREC_AMBIGUOUS_ENCODING, name);
    TRY(get(model, name, ".code", ONE_OF(I8) | ONE_OF(U8), ANY, &of->code));
    TRY(get(model, name, ".scale", ONE_OF(F16) | ONE_OF(F32), of->rows, &of->scale.value));
    of->codes = of->code.type == I8 ? CODES_BYTES : CODES_HALVES;
    of->positions = masked ? MASK : indexed ? INDEX : ALL_COLUMNS;
    TRY(reserve_marks(model, of, tables, 0));
    TRY(masked ? read_mask(model, name, of) : indexed ? read_index(model, name, of) : read_dense(model, name, of));
    return check_codes(model, name, of, count_entries(of));
}

/* Scales as levels; kind `without` where the file has none. */
static srec_code read_scale_levels(srec_model *model, const char *name, uint32_t count, int without, scales *found) {
    char room[NAME_ROOM];
    joined(room, name, ".scale");
    found->kind = without;
    if (!has(model, room, ".value")) return SREC_OK;
    found->kind = SCALE_LEVELS;
    TRY(read_values(model, room, ONE_OF(F32), 1, &found->value));
    TRY(check_scales(model, room, &found->value));
    return read_levels(model, room, count, found->value.count, &found->level);
}

static srec_code read_sizes(srec_model *model, const char *name, uint32_t most, rows *of) {
    uint32_t j;
    TRY(read_values(model, name, COUNTS, 1, &of->count));
    for (j = 0; j < of->count.count; j++) {
        if (count_at(&of->count, j) > most) return fail(model, SREC_WRONG_COUNT, name);
    }
    for (j = 0; of->positions == GAPS && j < of->count.count; j++) {
        if (count_at(&of->count, j) > of->rounds) of->rounds = count_at(&of->count, j);
    }
    return read_levels(model, name, of->rows, of->count.count, &of->count_level);
}

/* Low bits of a gap where so many columns and entries are left: log2 of 3/4 of their ratio, rounded down. */
static inline unsigned gap_width(uint32_t columns, uint32_t entries) {
    uint32_t top = 3 * columns, bottom = 4 * entries;
    unsigned one = bit_length(top), other = bit_length(bottom), width = one > other ? one - other : 0;
    return width - ((width > 0) & (bottom << width > top)); /* no branch: nobody could foresee it */
}

/* Up to 24 bits of a stream that has at least so many. */
static uint32_t stream_bits(const uint8_t *stream, uint64_t bit, unsigned width) {
    const uint8_t *at = stream + (bit >> 3);
    unsigned offset = bit & 7, held = 8 - offset;
    uint32_t value;
    if (!width) return 0;
    value = *at++ >> offset;
    for (; held < width; held += 8) value |= (uint32_t)*at++ << held;
    return value & ((1u << width) - 1);
}

/* The first bit 1 from a bit on; there is one. */
static uint32_t next_one(const uint8_t *stream, uint32_t bit) {
    uint32_t at = bit >> 3, byte = (uint32_t)stream[at] >> (bit & 7);
    if (byte) return bit + low_zeros(byte);
    while (!stream[++at]) {}
    return 8 * at + low_zeros(stream[at]);
}

typedef struct {
    uint32_t high, low; /* bits read of both streams */
    uint64_t ones;      /* what comes next of the first, as far as it was looked at */
} gap_place;

/* At least 57 bits of a stream from a bit on; what is behind its end may be anything, behind that of the file it is 0. */
static inline uint64_t peek(const rows *of, const uint8_t *stream, uint32_t bit) {
    const uint8_t *at = stream + (bit >> 3);
    return (of->end - at >= 8 ? u64_at(at) : word_at(at, (size_t)(of->end - at))) >> (bit & 7);
}

static inline uint64_t read_gap(const rows *of, gap_place *place, unsigned width) {
    uint64_t gap = peek(of, of->low, place->low) & ((1u << width) - 1);
    uint32_t quotient;
    place->low += width;
    if (place->ones) {
        quotient = low_zeros64(place->ones);
        place->ones = place->ones >> quotient >> 1;
        place->high += quotient + 1;
    } else {
        quotient = next_one(of->high, place->high) - place->high;
        place->high += quotient + 1;
        place->ones = of->high + (place->high >> 3) < of->end ? peek(of, of->high, place->high) : 0;
    }
    return gap + ((uint64_t)quotient << width);
}

enum { GAPS_SHORT = 1, GAPS_FAR = 2 };

/* One round of gaps of all rows, whose next columns are in `next`; ANY marks a row that has ended. */
static int check_round(const rows *of, uint32_t round, uint64_t low_bits, gap_place *place, uint32_t *next, int *more) {
    uint32_t row, spacing = 1u << of->shift;
    int far = 0;
    for (row = 0; row < of->rows; row++) {
        uint32_t left, entries;
        unsigned width;
        uint64_t gap;
        if (row % spacing == 0) {
            uint32_t *mark = of->gap_mark + 2 * ((size_t)(row >> of->shift) * of->rounds + round);
            mark[0] = place->high;
            mark[1] = place->low;
        }
        if (next[row] == ANY) continue;
        entries = row_count(of, row) - round;
        if (!entries) {
            next[row] = ANY;
            continue;
        }
        *more |= entries > 1;
        left = of->dim - next[row];
        width = gap_width(left, entries);
        if (place->low + (uint64_t)width > low_bits) return GAPS_SHORT;
        gap = read_gap(of, place, width);
        if (gap > left - entries) {
            far = GAPS_FAR;
        } else {
            next[row] += (uint32_t)gap + 1;
        }
    }
    return far;
}

static srec_code read_gaps(srec_model *model, const char *name, rows *of, uint64_t entries) {
    char room[NAME_ROOM];
    view high, low;
    gap_place place = {0, 0, 0};
    uint32_t *next = (uint32_t *)model->work, round;
    int more = 1;
    TRY(get(model, name, ".gap.high", ONE_OF(U8), ANY, &high));
    TRY(get(model, name, ".gap.low", ONE_OF(U8), ANY, &low));
    of->high = high.at;
    of->low = low.at;
    if (bits_set(high.at, high.count) != entries || (high.count && !high.at[high.count - 1])) {
        return fail(model, SREC_WRONG_COUNT, joined(room, name, ".gap.high"));
    }
    joined(room, name, ".gap.low");
    memset(next, 0, (size_t)of->rows * sizeof *next);
    for (round = 0; round < of->rounds && more; round++) {
        int wrong;
        more = 0;
        wrong = check_round(of, round, 8 * (uint64_t)low.count, &place, next, &more);
        if (wrong) return fail(model, wrong == GAPS_SHORT ? SREC_WRONG_COUNT : SREC_INDEX_OUT_OF_RANGE, room);
    }
    if (low.count != (place.low + 7) / 8) return fail(model, SREC_WRONG_COUNT, room);
    if (place.low % 8 && low.at[low.count - 1] >> place.low % 8) return fail(model, SREC_NONZERO_PADDING, room);
    return SREC_OK;
}

/* The class of the next gap in classes, which is how many bits of it follow. */
static unsigned next_class(const rows *of, gap_place *place) {
    unsigned width = of->class_of[peek(of, of->high, place->high) & 255];
    place->high += of->class_of[(1 << CODE_MOST) + width];
    return width;
}

/* A gap and the entry behind it: so many columns. */
static uint32_t next_step(const rows *of, gap_place *place) {
    unsigned width = next_class(of, place);
    uint32_t step = (1u << width) + (uint32_t)(peek(of, of->low, place->low) & ((1u << width) - 1));
    place->low += width;
    return step;
}

/* Codes are canonical: shorter ones first, of one length by class, the first bit lowest. */
static int set_classes(rows *of, const view *lengths) {
    uint32_t code = 0, end, length, j, bit;
    memcpy(of->class_of + (1 << CODE_MOST), lengths->at, lengths->count);
    for (length = 1; length <= CODE_MOST; length++) {
        for (j = 0; j < lengths->count; j++) {
            if (lengths->at[j] > CODE_MOST) return 0;
            if (lengths->at[j] != length) continue;
            end = code + (1u << (CODE_MOST - length));
            for (; code < end && code < 1 << CODE_MOST; code++) {
                uint32_t byte = 0;
                for (bit = 0; bit < CODE_MOST; bit++) byte |= (code >> bit & 1) << (CODE_MOST - 1 - bit);
                of->class_of[byte] = (uint8_t)j;
            }
            if (code < end) return 0;
        }
    }
    return code == 1 << CODE_MOST;
}

static srec_code check_stream(srec_model *model, const char *name, const view *stream, uint64_t bits) {
    if (stream->count != (bits + 7) / 8) return fail(model, SREC_WRONG_COUNT, name);
    if (bits % 8 && stream->at[stream->count - 1] >> bits % 8) return fail(model, SREC_NONZERO_PADDING, name);
    return SREC_OK;
}

/* Sets the marks; bits beyond the end of the codes are read as zeros. */
static srec_code check_classes(srec_model *model, const char *name, rows *of, const view *codes, const view *extra) {
    char room[NAME_ROOM];
    gap_place place = {0, 0, 0};
    uint64_t low = 0;
    uint32_t row, count, spacing = 1u << of->shift;
    joined(room, name, ".gap.class");
    for (row = 0; row < of->rows; row++) {
        if (of->rounds && row % spacing == 0) {
            of->gap_mark[2 * (size_t)(row >> of->shift)] = place.high;
            of->gap_mark[2 * (size_t)(row >> of->shift) + 1] = (uint32_t)low;
        }
        for (count = row_count(of, row); count; count--) {
            if (place.high >> 3 >= codes->count) return fail(model, SREC_WRONG_COUNT, room);
            low += next_class(of, &place);
        }
    }
    TRY(check_stream(model, room, codes, place.high));
    return check_stream(model, joined(room, name, ".gap.extra"), extra, low);
}

/* Gaps in classes, since 1.2. */
static srec_code read_classes(srec_model *model, const char *name, rows *of) {
    char room[NAME_ROOM];
    view lengths, codes, extra;
    gap_place place = {0, 0, 0};
    uint32_t row, count;
    if (has(model, name, ".gap.high") || has(model, name, ".gap.low")) return fail(model, SREC_AMBIGUOUS_ENCODING, name);
    TRY(get(model, name, ".gap.length", ONE_OF(U8), ANY, &lengths));
    joined(room, name, ".gap.length");
    if (lengths.count < 1 || lengths.count > CLASSES_MOST) return fail(model, SREC_WRONG_TENSOR, room);
    if (!set_classes(of, &lengths)) return fail(model, SREC_BAD_CODE, room);
    TRY(get(model, name, ".gap.class", ONE_OF(U8), ANY, &codes));
    TRY(get(model, name, ".gap.extra", ONE_OF(U8), ANY, &extra));
    of->high = codes.at;
    of->low = extra.at;
    TRY(check_classes(model, name, of, &codes, &extra));
    for (row = 0; row < of->rows; row++) {
        uint32_t next = 0;
        for (count = row_count(of, row); count; count--) {
            next += next_step(of, &place);
            if (next > of->dim) return fail(model, SREC_INDEX_OUT_OF_RANGE, joined(room, name, ".gap.extra"));
        }
    }
    return SREC_OK;
}

/* Section 4.2: rows of few-bit codes. */
static srec_code read_narrow_rows(srec_model *model, const char *name, uint32_t tables, rows *of) {
    char room[NAME_ROOM];
    int gaps = has(model, name, ".count.value"), prefix = has(model, name, ".size.value");
    int classes = gaps && has(model, name, ".gap.length");
    uint64_t entries;
    TRY(count_memory(model, of->rows, ROW_BYTES, name));
    if (has(model, name, ".code") || (gaps && prefix)) return fail(model, SREC_AMBIGUOUS_ENCODING, name);
    TRY(read_values(model, joined(room, name, ".code"), ONE_OF(I8), 2, &of->code));
    if (memchr(of->code.at, 0x80, of->code.count)) return fail(model, SREC_CODE_OUT_OF_RANGE, room);
    TRY(read_scale_levels(model, name, of->rows, SCALE_UNIT, &of->scale));
    of->codes = CODES_LEVELS;
    of->positions = gaps ? GAPS : prefix ? PREFIX : ALL_COLUMNS;
    if (gaps) TRY(read_sizes(model, joined(room, name, ".count"), of->dim < ROW_MOST ? of->dim : ROW_MOST, of));
    if (prefix) TRY(read_sizes(model, joined(room, name, ".size"), of->dim, of));
    TRY(reserve_marks(model, of, tables, classes));
    entries = count_entries(of);
    TRY(count_memory(model, entries, 1 + (gaps || prefix ? column_bytes(of->dim) : 0), name));
    if (gaps) TRY(classes ? read_classes(model, name, of) : read_gaps(model, name, of, entries));
    return read_levels(model, joined(room, name, ".code"), entries, of->code.count, &of->code_level);
}

static srec_code read_rows(srec_model *model, const char *name, uint32_t count, uint32_t dim, uint32_t tables, rows *of) {
    memset(of, 0, sizeof *of);
    of->rows = count;
    of->dim = dim;
    of->end = model->file + model->size;
    return has(model, name, ".code.value") ? read_narrow_rows(model, name, tables, of) : read_wide_rows(model, name, tables, of);
}

/* Section 4.3: product codes. */
static srec_code read_product(srec_model *model, const char *name, uint32_t dim, uint32_t tables, table *of) {
    char room[NAME_ROOM];
    view sizes;
    TRY(count_memory(model, of->count, ROW_BYTES, name));
    if (has(model, name, ".code") || has(model, name, ".code.value")) return fail(model, SREC_AMBIGUOUS_ENCODING, name);
    TRY(get(model, name, ".slices", ONE_OF(U16), 2, &sizes));
    of->slices = u16_at(sizes.at);
    of->entries = u16_at(sizes.at + 2);
    if (of->slices < 1 || dim % of->slices || of->entries < 2 || of->entries > LEVELS_MOST) {
        return fail(model, SREC_BAD_SLICES, joined(room, name, ".slices"));
    }
    TRY(count_memory(model, (uint64_t)of->count * of->slices, 1, name));
    TRY(read_scale_levels(model, name, of->count, SCALE_ONE, &of->scale));
    TRY(read_levels(model, joined(room, name, ".part"), (uint64_t)of->count * of->slices, of->entries, &of->part));
    return read_rows(model, joined(room, name, ".book"), of->slices * of->entries, dim / of->slices, tables, &of->row);
}

static srec_code read_table(srec_model *model, const char *name, uint32_t count, uint32_t tables, table *of) {
    memset(of, 0, sizeof *of);
    of->count = count;
    if (has(model, name, ".slices")) return read_product(model, name, model->profile.dim, tables, of);
    return read_rows(model, name, count, model->profile.dim, tables, &of->row);
}

/* ---- Graph ---- */

/* Reads edges from the first on. */
typedef struct {
    uint32_t edge, bit;
} edge_place;

/* How far the next edge is from the one before, less one. */
static uint32_t next_gap(const graph *of, edge_place *place) {
    uint32_t kind = of->classes[place->edge >> 1] >> 4 * (place->edge & 1) & 15, width = of->width[kind], gap;
    gap = of->base[kind] + stream_bits(of->extra, place->bit, width);
    place->edge++;
    place->bit += width;
    return gap;
}

static srec_code check_extra(srec_model *model, const graph *of, uint64_t edges, const view *extra) {
    uint64_t bits = 0, edge;
    for (edge = 0; edge < edges; edge++) bits += of->width[of->classes[edge >> 1] >> 4 * (edge & 1) & 15];
    if (extra->count != (bits + 7) / 8) return fail(model, SREC_WRONG_COUNT, "graph.extra");
    if (bits % 8 && extra->at[extra->count - 1] >> bits % 8) return fail(model, SREC_NONZERO_PADDING, "graph.extra");
    return SREC_OK;
}

static srec_code count_degrees(srec_model *model) {
    const graph *of = &model->graph;
    edge_place place = {0, 0};
    uint32_t user, largest = 0, item;
    for (user = 0; user < model->profile.users; user++) {
        uint32_t count = count_at(&of->count, user), next = 0, j;
        if (count > largest) largest = count;
        for (j = 0; j < count; j++) {
            uint32_t gap = next_gap(of, &place);
            if (gap >= model->profile.items - next) return fail(model, SREC_BAD_GRAPH, "graph.extra");
            next += gap;
            model->item_degree[next++]++;
        }
    }
    for (item = 0; item < model->profile.items; item++) {
        if (model->item_degree[item] > largest) largest = model->item_degree[item];
    }
    model->graph.grid_bits = 52 - bits_for(largest + 1);
    return SREC_OK;
}

static srec_code read_graph(srec_model *model) {
    graph *of = &model->graph;
    view width, classes, extra;
    uint64_t edges = 0;
    uint32_t j;
    TRY(get(model, "graph", ".count", COUNTS, model->profile.users, &of->count));
    TRY(get(model, "graph", ".width", ONE_OF(U8), GRAPH_CLASSES, &width));
    TRY(get(model, "graph", ".class", ONE_OF(U8), ANY, &classes));
    TRY(get(model, "graph", ".extra", ONE_OF(U8), ANY, &extra));
    of->classes = classes.at;
    of->extra = extra.at;
    for (j = 0; j < GRAPH_CLASSES; j++) {
        of->width[j] = width.at[j];
        if (of->width[j] > GAP_WIDEST) return fail(model, SREC_BAD_GRAPH, "graph.width");
        if (j) of->base[j] = of->base[j - 1] + (1u << of->width[j - 1]);
    }
    for (j = 0; j < model->profile.users; j++) edges += count_at(&of->count, j);
    if (classes.count != edges / 2 + edges % 2) return fail(model, SREC_WRONG_COUNT, "graph.class");
    if (edges % 2 && classes.at[classes.count - 1] >> 4) return fail(model, SREC_NONZERO_PADDING, "graph.class");
    TRY(check_extra(model, of, edges, &extra));
    return count_degrees(model);
}

/* ---- Texts and ids ---- */

static srec_text text_at(const texts *from, uint32_t number) {
    srec_text found;
    uint32_t begin = count_at(&from->offset, number);
    found.at = (const char *)from->text + begin;
    found.length = count_at(&from->offset, number + 1) - begin;
    return found;
}

static srec_code read_texts(srec_model *model, const char *name, uint32_t count, texts *found) {
    view text;
    uint32_t j, last = 0;
    TRY(get(model, name, ".offset", ONE_OF(U32), count == ANY ? ANY : count + 1, &found->offset));
    TRY(get(model, name, ".text", ONE_OF(U8), ANY, &text));
    if (!found->offset.count) return fail(model, SREC_BAD_TEXT_OFFSETS, name);
    if (count_at(&found->offset, 0)) return fail(model, SREC_BAD_TEXT_OFFSETS, name);
    for (j = 0; j < found->offset.count; j++) {
        uint32_t offset = count_at(&found->offset, j);
        if (offset < last) return fail(model, SREC_BAD_TEXT_OFFSETS, name);
        last = offset;
    }
    if (last != text.count) return fail(model, SREC_BAD_TEXT_OFFSETS, name);
    if (!is_utf8(text.at, text.count)) return fail(model, SREC_BAD_TEXT, name);
    for (j = 0; j < found->offset.count; j++) {
        uint32_t offset = count_at(&found->offset, j);
        if (offset < text.count && (text.at[offset] & 0xc0) == 0x80) return fail(model, SREC_BAD_TEXT, name);
    }
    found->text = text.at;
    found->count = found->offset.count - 1;
    return SREC_OK;
}

static int compare_bytes(srec_text a, srec_text b) {
    int order = memcmp(a.at, b.at, a.length < b.length ? a.length : b.length);
    return order ? order : a.length < b.length ? -1 : a.length > b.length;
}

static int64_t number_at(const view *numbers, uint32_t at) {
    uint64_t low;
    if (numbers->type == I32) {
        uint32_t bits = u32_at(numbers->at + 4 * (size_t)at);
        return bits < 0x80000000u ? (int64_t)bits : (int64_t)bits - 4294967296;
    }
    low = u64_at(numbers->at + 8 * (size_t)at);
    return low >> 63 ? -(int64_t)(~low) - 1 : (int64_t)low;
}

static srec_id id_at(const ids *of, uint32_t index) {
    srec_id found = {{NULL, 0}, 0};
    if (of->kind == IDS_STRING) {
        found.text = text_at(&of->text, index);
    } else {
        found.number = of->kind == IDS_INT ? number_at(&of->number, index) : (int64_t)index;
    }
    return found;
}

static int compare_ids(srec_id a, srec_id b) {
    return a.text.at ? compare_bytes(a.text, b.text) : a.number < b.number ? -1 : a.number > b.number;
}

/* Which id comes at a place when they are read in ascending order. */
static uint32_t id_place(const ids *of, uint32_t place) { return of->ordered ? count_at(&of->order, place) : place; }

static uint32_t find_id(const ids *of, srec_id wanted) {
    uint32_t low = 0, high = of->count;
    if (of->kind == IDS_RANGE) return wanted.number >= 0 && wanted.number < (int64_t)of->count ? (uint32_t)wanted.number : SREC_NONE;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2, index = id_place(of, middle);
        int order = compare_ids(id_at(of, index), wanted);
        if (!order) return index;
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return SREC_NONE;
}

/* The integer that a text spells in the only way that is its own; 0 if it spells none. */
static int spelled(const char *text, size_t length, int64_t *number) {
    int negative = length && text[0] == '-';
    size_t j = (size_t)negative;
    if (length - j < 1 || length - j > 16 || (text[j] == '0' && length > 1)) return 0;
    for (*number = 0; j < length; j++) {
        if (text[j] < '0' || text[j] > '9') return 0;
        *number = 10 * *number + (text[j] - '0');
    }
    if (negative) *number = -*number;
    return 1;
}

static uint32_t find_text_id(const ids *of, const char *id, size_t length) {
    srec_id wanted = {{NULL, 0}, 0};
    if (of->kind == IDS_STRING) {
        wanted.text.at = id;
        wanted.text.length = length;
    } else if (!spelled(id, length, &wanted.number)) {
        return SREC_NONE;
    }
    return find_id(of, wanted);
}

static srec_code read_order(srec_model *model, const char *name, ids *of) {
    uint32_t j;
    of->ordered = has(model, name, ".order");
    if (!of->ordered) return SREC_OK;
    TRY(get(model, name, ".order", ONE_OF(U32), of->count, &of->order));
    for (j = 0; j < of->count; j++) {
        if (count_at(&of->order, j) >= of->count) return fail(model, SREC_BAD_IDS, name);
    }
    return SREC_OK;
}

static srec_code read_ids(srec_model *model, const char *name, int kind, uint32_t count, ids *of) {
    uint32_t j;
    of->kind = kind;
    of->count = count;
    if (kind == IDS_RANGE) return SREC_OK;
    if (kind == IDS_INT) {
        TRY(get(model, name, "", ONE_OF(I32) | ONE_OF(I64), count, &of->number));
        for (j = 0; j < count; j++) {
            int64_t number = number_at(&of->number, j);
            if (number > (int64_t)SAFE_INTEGER || number < -(int64_t)SAFE_INTEGER) return fail(model, SREC_BAD_IDS, name);
        }
    } else {
        TRY(read_texts(model, name, count, &of->text));
    }
    TRY(read_order(model, name, of));
    for (j = 1; j < count; j++) {
        if (compare_ids(id_at(of, id_place(of, j - 1)), id_at(of, id_place(of, j))) >= 0) return fail(model, SREC_BAD_IDS, name);
    }
    return SREC_OK;
}

/* ---- The rest of a file ---- */

static srec_code read_coefficients(srec_model *model) {
    view stored;
    uint32_t j;
    int termed = has(model, "item.term", ".value");
    if (termed && has(model, "filter", ".weight")) return fail(model, SREC_AMBIGUOUS_ENCODING, "filter.weight");
    TRY(get(model, "filter", termed ? ".coefficient" : ".weight", ONE_OF(F64), ANY, &stored));
    if (stored.count < 1 || stored.count > WEIGHTS_MOST) return fail(model, SREC_BAD_COEFFICIENTS, "filter.weight");
    model->weight_count = stored.count;
    for (j = 0; j < stored.count; j++) {
        model->weight[j] = double_of(u64_at(stored.at + 8 * (size_t)j));
        if (!(fabs(model->weight[j]) <= 1e6)) return fail(model, SREC_BAD_COEFFICIENTS, "filter.weight");
    }
    return SREC_OK;
}

/* Which value each item has: by levels of its own, or by those of its degree. */
static srec_code read_own_levels(srec_model *model, const char *name, const view *values, int own, levels *out) {
    char room[NAME_ROOM];
    if (own) return read_levels(model, name, model->profile.items, values->count, out);
    if (values->count != model->degree.count) return fail(model, SREC_WRONG_COUNT, joined(room, name, ".value"));
    *out = model->degree_level;
    return SREC_OK;
}

/* Degrees of the items and, since 1.1, their weights in a history. */
static srec_code read_weights(srec_model *model) {
    uint32_t items = model->profile.items;
    if (!model->profile.weighted) return get(model, "item", ".degree", COUNTS, items, &model->degree);
    if (has(model, "item", ".degree")) return fail(model, SREC_AMBIGUOUS_ENCODING, "item.degree");
    TRY(read_values(model, "item.degree", COUNTS, 2, &model->degree));
    TRY(read_levels(model, "item.degree", items, model->degree.count, &model->degree_level));
    TRY(read_values(model, "item.weight", ONE_OF(F32), 1, &model->fold_weight));
    TRY(check_reals(model, "item.weight.value", &model->fold_weight, 0.0, LARGEST_WEIGHT, SREC_BAD_WEIGHT));
    return read_own_levels(model, "item.weight", &model->fold_weight, has(model, "item.weight", ".level"), &model->weight_level);
}

static srec_code read_vector(srec_model *model) {
    if (model->profile.mode != SREC_PERSONAL) return SREC_OK;
    TRY(get(model, "user", ".vector", ONE_OF(F32), model->profile.dim, &model->vector));
    return check_reals(model, "user.vector", &model->vector, -DBL_MAX, DBL_MAX, SREC_BAD_VECTOR);
}

static srec_code read_norm(srec_model *model) {
    if (!has(model, "item", ".norm")) return SREC_OK;
    TRY(get(model, "item", ".norm", ONE_OF(F16) | ONE_OF(F32), model->profile.items, &model->norm));
    return check_scales(model, "item.norm", &model->norm);
}

static srec_code read_scorer(srec_model *model) {
    const profile *about = &model->profile;
    char room[NAME_ROOM];
    uint32_t q;
    TRY(read_coefficients(model));
    if (about->mode == SREC_FULL) {
        TRY(read_table(model, "layer0", about->users + about->items, 1, model->tables));
        TRY(read_graph(model));
        return read_norm(model);
    }
    if (about->mode == SREC_NEIGHBOURS) {
        model->tables->count = about->items;
        model->tables->row.rows = model->tables->row.dim = about->items;
        model->tables->row.end = model->file + model->size;
        TRY(read_narrow_rows(model, "lists", 0, &model->tables->row));
        return read_weights(model);
    }
    TRY(read_table(model, "score", about->items, model->table_count, model->tables));
    for (q = 0; q < about->fold_tables; q++) {
        TRY(read_table(model, fold_name(room, q), about->items, model->table_count, model->tables + 1 + q));
    }
    TRY(read_weights(model));
    return read_vector(model);
}

/* What is added to the scores of the items, since 1.2. */
static srec_code read_terms(srec_model *model) {
    int own = !model->profile.weighted || has(model, "item.term", ".level");
    if (!has(model, "item.term", ".value")) return SREC_OK;
    TRY(read_values(model, "item.term", ONE_OF(F32), 1, &model->term));
    TRY(check_reals(model, "item.term.value", &model->term, -LARGEST_TERM, LARGEST_TERM, SREC_BAD_TERM));
    if (own) TRY(count_memory(model, model->profile.items, LEVEL_BYTES, "item.term.level"));
    return read_own_levels(model, "item.term", &model->term, own, &model->term_level);
}

static srec_code read_seen(srec_model *model) {
    uint32_t j;
    if (model->profile.mode != SREC_PERSONAL || !has(model, "user", ".seen")) return SREC_OK;
    TRY(get(model, "user", ".seen", ONE_OF(U32), ANY, &model->seen));
    for (j = 0; j < model->seen.count; j++) {
        if (count_at(&model->seen, j) >= model->profile.items) return fail(model, SREC_INDEX_OUT_OF_RANGE, "user.seen");
    }
    return SREC_OK;
}

static srec_code read_tags(srec_model *model) {
    uint32_t shape[2];
    view bits;
    if (!has(model, "tag", ".offset") && !has(model, "tag", ".text") && !has(model, "item", ".tags")) return SREC_OK;
    TRY(read_texts(model, "tag", ANY, &model->tag_names));
    shape[0] = model->profile.items;
    shape[1] = (model->tag_names.count + 7) / 8;
    TRY(get_shape(model, "item", ".tags", ONE_OF(U8), shape, 2, &bits));
    model->tag_bits = bits.at;
    return check_padding(model, "item.tags", bits.at, model->profile.items, model->tag_names.count);
}

/* A golden query, checked. */
typedef struct {
    int by_user;
    uint32_t user, items, history;
    cursor item_list, score_list, history_list, weight_list; /* weight_list.at is NULL where all weights are 1 */
} golden_query;

/* Length of a list of indices below a limit, or -1. */
static int64_t index_list(cursor list, uint64_t limit) {
    cursor value;
    uint64_t index;
    int64_t length = 0;
    if (look(&list) != '[') return -1;
    for (; next_element(&list, &value); length++) {
        if (!count_of(value, &index) || index >= limit) return -1;
    }
    return length;
}

/* Length of a list of finite numbers of at most some size, or -1. */
static int64_t number_list(cursor list, double most) {
    cursor value;
    double number;
    int64_t length = 0;
    if (look(&list) != '[') return -1;
    for (; next_element(&list, &value); length++) {
        if (!number_of(value, &number) || !(fabs(number) <= most)) return -1;
    }
    return length;
}

static int read_query(const profile *about, cursor raw, golden_query *found) {
    uint32_t known = about->mode == SREC_FULL ? about->users : about->mode == SREC_PERSONAL;
    cursor user;
    uint64_t index;
    int64_t items, history;
    int has_history;
    memset(found, 0, sizeof *found);
    if (look(&raw) != '{') return 0;
    found->by_user = find_member(raw, "user", &user);
    has_history = find_member(raw, "history", &found->history_list);
    if (found->by_user == has_history) return 0;
    if (!find_member(raw, "items", &found->item_list) || !find_member(raw, "scores", &found->score_list)) return 0;
    items = index_list(found->item_list, about->items);
    if (items < 0 || items > GOLDEN_MOST || number_list(found->score_list, DBL_MAX) != items) return 0;
    found->items = (uint32_t)items;
    if (found->by_user) {
        if (!count_of(user, &index) || index >= known) return 0;
        found->user = (uint32_t)index;
        return 1;
    }
    history = index_list(found->history_list, about->items);
    if (history < 0) return 0;
    found->history = (uint32_t)history;
    return !find_member(raw, "weights", &found->weight_list) || number_list(found->weight_list, LARGEST_WEIGHT) == history;
}

static srec_code read_golden(srec_model *model) {
    cursor value, text, list;
    golden_query query;
    if (!find_member(model->metadata, "golden", &value)) return SREC_OK;
    if (!string_content(value, &text) || !is_json(text, &model->golden) || look(&model->golden) != '[') {
        return fail(model, SREC_BAD_GOLDEN, "golden");
    }
    for (list = model->golden; next_element(&list, &value); model->golden_count++) {
        if (model->golden_count == GOLDEN_MOST || !read_query(&model->profile, value, &query)) {
            return fail(model, SREC_BAD_GOLDEN, "golden");
        }
    }
    return SREC_OK;
}

static srec_code read_card(srec_model *model) {
    cursor value, object;
    if (!find_member(model->metadata, "card", &value) || object_of(model->metadata, "card", &object)) return SREC_OK;
    return fail(model, SREC_BAD_METADATA, "card");
}

static srec_code check_row_count(srec_model *model) {
    const profile *about = &model->profile;
    uint64_t count = (uint64_t)about->items + (about->mode == SREC_FULL ? about->users : 0);
    const record *classes = find_record(model, "graph.class");
    if (count > model->size - model->payload) return fail(model, SREC_WRONG_COUNT, "model.items");
    model->left = memory_most(model);
    TRY(count_memory(model, count, ROW_BYTES, "model.items"));
    if (about->mode != SREC_FULL || !classes) return SREC_OK;
    return count_memory(model, classes->end - classes->begin, CLASS_BYTES, "graph.class");
}

static int reserve_room(srec_model *model, const plan *total) {
    arena *from = &model->arena;
    size_t j;
    model->table_count = 1 + model->profile.fold_tables;
    model->tables = reserve(from, model->table_count, sizeof(table));
    for (j = 0; j < 2; j++) model->bits[j] = reserve(from, model->profile.items / 8 + 1, 1);
    if (model->profile.mode == SREC_FULL) model->item_degree = reserve(from, model->profile.items, 4);
    for (j = 0; j < 3; j++) model->vector_room[j] = reserve(from, total->dim, 8);
    model->chunk = reserve(from, CHUNK, 8);
    model->sums = reserve(from, total->tile, 8);
    model->squares = reserve(from, total->tile, 8);
    model->next = reserve(from, (uint64_t)total->block + 1, 4);
    model->starts = reserve(from, (uint64_t)total->block + 1, 4);
    model->columns = reserve(from, total->rounds, 4);
    model->lookup = reserve(from, total->lookup, 8);
    model->work = reserve(from, total->work, 8);
    return model->tables && model->bits[1] && model->work;
}

/* Sections 2 to 6, in the order of the format. */
static srec_code read_model(srec_model *model, const plan *total) {
    const char *wrong;
    const profile *about = &model->profile;
    wrong = read_profile(model->metadata, &model->profile);
    if (wrong) return fail(model, SREC_BAD_METADATA, wrong);
    TRY(read_card(model));
    TRY(check_row_count(model));
    if (!reserve_room(model, total)) return fail(model, SREC_ARENA_TOO_SMALL, "arena");
    TRY(read_scorer(model));
    TRY(read_terms(model));
    TRY(read_seen(model));
    if (has(model, "item", ".popularity")) TRY(get(model, "item", ".popularity", COUNTS, about->items, &model->popularity));
    if (has(model, "item.title", ".offset") || has(model, "item.title", ".text")) {
        TRY(read_texts(model, "item.title", about->items, &model->titles));
    }
    TRY(read_tags(model));
    TRY(read_ids(model, "item.id", about->item_ids, about->items, &model->items));
    if (about->mode == SREC_FULL) TRY(read_ids(model, "user.id", about->user_ids, about->users, &model->users));
    return read_golden(model);
}

size_t srec_arena_size(const void *file, size_t size) {
    srec_model model;
    plan total;
    if (check_header(&model, file, size)) return 0;
    total = make_plan(&model);
    return (size_t)plan_bytes(&total);
}

static srec_code open_in(srec_model *start, void *room, size_t room_size, srec_model **opened) {
    plan total = make_plan(start);
    arena from;
    srec_model *model;
    srec_code code;
    if (!room || room_size < plan_bytes(&total)) return fail(start, SREC_ARENA_TOO_SMALL, "arena");
    from.end = (uint8_t *)room + room_size;
    from.at = (uint8_t *)room + (16 - (uintptr_t)room % 16) % 16;
    model = reserve(&from, 1, sizeof *model);
    *model = *start;
    model->records = reserve(&from, total.records, sizeof(record));
    model->arena = from;
    code = check_container(model);
    if (!code) code = read_model(model, &total);
    memcpy(start->where, model->where, SREC_WHERE);
    *opened = code ? NULL : model;
    return code;
}

srec_code srec_open(const void *file, size_t size, void *room, size_t room_size, srec_model **model, char where[SREC_WHERE]) {
    srec_model start;
    srec_code code = check_header(&start, file, size);
    *model = NULL;
    if (!code) code = open_in(&start, room, room_size, model);
    if (where) memcpy(where, start.where, SREC_WHERE);
    return code;
}

/* ---- Arithmetic: section 6 ---- */

/* What to add to and take away from numbers so that they are multiples of p * 2^-bits, p a power of two above the largest. */
static double grid(double largest, unsigned bits) {
    int power;
    if (largest == 0.0) return 0.0;
    frexp(largest, &power);
    return ldexp(1.5, power + 52 - (int)bits);
}

static double largest_of(const double *values, size_t count) {
    double largest = 0.0;
    size_t j;
    for (j = 0; j < count; j++) {
        if (fabs(values[j]) > largest) largest = fabs(values[j]);
    }
    return largest;
}

static void snap(double *values, size_t count, unsigned bits) {
    double shift = grid(largest_of(values, count), bits);
    size_t j;
    for (j = 0; j < count; j++) values[j] = (values[j] + shift) - shift;
}

static int code_at(const rows *of, uint32_t entry) {
    const int8_t *bytes = (const int8_t *)of->code.at;
    switch (of->codes) {
    case CODES_BYTES: return bytes[entry];
    case CODES_HALVES: return (int)((of->code.at[entry >> 1] >> 4 * (entry & 1) & 15) ^ 8) - 8;
    default: return bytes[level_at(&of->code_level, entry)];
    }
}

/* The values of some levels one after the other, at least one bit each. */
static void unpack_levels(const levels *from, uint64_t first, uint32_t count, const int8_t *values, int8_t *out) {
    uint64_t bit = first * from->bits;
    const uint8_t *at = from->at + (bit >> 3);
    unsigned bits = from->bits, mask = (1u << bits) - 1, held = 0, window = 0;
    uint32_t j;
    if (count && bit & 7) {
        window = (unsigned)*at++ >> (bit & 7);
        held = 8 - (bit & 7);
    }
    for (j = 0; j < count; j++) {
        if (held < bits) {
            window |= (unsigned)*at++ << held;
            held += 8;
        }
        out[j] = values[window & mask];
        window >>= bits;
        held -= bits;
    }
}

static void unpack_codes(const rows *of, uint32_t entry, uint32_t count, int8_t *out) {
    const int8_t *bytes = (const int8_t *)of->code.at;
    uint32_t j;
    if (of->codes == CODES_BYTES) {
        memcpy(out, bytes + entry, count);
    } else if (of->codes == CODES_HALVES) {
        for (j = 0; j < count; j++, entry++) {
            out[j] = (int8_t)((int)((of->code.at[entry >> 1] >> 4 * (entry & 1) & 15) ^ 8) - 8);
        }
    } else {
        unpack_levels(&of->code_level, entry, count, bytes, out);
    }
}

static double sum_of_squares(const rows *of, uint32_t entry, uint32_t count) {
    uint64_t total = 0;
    uint32_t j;
    for (j = 0; j < count; j++) {
        int code = code_at(of, entry + j);
        total += (uint64_t)(code * code);
    }
    return (double)total;
}

static double row_scale(const rows *of, uint32_t row, uint32_t entry, uint32_t count) {
    double squares;
    if (of->scale.kind != SCALE_UNIT) return scale_value(&of->scale, row);
    squares = sum_of_squares(of, entry, count);
    return squares > 0.0 ? 1.0 / sqrt(squares) : 0.0;
}

/* Scale of a row by itself. */
static double scale_of(const rows *of, uint32_t row) {
    if (of->scale.kind != SCALE_UNIT) return scale_value(&of->scale, row);
    return row_scale(of, row, row_start(of, row), row_count(of, row));
}

/* What is done with the entries of a block of rows of gaps. */
typedef struct {
    uint32_t wanted;      /* keep the columns of this row alone, unless ANY */
    const double *query;  /* add code * query[column] to the sum of a row */
    const double *values; /* add code * value of the row to total[column - from] where column is from .. to - 1 */
    double *total;
    uint32_t from, to;
} gap_work;

/* The same of gaps in classes, which lie row by row. */
static void walk_classes(srec_model *model, const rows *of, uint32_t block, uint32_t last, const gap_work *work) {
    uint32_t first = block << of->shift, row, *starts = model->starts;
    gap_place place = {0, 0, 0};
    if (of->rounds) {
        place.high = of->gap_mark[2 * (size_t)block];
        place.low = of->gap_mark[2 * (size_t)block + 1];
    }
    starts[0] = of->mark[block];
    for (row = 0; row <= last; row++) {
        uint32_t entry = starts[row], end = entry + row_count(of, first + row), next = 0;
        double sum = 0.0;
        starts[row + 1] = end;
        if (work->wanted != ANY && row != work->wanted) {
            for (; entry < end; entry++) place.low += next_class(of, &place);
            continue;
        }
        for (; entry < end; entry++) {
            uint32_t column = next + next_step(of, &place) - 1;
            next = column + 1;
            if (work->query) {
                sum += code_at(of, entry) * work->query[column];
            } else if (work->values) {
                if (column >= work->from && column < work->to) work->total[column - work->from] += code_at(of, entry) * work->values[row];
            } else {
                model->columns[entry - starts[row]] = column;
            }
        }
        if (work->query) model->sums[row] = sum;
    }
}

/* Inner products of the rows of a block, whose starts are set: the loop that scores items, by itself because it is the one that waits. */
static void dot_rounds(srec_model *model, const rows *of, uint32_t block, uint32_t last, const double *query) {
    const uint32_t *mark = of->gap_mark + 2 * (size_t)block * of->rounds, *starts = model->starts;
    const int8_t *codes = (const int8_t *)of->code.at;
    const rows from = *of;
    uint32_t round, row, *next = model->next;
    double *sums = model->sums;
    for (round = 0; round < from.rounds; round++, mark += 2) {
        gap_place place = {0, 0, 0};
        place.high = mark[0];
        place.low = mark[1];
        for (row = 0; row <= last; row++) {
            uint32_t entry = starts[row] + round, column;
            if (entry >= starts[row + 1]) continue;
            column = next[row] + (uint32_t)read_gap(&from, &place, gap_width(from.dim - next[row], starts[row + 1] - entry));
            next[row] = column + 1;
            sums[row] += codes[level_at(&from.code_level, entry)] * query[column];
        }
    }
}

/*
 * Reads the gaps of a block round by round, as they lie in the file, up to the row wanted or to row `last` of the block.
 * Leaves the entries before each row in model->starts, and the sums in model->sums.
 */
static void walk_gaps(srec_model *model, const rows *of, uint32_t block, uint32_t last, const gap_work *work) {
    uint32_t first = block << of->shift, round, row, *next = model->next, *starts = model->starts;
    int more = 1;
    if (of->class_of) {
        walk_classes(model, of, block, last, work);
        return;
    }
    starts[0] = of->mark[block];
    for (row = 0; row <= last; row++) {
        starts[row + 1] = starts[row] + row_count(of, first + row);
        next[row] = 0;
        if (work->query) model->sums[row] = 0.0;
    }
    if (work->query) {
        dot_rounds(model, of, block, last, work->query);
        return;
    }
    for (round = 0; more; round++) {
        const uint32_t *mark = of->gap_mark + 2 * ((size_t)block * of->rounds + round);
        gap_place place;
        more = 0;
        if (round >= of->rounds || (work->wanted != ANY && starts[last] + round >= starts[last + 1])) return;
        place.high = mark[0];
        place.low = mark[1];
        place.ones = 0;
        for (row = 0; row <= last; row++) {
            uint32_t entry = starts[row] + round, column;
            if (entry >= starts[row + 1]) continue;
            more = 1;
            column = next[row] + (uint32_t)read_gap(of, &place, gap_width(of->dim - next[row], starts[row + 1] - entry));
            next[row] = column + 1;
            if (work->values) {
                if (column >= work->from && column < work->to) work->total[column - work->from] += code_at(of, entry) * work->values[row];
            } else if (row == work->wanted) {
                model->columns[round] = column;
            }
        }
    }
}

/* Reads the columns of one row, some at a time. */
typedef struct {
    const rows *of;
    uint32_t row, at;
    uint32_t byte; /* of the mask from which bits come next */
    uint64_t bits; /* of the mask that are not used yet, those of the eight bytes before */
    const uint32_t *columns;
} column_reader;

/* `entry` and `count` say where the entries of the row are. */
static column_reader read_row(srec_model *model, const rows *of, uint32_t row, uint32_t *entry, uint32_t *count) {
    column_reader found;
    gap_work work;
    memset(&found, 0, sizeof found);
    memset(&work, 0, sizeof work);
    found.of = of;
    found.row = row;
    if (of->positions == GAPS) {
        work.wanted = row & ((1u << of->shift) - 1);
        walk_gaps(model, of, row >> of->shift, work.wanted, &work);
        *entry = model->starts[work.wanted];
        *count = model->starts[work.wanted + 1] - *entry;
        found.columns = model->columns;
        return found;
    }
    *entry = row_start(of, row);
    *count = row_count(of, row);
    if (of->positions == INDEX) found.at = *entry;
    return found;
}

/* The next columns of a row of a mask, which has so many. */
static void mask_columns(column_reader *reader, uint32_t count, uint32_t *out) {
    const uint8_t *mask = reader->of->mask + (size_t)reader->row * reader->of->width;
    uint64_t bits = reader->bits;
    uint32_t byte = reader->byte, j;
    for (j = 0; j < count; j++) {
        for (; !bits; byte += 8) bits = word_at(mask + byte, reader->of->width - byte);
        out[j] = 8 * (byte - 8) + (uint32_t)low_zeros64(bits);
        bits &= bits - 1;
    }
    reader->bits = bits;
    reader->byte = byte;
}

static void next_columns(column_reader *reader, uint32_t count, uint32_t *out) {
    const rows *of = reader->of;
    uint32_t j;
    switch (of->positions) {
    case GAPS: memcpy(out, reader->columns + reader->at, count * sizeof *out); break;
    case INDEX:
        for (j = 0; j < count; j++) out[j] = index_at(of, reader->at + j);
        break;
    case MASK:
        mask_columns(reader, count, out);
        break;
    default:
        for (j = 0; j < count; j++) out[j] = reader->at + j;
    }
    reader->at += count;
}

static double dense_dot(const int8_t *code, const double *query, uint32_t count) {
    double a = 0.0, b = 0.0, c = 0.0, d = 0.0; /* four sums that do not wait for each other; exact in any order */
    uint32_t j;
    for (j = 0; j + 4 <= count; j += 4) {
        a += code[j] * query[j];
        b += code[j + 1] * query[j + 1];
        c += code[j + 2] * query[j + 2];
        d += code[j + 3] * query[j + 3];
    }
    for (; j < count; j++) a += code[j] * query[j];
    return (a + b) + (c + d);
}

static double sparse_dot(const int8_t *code, const uint32_t *column, const double *query, uint32_t count) {
    double a = 0.0, b = 0.0, c = 0.0, d = 0.0;
    uint32_t j;
    for (j = 0; j + 4 <= count; j += 4) {
        a += code[j] * query[column[j]];
        b += code[j + 1] * query[column[j + 1]];
        c += code[j + 2] * query[column[j + 2]];
        d += code[j + 3] * query[column[j + 3]];
    }
    for (; j < count; j++) a += code[j] * query[column[j]];
    return (a + b) + (c + d);
}

static double read_dot(column_reader *reader, uint32_t entry, uint32_t count, const double *query) {
    int8_t codes[PIECE];
    uint32_t columns[PIECE], done, part;
    double sum = 0.0;
    for (done = 0; done < count; done += part) {
        part = count - done < PIECE ? count - done : PIECE;
        unpack_codes(reader->of, entry + done, part, codes);
        if (reader->of->positions == ALL_COLUMNS || reader->of->positions == PREFIX) {
            sum += dense_dot(codes, query + done, part);
        } else {
            next_columns(reader, part, columns);
            sum += sparse_dot(codes, columns, query, part);
        }
    }
    return sum;
}

/* Inner product of one row with a vector on its grid. */
static double row_dot(srec_model *model, const rows *of, uint32_t row, const double *query) {
    uint32_t entry, count;
    column_reader reader = read_row(model, of, row, &entry, &count);
    double sum = read_dot(&reader, entry, count, query);
    return row_scale(of, row, entry, count) * sum;
}

/* total[column - from] += code * value for the columns of a row from .. to - 1. */
static void add_row(srec_model *model, const rows *of, uint32_t row, double value, double *total, uint32_t from, uint32_t to) {
    int8_t codes[PIECE];
    uint32_t columns[PIECE], entry, count, done, part, j;
    column_reader reader = read_row(model, of, row, &entry, &count);
    for (done = 0; done < count; done += part) {
        part = count - done < PIECE ? count - done : PIECE;
        unpack_codes(of, entry + done, part, codes);
        next_columns(&reader, part, columns);
        for (j = 0; j < part; j++) {
            if (columns[j] >= from && columns[j] < to) total[columns[j] - from] += codes[j] * value;
        }
    }
}

/*
 * Inner products of rows from `first` on with a vector on its grid, into model->sums, and their lengths into
 * model->squares if asked for. Does as many rows as lie together, at most `count`, and returns how many.
 */
static uint32_t rows_dots(srec_model *model, const rows *of, uint32_t first, uint32_t count, const double *query, int lengths) {
    uint32_t entry, row, skip = 0;
    if (of->positions == GAPS) {
        gap_work work;
        uint32_t spacing = 1u << of->shift;
        memset(&work, 0, sizeof work);
        work.wanted = ANY;
        work.query = query;
        skip = first & (spacing - 1);
        if (count > spacing - skip) count = spacing - skip;
        walk_gaps(model, of, first >> of->shift, skip + count - 1, &work);
        entry = model->starts[skip];
        if (skip) memmove(model->sums, model->sums + skip, count * sizeof *model->sums);
    } else {
        if (count > TILE) count = TILE;
        entry = row_start(of, first);
    }
    for (row = 0; row < count; row++) {
        uint32_t size = row_count(of, first + row);
        double scale = row_scale(of, first + row, entry, size);
        if (of->positions != GAPS) {
            column_reader reader;
            memset(&reader, 0, sizeof reader);
            reader.of = of;
            reader.row = first + row;
            reader.at = of->positions == INDEX ? entry : 0;
            model->sums[row] = of->positions == ALL_COLUMNS && of->codes == CODES_BYTES
                                   ? dense_dot((const int8_t *)of->code.at + entry, query, size)
                                   : read_dot(&reader, entry, size, query);
        }
        model->sums[row] = scale * model->sums[row];
        if (lengths) model->squares[row] = scale * sqrt(sum_of_squares(of, entry, size));
        entry += size;
    }
    return count;
}

/* ---- Histories ---- */

/* Items and weights as a caller gives them, or as a golden query of the file has them. */
typedef struct {
    const uint32_t *items;
    const double *weights;
    size_t size;
    const golden_query *golden;
    uint32_t count; /* distinct known items whose weight is not 0 */
    int liked;      /* whether one of them is positive */
} history;

/* Reads the first occurrence of each item. */
typedef struct {
    const history *from;
    uint8_t *seen;
    size_t at;
    cursor items, weights;
} history_reader;

static int test_bit(const uint8_t *bits, uint32_t at) { return bits[at >> 3] >> (at & 7) & 1; }

static void set_bit(uint8_t *bits, uint32_t at) { bits[at >> 3] |= (uint8_t)(1u << (at & 7)); }

static void clear_bit(uint8_t *bits, uint32_t at) { bits[at >> 3] &= (uint8_t) ~(1u << (at & 7)); }

static history_reader read_history(const srec_model *model, const history *from, int bits) {
    history_reader reader;
    memset(&reader, 0, sizeof reader);
    reader.from = from;
    reader.seen = model->bits[bits];
    memset(reader.seen, 0, model->profile.items / 8 + 1);
    if (from->golden) {
        reader.items = from->golden->history_list;
        reader.weights = from->golden->weight_list;
    }
    return reader;
}

/* An entry of a history, known or not; 0 at the end. */
static int next_entry(history_reader *reader, uint32_t *item, double *weight) {
    const history *from = reader->from;
    if (from->golden) {
        cursor value;
        uint64_t index = 0;
        *weight = 1.0;
        if (!next_element(&reader->items, &value)) return 0;
        count_of(value, &index);
        *item = (uint32_t)index;
        if (reader->weights.at && next_element(&reader->weights, &value)) number_of(value, weight);
        return 1;
    }
    if (reader->at == from->size) return 0;
    *item = from->items[reader->at];
    *weight = from->weights ? from->weights[reader->at] : 1.0;
    reader->at++;
    return 1;
}

static int next_seen(history_reader *reader, uint32_t *item, double *weight) {
    while (next_entry(reader, item, weight)) {
        if (*item == SREC_NONE || test_bit(reader->seen, *item)) continue;
        set_bit(reader->seen, *item);
        return 1;
    }
    return 0;
}

/* The same, but for items of weight 0. */
static int next_used(history_reader *reader, uint32_t *item, double *weight) {
    while (next_seen(reader, item, weight)) {
        if (*weight != 0.0) return 1;
    }
    return 0;
}

static void count_history(const srec_model *model, history *from) {
    history_reader reader = read_history(model, from, 0);
    uint32_t item;
    double weight;
    from->count = 0;
    from->liked = 0;
    while (next_used(&reader, &item, &weight)) {
        from->count++;
        from->liked |= weight > 0.0;
    }
}

static uint32_t degree_at(const srec_model *model, uint32_t item) {
    if (model->item_degree) return model->item_degree[item];
    return count_at(&model->degree, model->profile.weighted ? level_at(&model->degree_level, item) : item);
}

/* What the row of an item of a history is multiplied with. */
static double edge_weight(const srec_model *model, const history *from, uint32_t item, double weight) {
    double size = from->count, loop = model->profile.self_loops ? 1.0 : 0.0, degree;
    if (model->profile.weighted) {
        double power = model->profile.size_power, share = power == 0.0 ? 1.0 : power == 1.0 ? 1.0 / size : 1.0 / sqrt(size);
        return weight * (real_at(&model->fold_weight, level_at(&model->weight_level, item)) * share);
    }
    degree = (double)degree_at(model, item) + loop;
    return weight * (1.0 / sqrt((size + loop) * (degree > 1.0 ? degree : 1.0)));
}

static double loop_weight(const srec_model *model, const history *from) {
    return model->profile.self_loops ? 1.0 / ((double)from->count + 1.0) : 0.0;
}

/* ---- Weighted sums of rows ---- */

/* Rows and their weights: those of a history, or some in a run. */
typedef struct {
    const history *past;
    history_reader reader;
    const double *weights; /* where there is no history: of rows first, first + 1 .. */
    uint32_t first, at, count;
} feed;

/* `bits`: which of the two sets of bits the feed may use. */
static feed feed_history(const srec_model *model, const history *past, int bits) {
    feed found;
    memset(&found, 0, sizeof found);
    found.past = past;
    found.count = past->count;
    found.reader = read_history(model, past, bits);
    return found;
}

static feed feed_rows(const double *weights, uint32_t first, uint32_t count) {
    feed found;
    memset(&found, 0, sizeof found);
    found.weights = weights;
    found.first = first;
    found.count = count;
    return found;
}

static feed fed_again(const srec_model *model, const feed *from, int bits) {
    return from->past ? feed_history(model, from->past, bits) : feed_rows(from->weights, from->first, from->count);
}

static int next_row(const srec_model *model, feed *from, uint32_t *row, double *weight) {
    if (from->past) {
        if (!next_used(&from->reader, row, weight)) return 0;
        *weight = edge_weight(model, from->past, *row, *weight);
        return 1;
    }
    if (from->at == from->count) return 0;
    *row = from->first + from->at;
    *weight = from->weights[from->at++];
    return 1;
}

/* The weighted rows of a run of gaps: all rows of a block of gaps at once. */
static void add_gaps(srec_model *model, const rows *of, feed *from, uint32_t count, double shift, gap_work *work) {
    uint32_t row = from->first + from->at, end = row + count, spacing = 1u << of->shift;
    work->values = model->squares;
    while (row < end) {
        uint32_t block = row >> of->shift, first = block << of->shift, last = end - first < spacing ? end - first : spacing, j;
        for (j = 0; j < last; j++) {
            double value = first + j < row ? 0.0 : from->weights[first + j - from->first] * scale_of(of, first + j);
            model->squares[j] = (value + shift) - shift;
        }
        walk_gaps(model, of, block, last - 1, work);
        row = first + last;
    }
    from->at += count;
}

/* The sum over the next block of rows, of columns from .. to - 1. `ahead` finds the grid, `behind` then adds. */
static void add_block(srec_model *model, const rows *of, feed *ahead, feed *behind, double *total, uint32_t from, uint32_t to) {
    double largest = 0.0, weight, shift;
    uint32_t row, count;
    for (count = 0; count < BLOCK_ROWS && next_row(model, ahead, &row, &weight); count++) {
        double size = fabs(weight * scale_of(of, row));
        if (size > largest) largest = size;
    }
    shift = grid(largest, 33);
    if (of->positions == GAPS && !behind->past) {
        gap_work work;
        memset(&work, 0, sizeof work);
        work.wanted = ANY;
        work.total = total;
        work.from = from;
        work.to = to;
        add_gaps(model, of, behind, count, shift, &work);
        return;
    }
    while (count-- > 0 && next_row(model, behind, &row, &weight)) {
        double value = (weight * scale_of(of, row) + shift) - shift;
        if (value != 0.0) add_row(model, of, row, value, total, from, to);
    }
}

/* rowsum of the format, of rows. More than one block is made some columns at a time: a block sum has room for so many. */
static void sum_rows(srec_model *model, const rows *of, const feed *source, double *total) {
    uint32_t from, to, done, j;
    memset(total, 0, of->dim * sizeof *total);
    for (from = 0; from < of->dim; from = to) {
        feed ahead = fed_again(model, source, 0), behind = fed_again(model, source, 1);
        if (source->count <= BLOCK_ROWS) {
            add_block(model, of, &ahead, &behind, total, 0, of->dim);
            return;
        }
        to = of->dim - from < CHUNK ? of->dim : from + CHUNK;
        for (done = 0; done < source->count; done += BLOCK_ROWS) {
            memset(model->chunk, 0, (to - from) * sizeof *model->chunk);
            add_block(model, of, &ahead, &behind, model->chunk, from, to);
            for (j = from; j < to; j++) total[j] = total[j] + model->chunk[j - from];
            if (source->count - done <= BLOCK_ROWS) break;
        }
    }
}

static double product_scale(const table *of, uint32_t row) { return of->scale.kind == SCALE_ONE ? 1.0 : scale_value(&of->scale, row); }

static uint32_t part_at(const table *of, uint32_t slice, uint32_t row) { return level_at(&of->part, (uint64_t)slice * of->count + row); }

/* How much each entry of the codebook of a slice counts, of product codes. */
static void sum_parts(srec_model *model, const table *of, const feed *source, uint32_t slice, double *total) {
    feed ahead = fed_again(model, source, 0), behind = fed_again(model, source, 1);
    uint32_t count = BLOCK_ROWS, row, j;
    double weight;
    memset(total, 0, of->entries * sizeof *total);
    while (count == BLOCK_ROWS) {
        double largest = 0.0, shift, block[LEVELS_MOST] = {0.0};
        for (count = 0; count < BLOCK_ROWS && next_row(model, &ahead, &row, &weight); count++) {
            double size = fabs(weight * product_scale(of, row));
            if (size > largest) largest = size;
        }
        shift = grid(largest, 40);
        for (j = 0; j < count && next_row(model, &behind, &row, &weight); j++) {
            block[part_at(of, slice, row)] += (weight * product_scale(of, row) + shift) - shift;
        }
        for (j = 0; j < of->entries; j++) total[j] = total[j] + block[j];
    }
}

/* rowsum of the format. */
static void table_sum(srec_model *model, const table *of, const feed *source, double *total) {
    uint32_t slice;
    if (!of->slices) {
        sum_rows(model, &of->row, source, total);
        return;
    }
    for (slice = 0; slice < of->slices; slice++) {
        double weights[LEVELS_MOST];
        feed entries = feed_rows(weights, slice * of->entries, of->entries);
        sum_parts(model, of, source, slice, weights);
        sum_rows(model, &of->row, &entries, total + (size_t)slice * of->row.dim);
    }
}

/* ---- Inner products with rows ---- */

/* Makes a vector ready for table_dots: on its grid or, of product codes, as products with all entries of the codebooks. */
static void set_query(srec_model *model, const table *of, const double *vector, int lengths) {
    const rows *row = &of->row;
    double *query = model->vector_room[2], *squares = model->lookup + (size_t)of->slices * of->entries;
    uint32_t slice, at, done, j, end;
    if (!of->slices) {
        memcpy(query, vector, row->dim * sizeof *query);
        snap(query, row->dim, 45 - bits_for(row->dim));
        return;
    }
    for (slice = 0, at = 0; slice < of->slices; slice++) {
        memcpy(query, vector + (size_t)slice * row->dim, row->dim * sizeof *query);
        snap(query, row->dim, 45 - bits_for(row->dim));
        for (end = at + of->entries; at < end; at += done) {
            done = rows_dots(model, row, at, end - at, query, lengths);
            memcpy(model->lookup + at, model->sums, done * sizeof *query);
            for (j = 0; lengths && j < done; j++) squares[at + j] = model->squares[j] * model->squares[j];
        }
    }
    snap(model->lookup, (size_t)of->slices * of->entries, 52 - bits_for(of->slices));
}

/* The same as rows_dots, of any table and the vector of set_query. */
static uint32_t table_dots(srec_model *model, const table *of, uint32_t first, uint32_t count, int lengths) {
    const double *products = model->lookup, *squares = model->lookup + (size_t)of->slices * of->entries;
    uint32_t slice, j;
    if (!of->slices) return rows_dots(model, &of->row, first, count, model->vector_room[2], lengths);
    if (count > TILE) count = TILE;
    memset(model->sums, 0, count * sizeof *model->sums);
    memset(model->squares, 0, count * sizeof *model->squares);
    for (slice = 0; slice < of->slices; slice++, products += of->entries, squares += of->entries) {
        for (j = 0; j < count; j++) {
            uint32_t part = part_at(of, slice, first + j);
            model->sums[j] += products[part];
            if (lengths) model->squares[j] += squares[part];
        }
    }
    for (j = 0; j < count; j++) {
        double scale = product_scale(of, first + j);
        model->sums[j] = model->sums[j] * scale;
        if (lengths) model->squares[j] = scale * sqrt(model->squares[j]);
    }
    return count;
}

static double table_dot(srec_model *model, const table *of, uint32_t row) {
    double sum = 0.0;
    uint32_t slice;
    if (!of->slices) return row_dot(model, &of->row, row, model->vector_room[2]);
    for (slice = 0; slice < of->slices; slice++) sum += model->lookup[slice * of->entries + part_at(of, slice, row)];
    return sum * product_scale(of, row);
}

/* A row as a dense vector. */
static void dense_row(srec_model *model, const rows *of, uint32_t row, double *out) {
    uint32_t entry, count, j, column;
    column_reader reader = read_row(model, of, row, &entry, &count);
    double scale = row_scale(of, row, entry, count);
    memset(out, 0, of->dim * sizeof *out);
    for (j = 0; j < count; j++) {
        next_columns(&reader, 1, &column);
        out[column] = code_at(of, entry + j) * scale;
    }
}

static void table_row(srec_model *model, const table *of, uint32_t row, double *out) {
    uint32_t slice, j;
    double scale;
    if (!of->slices) {
        dense_row(model, &of->row, row, out);
        return;
    }
    scale = product_scale(of, row);
    for (slice = 0; slice < of->slices; slice++, out += of->row.dim) {
        dense_row(model, &of->row, slice * of->entries + part_at(of, slice, row), out);
        for (j = 0; j < of->row.dim; j++) out[j] = out[j] * scale;
    }
}

/* ---- The graph filter ---- */

/* A vector over the nodes, users first; a part may be absent: zero, or not asked for. */
typedef struct {
    double *value;
    int users, items;
} nodes;

static double node_norm(const srec_model *model, uint32_t degree) {
    double wide = (double)degree + (model->profile.self_loops ? 1.0 : 0.0);
    return wide > 0.0 ? 1.0 / sqrt(wide) : 0.0;
}

static double user_norm(const srec_model *model, uint32_t user) { return node_norm(model, count_at(&model->graph.count, user)); }

static double item_norm(const srec_model *model, uint32_t item) { return node_norm(model, model->item_degree[item]); }

static void normalise(srec_model *model, nodes *x) {
    uint32_t users = model->profile.users, items = model->profile.items, j;
    if (x->users) {
        for (j = 0; j < users; j++) x->value[j] = x->value[j] * user_norm(model, j);
        snap(x->value, users, model->graph.grid_bits);
    }
    if (x->items) {
        for (j = 0; j < items; j++) x->value[users + j] = x->value[users + j] * item_norm(model, j);
        snap(x->value + users, items, model->graph.grid_bits);
    }
}

/* Sums over neighbours in one pass over all edges. */
static void sum_edges(const srec_model *model, const nodes *z, nodes *sums) {
    uint32_t users = model->profile.users, user, j;
    int to_users = sums->users && z->items, to_items = sums->items && z->users;
    const double *from_items = z->value + users;
    double *items = sums->value + users;
    edge_place place = {0, 0};
    if (!to_users && !to_items) return;
    for (user = 0; user < users; user++) {
        uint32_t count = count_at(&model->graph.count, user), item = 0;
        double total = 0.0, own = to_items ? z->value[user] : 0.0;
        for (j = 0; j < count; j++, item++) {
            item += next_gap(&model->graph, &place);
            if (to_users) total += from_items[item];
            if (to_items) items[item] += own;
        }
        if (to_users) sums->value[user] = total;
    }
}

/*
 * x = S x, the parts asked for. Without self-loops a vector lives on one side, and its neighbours' sums have room on the
 * other side of the same vector; with them they need `spare`, which is then exchanged with it.
 */
static void filter_step(srec_model *model, nodes *x, nodes *spare, int users, int items) {
    uint32_t user_count = model->profile.users, item_count = model->profile.items, j;
    int loops = model->profile.self_loops;
    nodes sums = *x;
    if (loops) sums.value = spare->value;
    normalise(model, x);
    sums.users = users;
    sums.items = items;
    if (users) memset(sums.value, 0, user_count * sizeof *sums.value);
    if (items) memset(sums.value + user_count, 0, item_count * sizeof *sums.value);
    sum_edges(model, x, &sums);
    for (j = 0; users && j < user_count; j++) {
        if (loops && x->users) sums.value[j] = sums.value[j] + x->value[j];
        sums.value[j] = user_norm(model, j) * sums.value[j];
    }
    for (j = user_count; items && j < user_count + item_count; j++) {
        if (loops && x->items) sums.value[j] = sums.value[j] + x->value[j];
        sums.value[j] = item_norm(model, j - user_count) * sums.value[j];
    }
    if (loops) spare->value = x->value;
    *x = sums;
}

static void add_scaled(const srec_model *model, double *total, const nodes *x, double factor) {
    uint32_t users = model->profile.users, end = x->items ? users + model->profile.items : users, j;
    for (j = x->users ? 0 : users; j < end; j++) total[j] = total[j] + factor * x->value[j];
}

/* spread of the format: from one user, or from items. The result is over all nodes. */
static double *spread(srec_model *model, const double *coefficients, uint32_t count, int from_user) {
    size_t all = (size_t)model->profile.users + model->profile.items;
    double *total = model->work + all;
    int loops = model->profile.self_loops;
    nodes x, spare;
    uint32_t k;
    memset(&spare, 0, sizeof spare);
    x.value = model->work;
    if (loops) spare.value = model->work + 2 * all;
    x.users = from_user;
    x.items = !from_user;
    memset(total, 0, all * sizeof *total);
    for (k = 0; k < count; k++) {
        if (k) filter_step(model, &x, &spare, loops || x.items, loops || x.users);
        add_scaled(model, total, &x, coefficients[k]);
    }
    return total;
}

/* gather of the format on what model->work + all holds: the items' part of the result. */
static double *gather(srec_model *model, const double *coefficients, uint32_t count) {
    size_t all = (size_t)model->profile.users + model->profile.items;
    int loops = model->profile.self_loops;
    nodes h, own, spare;
    uint32_t k = count - 1;
    memset(&spare, 0, sizeof spare);
    h.value = model->work;
    own.value = model->work + all;
    if (loops) spare.value = model->work + 2 * all;
    memset(h.value, 0, all * sizeof *h.value);
    for (;; k--) {
        int items = loops || k % 2 == 0, users = k > 0 && (loops || k % 2 == 1);
        if (k < count - 1) filter_step(model, &h, &spare, users, items);
        h.users = own.users = users;
        h.items = own.items = items;
        add_scaled(model, h.value, &own, coefficients[k]);
        if (!k) return h.value + model->profile.users;
    }
}

/* ---- The top of a list of scores; ties are broken by index, here and nowhere else ---- */

typedef struct {
    srec_scored *heap; /* the worst of the best so far comes first */
    size_t room, count;
} top;

static int is_worse(const srec_scored *a, const srec_scored *b) {
    return a->score < b->score || (a->score == b->score && a->item > b->item);
}

static void sift(srec_scored *heap, size_t count) {
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        srec_scored held;
        if (child >= count) return;
        if (child + 1 < count && is_worse(heap + child + 1, heap + child)) child++;
        if (!is_worse(heap + child, heap + at)) return;
        held = heap[at];
        heap[at] = heap[child];
        heap[child] = held;
        at = child;
    }
}

static void offer(top *best, uint32_t item, double score) {
    srec_scored *heap = best->heap, one;
    size_t at = best->count, parent;
    one.score = score;
    one.item = item;
    if (at < best->room) {
        for (; at && is_worse(&one, heap + (parent = (at - 1) / 2)); at = parent) heap[at] = heap[parent];
        heap[at] = one;
        best->count++;
    } else if (is_worse(heap, &one)) {
        heap[0] = one;
        sift(heap, best->count);
    }
}

/* From a heap to a list with the best first. */
static size_t sorted_top(top *best) {
    size_t left = best->count;
    while (left > 1) {
        srec_scored worst = best->heap[0];
        best->heap[0] = best->heap[--left];
        best->heap[left] = worst;
        sift(best->heap, left);
    }
    return best->count;
}

/* ---- Questions ---- */

/* Coefficients of the filter seen from a user inserted one-way. */
static uint32_t inserted(const srec_model *model, double sigma, double *out) {
    uint32_t count = model->weight_count, j;
    if (count == 1) {
        out[0] = model->weight[0];
        return 1;
    }
    count--;
    for (j = 0; j < count; j++) out[j] = model->weight[j + 1];
    for (j = count - 1; j-- > 0;) out[j] = out[j] + sigma * out[j + 1];
    return count;
}

static size_t node_count(const srec_model *model) { return (size_t)model->profile.users + model->profile.items; }

/* In full: the vector of what model->work holds on one side, spread over the graph. */
static void spread_vector(srec_model *model, const double *coefficients, uint32_t count, int from_user) {
    double *weights = spread(model, coefficients, count, from_user);
    feed all = feed_rows(weights, 0, (uint32_t)node_count(model));
    table_sum(model, model->tables, &all, model->vector_room[0]);
}

static void one_hot_vector(srec_model *model, uint32_t node, int is_user) {
    memset(model->work, 0, node_count(model) * sizeof *model->work);
    model->work[is_user ? node : model->profile.users + node] = 1.0;
    spread_vector(model, model->weight, model->weight_count, is_user);
}

static void full_history(srec_model *model, const history *past) {
    double coefficients[WEIGHTS_MOST], weight, *on_items = model->work + model->profile.users;
    uint32_t count = inserted(model, loop_weight(model, past), coefficients), item;
    history_reader reader = read_history(model, past, 0);
    memset(model->work, 0, node_count(model) * sizeof *model->work);
    while (next_used(&reader, &item, &weight)) on_items[item] = edge_weight(model, past, item, weight);
    spread_vector(model, coefficients, count, 0);
}

/* Vector of a new user into vector_room[0]; of neighbours the scores into model->work. */
static void history_vector(srec_model *model, const history *past) {
    const table *fold = model->table_count > 1 ? model->tables + 1 : model->tables;
    uint32_t others = model->table_count > 2 ? model->table_count - 2 : 0, q, c;
    double factor = 1.0, sigma = model->profile.weighted ? 0.0 : loop_weight(model, past);
    feed source;
    if (model->profile.mode == SREC_FULL) {
        full_history(model, past);
        return;
    }
    source = feed_history(model, past, 0);
    if (model->profile.mode == SREC_NEIGHBOURS) {
        sum_rows(model, &model->tables->row, &source, model->work);
        return;
    }
    table_sum(model, fold, &source, model->vector_room[0]);
    for (q = 1; q <= others; q++) {
        double *more = model->vector_room[1], *vector = model->vector_room[0];
        factor *= sigma;
        table_sum(model, fold + q, &source, more);
        for (c = 0; c < model->profile.dim; c++) vector[c] = vector[c] + factor * more[c];
    }
}

/* In full: what all items get from a vector, by coefficients of the filter. */
static const double *reach(srec_model *model, const double *coefficients, uint32_t count) {
    double *on_nodes = model->work + node_count(model);
    uint32_t first, done, all = (uint32_t)node_count(model);
    set_query(model, model->tables, model->vector_room[0], 0);
    for (first = 0; first < all; first += done) {
        done = table_dots(model, model->tables, first, all - first, 0);
        memcpy(on_nodes + first, model->sums, done * sizeof *on_nodes);
    }
    return gather(model, coefficients, count);
}

/* The score of an item with its term. */
static double termed(const srec_model *model, uint32_t item, double score) {
    return model->term.at ? score + f32_at(model->term.at + 4 * (size_t)level_at(&model->term_level, item)) : score;
}

/* The best of the items that are set in `allowed`, by the vector of a user. */
static void rank(srec_model *model, const uint8_t *allowed, top *best) {
    uint32_t items = model->profile.items, first, done, j;
    if (model->profile.mode == SREC_FULL || model->profile.mode == SREC_NEIGHBOURS) {
        const double *scores = model->profile.mode == SREC_FULL ? reach(model, model->weight, model->weight_count) : model->work;
        for (j = 0; j < items; j++) {
            if (test_bit(allowed, j)) offer(best, j, termed(model, j, scores[j]));
        }
        return;
    }
    set_query(model, model->tables, model->vector_room[0], 0);
    for (first = 0; first < items; first += done) {
        done = table_dots(model, model->tables, first, items - first, 0);
        for (j = 0; j < done; j++) {
            if (test_bit(allowed, first + j)) offer(best, first + j, termed(model, first + j, model->sums[j]));
        }
    }
}

static void rank_popular(const srec_model *model, const uint8_t *allowed, top *best) {
    uint32_t j;
    for (j = 0; j < model->profile.items; j++) {
        if (test_bit(allowed, j)) offer(best, j, srec_popularity(model, j));
    }
}

/* Vector of a stored user into vector_room[0]. */
static void user_vector(srec_model *model, uint32_t user) {
    uint32_t j;
    if (model->profile.mode == SREC_FULL) {
        one_hot_vector(model, user, 1);
        return;
    }
    for (j = 0; j < model->profile.dim; j++) model->vector_room[0][j] = real_at(&model->vector, j);
}

/* Takes what a stored user has seen out of `allowed`. */
static void hide_seen(const srec_model *model, uint32_t user, uint8_t *allowed) {
    edge_place place = {0, 0};
    uint32_t other, j;
    for (j = 0; j < model->seen.count; j++) clear_bit(allowed, count_at(&model->seen, j));
    if (model->profile.mode != SREC_FULL) return;
    for (other = 0; other <= user; other++) {
        uint32_t count = count_at(&model->graph.count, other), item = 0;
        for (j = 0; j < count; j++, item++) {
            item += next_gap(&model->graph, &place);
            if (other == user) clear_bit(allowed, item);
        }
    }
}

static void hide_history(const history *past, uint8_t *allowed) {
    history_reader reader;
    uint32_t item;
    double weight;
    memset(&reader, 0, sizeof reader);
    reader.from = past;
    if (past->golden) {
        reader.items = past->golden->history_list;
        reader.weights = past->golden->weight_list;
    }
    while (next_entry(&reader, &item, &weight)) {
        if (item != SREC_NONE) clear_bit(allowed, item);
    }
}

/* Lists of indices may hold SREC_NONE, but nothing else beyond the end. */
static int are_indices(const uint32_t *list, size_t size, uint32_t limit) {
    size_t j;
    for (j = 0; list && j < size; j++) {
        if (list[j] >= limit && list[j] != SREC_NONE) return 0;
    }
    return 1;
}

static srec_code check_history(const srec_model *model, const srec_question *question) {
    size_t j;
    if (!are_indices(question->history, question->history_size, model->profile.items)) return SREC_BAD_QUERY;
    for (j = 0; question->weights && j < question->history_size; j++) {
        if (!(fabs(question->weights[j]) <= LARGEST_WEIGHT)) return SREC_BAD_QUERY;
    }
    return SREC_OK;
}

static int has_tag(const srec_model *model, uint32_t item, uint32_t tag) {
    size_t width = (model->tag_names.count + 7) / 8;
    return model->tag_bits[item * width + (tag >> 3)] >> (tag & 7) & 1;
}

static int same_tag(const srec_model *model, uint32_t a, uint32_t b) {
    return a == b || compare_bytes(text_at(&model->tag_names, a), text_at(&model->tag_names, b)) == 0;
}

/* Sets the bits of the items that have a tag, or another one of its name. */
static void set_tagged(const srec_model *model, uint32_t tag, uint8_t *some) {
    uint32_t other, item;
    for (other = 0; other < model->tag_names.count; other++) {
        for (item = 0; same_tag(model, tag, other) && item < model->profile.items; item++) {
            if (has_tag(model, item, other)) set_bit(some, item);
        }
    }
}

/* A set bit of model->bits[0] for each item that may be in the answer. */
static srec_code set_allowed(const srec_model *model, const srec_question *question) {
    uint8_t *allowed = model->bits[0], *some = model->bits[1];
    uint32_t items = model->profile.items;
    size_t j;
    for (j = 0; question->tags && j < question->tags_size; j++) {
        if (question->tags[j] >= model->tag_names.count) return SREC_UNKNOWN_TAG;
    }
    if (question->tags && !model->tag_bits) return SREC_UNKNOWN_TAG;
    if (!are_indices(question->exclude, question->exclude_size, items) || !are_indices(question->allow, question->allow_size, items)) {
        return SREC_BAD_QUERY;
    }
    memset(allowed, question->allow ? 0 : 0xff, items / 8 + 1);
    for (j = 0; question->allow && j < question->allow_size; j++) {
        if (question->allow[j] != SREC_NONE) set_bit(allowed, question->allow[j]);
    }
    if (question->tags) {
        memset(some, 0, items / 8 + 1);
        for (j = 0; j < question->tags_size; j++) set_tagged(model, question->tags[j], some);
        for (j = 0; j < items / 8 + 1; j++) allowed[j] &= some[j];
    }
    for (j = 0; question->exclude && j < question->exclude_size; j++) {
        if (question->exclude[j] != SREC_NONE) clear_bit(allowed, question->exclude[j]);
    }
    return SREC_OK;
}

static history past_of(const srec_question *question) {
    history past;
    memset(&past, 0, sizeof past);
    past.items = question->history;
    past.weights = question->weights;
    past.size = question->history ? question->history_size : 0;
    return past;
}

/* Whom a question is about: a stored user, whose index it is, or a history. */
static srec_code user_of(const srec_model *model, const srec_question *question, int *by_user, uint32_t *user) {
    uint32_t known = model->profile.mode == SREC_FULL ? model->profile.users : model->profile.mode == SREC_PERSONAL;
    if (question->by_user && question->history) return SREC_BAD_QUERY;
    *by_user = question->by_user || (!question->history && model->profile.mode == SREC_PERSONAL);
    *user = question->by_user ? question->user : 0;
    if (*by_user && *user >= known) return SREC_UNKNOWN_USER;
    return *by_user ? SREC_OK : check_history(model, question);
}

srec_code srec_recommend(srec_model *model, const srec_question *question, srec_scored *out, size_t k, size_t *found) {
    uint8_t *allowed = model->bits[0];
    history past = past_of(question);
    uint32_t user = 0;
    int by_user = 0;
    top best;
    best.heap = out;
    best.room = k;
    best.count = 0;
    *found = 0;
    if (!k) return SREC_BAD_QUERY;
    TRY(user_of(model, question, &by_user, &user));
    if (by_user) {
        user_vector(model, user);
    } else {
        count_history(model, &past);
        if (past.liked) history_vector(model, &past);
    }
    TRY(set_allowed(model, question));
    if (!question->keep_seen) {
        if (by_user) {
            hide_seen(model, user, allowed);
        } else {
            hide_history(&past, allowed);
        }
    }
    if (by_user || past.liked) {
        rank(model, allowed, &best);
    } else {
        rank_popular(model, allowed, &best);
    }
    *found = sorted_top(&best);
    return SREC_OK;
}

/* Inner products divided by lengths, 0 where a length is 0. */
static double cosine(double product, double one, double other) {
    double lengths = one * other;
    return lengths > 0.0 ? product / lengths : 0.0;
}

static void rank_similar(srec_model *model, uint32_t item, top *best) {
    const table *score = model->tables;
    uint32_t items = model->profile.items, first, done, j;
    double own = 0.0;
    table_row(model, score, item, model->vector_room[0]);
    set_query(model, score, model->vector_room[0], 1);
    table_dots(model, score, item, 1, 1);
    own = model->squares[0];
    for (first = 0; first < items; first += done) {
        done = table_dots(model, score, first, items - first, 1);
        for (j = 0; j < done; j++) {
            if (first + j != item) offer(best, first + j, cosine(model->sums[j], own, model->squares[j]));
        }
    }
}

srec_code srec_similar(srec_model *model, uint32_t item, srec_scored *out, size_t k, size_t *found) {
    const double *scores = model->work;
    uint32_t j;
    top best;
    best.heap = out;
    best.room = k;
    best.count = 0;
    *found = 0;
    if (!k) return SREC_BAD_QUERY;
    if (item >= model->profile.items) return SREC_UNKNOWN_ITEM;
    if (model->profile.mode == SREC_ITEMS || model->profile.mode == SREC_PERSONAL) {
        rank_similar(model, item, &best);
        *found = sorted_top(&best);
        return SREC_OK;
    }
    if (model->profile.mode == SREC_NEIGHBOURS) {
        dense_row(model, &model->tables->row, item, model->work);
    } else {
        one_hot_vector(model, item, 0);
        scores = reach(model, model->weight, model->weight_count);
    }
    for (j = 0; j < model->profile.items; j++) {
        double score = scores[j];
        if (model->norm.at) score = cosine(score, real_at(&model->norm, item), real_at(&model->norm, j));
        if (j != item) offer(&best, j, score);
    }
    *found = sorted_top(&best);
    return SREC_OK;
}

/* One entry of rows; 0 where the row has none there. */
static double row_value(srec_model *model, const rows *of, uint32_t row, uint32_t wanted) {
    uint32_t entry, count, j, column;
    column_reader reader = read_row(model, of, row, &entry, &count);
    for (j = 0; j < count; j++) {
        next_columns(&reader, 1, &column);
        if (column == wanted) return code_at(of, entry + j) * row_scale(of, row, entry, count);
    }
    return 0.0;
}

/* What each item of a history reaches of an item, into the scores of `out`. */
static void reach_of_history(srec_model *model, const history *past, uint32_t item, srec_scored *out) {
    const table *fold = model->table_count > 1 ? model->tables + 1 : model->tables;
    uint32_t tables = model->table_count > 1 ? model->table_count - 1 : 1, q, at, j;
    double factor = 1.0, sigma = model->profile.weighted ? 0.0 : loop_weight(model, past), coefficients[WEIGHTS_MOST];
    if (model->profile.mode == SREC_NEIGHBOURS) {
        for (j = 0; j < past->count; j++) out[j].score = row_value(model, &model->tables->row, out[j].item, item);
        return;
    }
    if (model->profile.mode == SREC_FULL) {
        const double *values;
        uint32_t count = inserted(model, sigma, coefficients);
        one_hot_vector(model, item, 0);
        values = reach(model, coefficients, count);
        for (j = 0; j < past->count; j++) out[j].score = values[out[j].item];
        return;
    }
    table_row(model, model->tables, item, model->vector_room[0]);
    for (q = 0; q < tables; q++) {
        if (q) factor *= sigma;
        set_query(model, fold + q, model->vector_room[0], 0);
        for (at = 0; at < past->count; at++) {
            double product = table_dot(model, fold + q, out[at].item);
            out[at].score = q ? out[at].score + factor * product : product;
        }
    }
}

srec_code srec_explain(srec_model *model, const srec_question *question, uint32_t item, srec_scored *out, size_t *found, double *score) {
    history past = past_of(question);
    history_reader reader;
    uint32_t liked, at;
    double weight;
    *found = 0;
    *score = 0.0;
    if (question->by_user) return SREC_BAD_QUERY;
    if (item >= model->profile.items) return SREC_UNKNOWN_ITEM;
    TRY(check_history(model, question));
    count_history(model, &past);
    if (!past.liked) {
        *score = srec_popularity(model, item);
        return SREC_OK;
    }
    reader = read_history(model, &past, 0);
    for (at = 0; next_used(&reader, &liked, &weight); at++) out[at].item = liked;
    reach_of_history(model, &past, item, out);
    reader = read_history(model, &past, 0);
    for (at = 0; next_used(&reader, &liked, &weight); at++) {
        out[at].score = edge_weight(model, &past, liked, weight) * out[at].score;
        *score = *score + out[at].score;
    }
    *score = termed(model, item, *score);
    *found = past.count;
    return SREC_OK;
}

/* ---- Golden queries ---- */

static int is_near(double a, double b, double tolerance) { return fabs(a - b) <= tolerance; }

/* The same scores place by place, and the same items but where scores are too close to tell apart. */
static int is_as_expected(const golden_query *query, const srec_scored *got, uint32_t count) {
    cursor list = query->score_list, value;
    double largest = 0.0, number = 0.0, tolerance;
    uint64_t item = 0;
    uint32_t j;
    if (count != query->items) return 0;
    while (next_element(&list, &value)) {
        if (number_of(value, &number) && fabs(number) > largest) largest = fabs(number);
    }
    tolerance = GOLDEN_TOLERANCE * largest;
    for (list = query->score_list, j = 0; next_element(&list, &value); j++) {
        if (!number_of(value, &number) || !is_near(got[j].score, number, tolerance)) return 0;
    }
    for (list = query->item_list, j = 0; next_element(&list, &value); j++) {
        int tied = j + 1 == count || is_near(got[j].score, got[j + 1].score, tolerance) ||
                   (j && is_near(got[j].score, got[j - 1].score, tolerance));
        if (count_of(value, &item) && item != got[j].item && !tied) return 0;
    }
    return 1;
}

static int golden_holds(srec_model *model, const golden_query *query) {
    srec_scored got[GOLDEN_MOST];
    uint8_t *allowed = model->bits[0];
    history past;
    top best;
    memset(&past, 0, sizeof past);
    past.golden = query;
    best.heap = got;
    best.room = query->items ? query->items : 1;
    best.count = 0;
    if (query->by_user) {
        user_vector(model, query->user);
    } else {
        count_history(model, &past);
        if (past.liked) history_vector(model, &past);
    }
    memset(allowed, 0xff, model->profile.items / 8 + 1);
    if (query->by_user) {
        hide_seen(model, query->user, allowed);
    } else {
        hide_history(&past, allowed);
    }
    if (query->by_user || past.liked) {
        rank(model, allowed, &best);
    } else {
        rank_popular(model, allowed, &best);
    }
    sorted_top(&best);
    return is_as_expected(query, got, best.count < query->items ? (uint32_t)best.count : query->items);
}

srec_code srec_self_test(srec_model *model, uint32_t *failed) {
    cursor list = model->golden, value;
    golden_query query;
    uint32_t number;
    *failed = SREC_NONE;
    for (number = 0; number < model->golden_count && next_element(&list, &value); number++) {
        if (!read_query(&model->profile, value, &query) || !golden_holds(model, &query)) {
            *failed = number;
            return SREC_SELF_TEST_FAILED;
        }
    }
    return SREC_OK;
}

/* ---- What a file says of itself ---- */

const char *srec_name(srec_code code) {
    switch (code) {
#define SREC_CASE(member, name) \
    case SREC_##member: return name;
        SREC_CODES(SREC_CASE)
#undef SREC_CASE
    default: return "unknown";
    }
}

srec_info srec_describe(const srec_model *model) {
    const profile *about = &model->profile;
    srec_info info;
    memset(&info, 0, sizeof info);
    info.mode = about->mode;
    info.items = about->items;
    info.users = about->users;
    info.dim = about->dim;
    info.fold_tables = about->fold_tables;
    info.self_loops = about->self_loops;
    info.tags = model->tag_names.count;
    info.titles = model->titles.text != NULL;
    info.golden = model->golden_count;
    info.tensors = model->record_count;
    info.minor_version = model->minor;
    return info;
}

uint32_t srec_find_item(const srec_model *model, const char *id, size_t length) { return find_text_id(&model->items, id, length); }

static size_t put_number(char out[24], int64_t number) {
    char digits[24];
    uint64_t left = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    size_t count = 0, length = 0;
    do {
        digits[count++] = (char)('0' + left % 10);
        left /= 10;
    } while (left);
    if (number < 0) out[length++] = '-';
    while (count) out[length++] = digits[--count];
    return length;
}

uint32_t srec_find_item_number(const srec_model *model, int64_t id) {
    char digits[24];
    size_t length = put_number(digits, id);
    return find_text_id(&model->items, digits, length);
}

static int is_own_user(const srec_model *model, const char *id, size_t length) {
    cursor content, given;
    double number = 0.0;
    char digits[24];
    given.at = (const uint8_t *)id;
    given.end = given.at + length;
    given.level = 0;
    if (!model->profile.user_id.at || !is_utf8(given.at, length)) return 0;
    if (string_content(model->profile.user_id, &content)) return compare_texts(content, given) == 0;
    integer_of(model->profile.user_id, &number);
    return put_number(digits, (int64_t)number) == length && memcmp(digits, id, length) == 0;
}

uint32_t srec_find_user(const srec_model *model, const char *id, size_t length) {
    if (model->profile.mode == SREC_FULL) return find_text_id(&model->users, id, length);
    return model->profile.mode == SREC_PERSONAL && is_own_user(model, id, length) ? 0 : SREC_NONE;
}

uint32_t srec_find_tag(const srec_model *model, const char *name, size_t length) {
    srec_text wanted;
    uint32_t tag;
    wanted.at = name;
    wanted.length = length;
    for (tag = 0; tag < model->tag_names.count; tag++) {
        if (compare_bytes(text_at(&model->tag_names, tag), wanted) == 0) return tag;
    }
    return SREC_NONE;
}

srec_id srec_item_id(const srec_model *model, uint32_t item) {
    srec_id none = {{NULL, 0}, -1};
    return item < model->profile.items ? id_at(&model->items, item) : none;
}

srec_text srec_title(const srec_model *model, uint32_t item) {
    srec_text none = {NULL, 0};
    return model->titles.text && item < model->profile.items ? text_at(&model->titles, item) : none;
}

srec_text srec_tag(const srec_model *model, uint32_t tag) {
    srec_text none = {NULL, 0};
    return tag < model->tag_names.count ? text_at(&model->tag_names, tag) : none;
}

uint32_t srec_item_tag(const srec_model *model, uint32_t item, uint32_t place) {
    uint32_t tag, other;
    if (item >= model->profile.items) return SREC_NONE;
    for (tag = 0; tag < model->tag_names.count; tag++) {
        if (!has_tag(model, item, tag)) continue;
        for (other = 0; other < tag && !(has_tag(model, item, other) && same_tag(model, tag, other));) other++;
        if (other == tag && !place--) return tag;
    }
    return SREC_NONE;
}

double srec_term(const srec_model *model, uint32_t item) {
    return item < model->profile.items ? termed(model, item, 0.0) : 0.0;
}

uint32_t srec_popularity(const srec_model *model, uint32_t item) {
    if (item >= model->profile.items) return 0;
    return model->popularity.at ? count_at(&model->popularity, item) : degree_at(model, item);
}

uint32_t srec_seen(const srec_model *model, uint32_t place) {
    return place < model->seen.count ? count_at(&model->seen, place) : SREC_NONE;
}

srec_text srec_tensor(const srec_model *model, uint32_t number, size_t *bytes) {
    srec_text name = {NULL, 0};
    const record *entry = model->records + number;
    *bytes = 0;
    if (number >= model->record_count) return name;
    *bytes = entry->end - entry->begin;
    name.at = (const char *)model->file + entry->key;
    name.length = entry->key_end - entry->key;
    return name;
}

/* The bytes of a character; half a surrogate pair becomes a question mark. */
static size_t put_character(uint8_t out[4], uint32_t character) {
    if (character >= 0xd800 && character < 0xe000) character = '?';
    if (character < 0x80) {
        out[0] = (uint8_t)character;
        return 1;
    }
    if (character < 0x800) {
        out[0] = (uint8_t)(0xc0 | character >> 6);
        out[1] = (uint8_t)(0x80 | (character & 0x3f));
        return 2;
    }
    if (character < 0x10000) {
        out[0] = (uint8_t)(0xe0 | character >> 12);
        out[1] = (uint8_t)(0x80 | (character >> 6 & 0x3f));
        out[2] = (uint8_t)(0x80 | (character & 0x3f));
        return 3;
    }
    out[0] = (uint8_t)(0xf0 | character >> 18);
    out[1] = (uint8_t)(0x80 | (character >> 12 & 0x3f));
    out[2] = (uint8_t)(0x80 | (character >> 6 & 0x3f));
    out[3] = (uint8_t)(0x80 | (character & 0x3f));
    return 4;
}

size_t srec_header_text(const srec_model *model, const char *key, char *out, size_t room) {
    cursor value = model->profile.base, text;
    size_t length = 0, written = 0;
    int32_t character;
    if (room) out[0] = 0;
    if (strcmp(key, "base") && !find_member(model->metadata, key, &value)) return 0;
    if (!string_content(value, &text)) return 0;
    while ((character = take(&text)) >= 0) {
        uint8_t bytes[4];
        size_t count = put_character(bytes, (uint32_t)character);
        if (written == length && length + count < room) {
            memcpy(out + length, bytes, count);
            written = length + count;
            out[written] = 0;
        }
        length += count;
    }
    return length;
}
