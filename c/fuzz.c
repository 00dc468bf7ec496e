/*
 * Feeds broken files to the reader and asks those that open every kind of question. Three ways:
 *
 *   afl-fuzz -i SEEDS -o OUT -x c/fuzz.dict -- ./fuzz      coverage-guided, checksums put right before reading
 *   python conformance/mutate.py --count 1000 | ./fuzz --frames      mutants, their outcomes compared with the Python reader's
 *   ./fuzz FILE ..      files as they are; prints the outcome and a hash of the bits of all answers, the same on every machine
 *
 * Build with -fsanitize=address,undefined. The reader is included, not linked: pieces of its arena are then kept apart
 * by bytes that nobody may touch, and checksums can be made with its own function.
 */
#if defined(__SANITIZE_ADDRESS__)
#define SREC_WATCHED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SREC_WATCHED 1
#endif
#endif

#ifdef SREC_WATCHED
#include <sanitizer/asan_interface.h>
#define SREC_GUARD 32
#define SREC_FORBID(at, bytes) __asan_poison_memory_region(at, bytes)
#define ALLOW(at, bytes) __asan_unpoison_memory_region(at, bytes)
#else
#define ALLOW(at, bytes) ((void)(at))
#endif

#include "srec.c"

#include <stdio.h>
#include <stdlib.h>

enum { SOME = 5, FILE_ROOM = 1 << 24 };

static uint64_t answers; /* FNV-1a of what was answered */

static void remember(uint64_t bits) {
    int j;
    for (j = 0; j < 64; j += 8) answers = (answers ^ (bits >> j & 255)) * 1099511628211u;
}

static void insist(int holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "finding: %s\n", what);
    abort();
}

/* `count` is a pointer because arguments are evaluated in any order: the question sets it. */
static void check_scored(srec_code code, const srec_scored *scored, const size_t *count) {
    size_t j;
    insist(code == SREC_OK, "a question that is right was refused");
    for (j = 0; j < *count; j++) {
        uint64_t bits;
        double score = scored[j].score == 0.0 ? 0.0 : scored[j].score; /* there is one zero */
        insist(fabs(score) <= DBL_MAX, "a score is not finite");
        memcpy(&bits, &score, sizeof bits);
        remember(bits);
        remember(scored[j].item);
    }
}

static void ask_texts(srec_model *model, uint32_t items) {
    srec_info info = srec_describe(model);
    char text[64];
    uint32_t item, tag;
    size_t bytes;
    for (item = 0; item < items; item++) {
        srec_id id = srec_item_id(model, item);
        srec_title(model, item);
        srec_popularity(model, item);
        if (id.text.at) {
            insist(srec_find_item(model, id.text.at, id.text.length) == item, "an id leads to another item");
        } else {
            insist(srec_find_item_number(model, id.number) == item, "an id leads to another item");
        }
    }
    for (tag = 0; tag < info.tags && tag < SOME; tag++) {
        srec_text name = srec_tag(model, tag);
        srec_find_tag(model, name.at, name.length);
    }
    for (item = 0; item < info.tensors; item++) srec_tensor(model, item, &bytes);
    srec_header_text(model, "base", text, sizeof text);
    srec_header_text(model, "card", text, sizeof text);
    srec_find_user(model, "user 0", 6);
}

/* One question of each kind. */
static void ask(srec_model *model) {
    uint32_t items = srec_describe(model).items, history[SOME + 2], tags[1] = {0}, failed, j, count = items < SOME ? items : SOME;
    double weights[SOME + 2], score;
    srec_scored *out = malloc(((size_t)items + SOME) * sizeof *out);
    srec_question question;
    size_t found;
    srec_code code;
    memset(&question, 0, sizeof question);
    for (j = 0; j < count; j++) {
        history[j] = j * (items / count);
        weights[j] = 1.0 - j / 2.0;
    }
    history[count] = SREC_NONE;
    history[count + 1] = 0;
    weights[count] = weights[count + 1] = 1.0;
    question.history = history;
    question.history_size = count + 2;
    check_scored(srec_recommend(model, &question, out, SOME, &found), out, &found);
    check_scored(srec_explain(model, &question, items - 1, out, &found, &score), out, &found);
    question.weights = weights;
    question.keep_seen = 1;
    check_scored(srec_recommend(model, &question, out, items, &found), out, &found);
    check_scored(srec_similar(model, count - 1, out, SOME, &found), out, &found);
    question.exclude = question.allow = history;
    question.exclude_size = 1;
    question.allow_size = count;
    if (srec_describe(model).tags) {
        question.tags = tags;
        question.tags_size = 1;
    }
    check_scored(srec_recommend(model, &question, out, SOME, &found), out, &found);
    memset(&question, 0, sizeof question);
    check_scored(srec_recommend(model, &question, out, items, &found), out, &found);
    question.by_user = 1;
    code = srec_recommend(model, &question, out, SOME, &found);
    insist(code == SREC_OK || code == SREC_UNKNOWN_USER, "a user was refused oddly");
    code = srec_self_test(model, &failed);
    insist(code == SREC_OK || code == SREC_SELF_TEST_FAILED, "a self-test ended oddly");
    ask_texts(model, items);
    free(out);
}

/* Opens a file in an arena of exactly the size asked for, and asks it. */
static srec_code try_file(const uint8_t *file, size_t size) {
    size_t room = srec_arena_size(file, size);
    void *arena = malloc(room ? room : 1);
    srec_model *model;
    char where[SREC_WHERE];
    srec_code code = srec_open(file, size, arena, room, &model, where);
    insist(code != SREC_ARENA_TOO_SMALL, "the arena asked for is too small");
    insist(!code == !!model && memchr(where, 0, SREC_WHERE), "an error is not said as it should be");
    if (!code) ask(model);
    ALLOW(arena, room);
    free(arena);
    return code;
}

static size_t read_all(FILE *stream, uint8_t *out, size_t room) { return fread(out, 1, room, stream); }

/* A copy that ends where the file ends, so that reading on is found out. */
static srec_code try_copy(const uint8_t *file, size_t size) {
    uint8_t *copy = malloc(size ? size : 1);
    srec_code code;
    memcpy(copy, file, size);
    code = try_file(copy, size);
    free(copy);
    return code;
}

static int run_frames(void) {
    static uint8_t label[1 << 16];
    uint8_t *file = malloc(FILE_ROOM), sizes[8];
    unsigned long seen = 0, found = 0, counts[SREC_CODE_COUNT] = {0};
    int j;
    while (read_all(stdin, sizes, 8) == 8) {
        uint32_t label_size = u32_at(sizes), size = u32_at(sizes + 4);
        const char *outcome, *name;
        srec_code code;
        insist(label_size < sizeof label && size <= FILE_ROOM, "a frame is too long");
        insist(read_all(stdin, label, label_size) == label_size && read_all(stdin, file, size) == size, "a frame is cut off");
        label[label_size] = 0;
        code = try_copy(file, size);
        name = srec_name(code);
        counts[code]++;
        outcome = strstr((char *)label, "\"outcome\": \"");
        insist(outcome != NULL, "a label has no outcome");
        outcome += strlen("\"outcome\": \"");
        if (strncmp(outcome, name, strlen(name)) || outcome[strlen(name)] != '"') {
            if (found++ < 20) printf("mutant %lu: %s, but %s\n", seen, name, (char *)label);
        }
        seen++;
    }
    for (j = 0; j < SREC_CODE_COUNT; j++) {
        if (counts[j]) printf("%9lu %s\n", counts[j], srec_name((srec_code)j));
    }
    printf("%lu mutants, %lu findings\n", seen, found);
    free(file);
    return found || !seen;
}

#ifdef __AFL_FUZZ_TESTCASE_LEN
__AFL_FUZZ_INIT();
#endif

static void try_resealed(uint8_t *file, size_t size) {
    if (size >= DIGEST_END) {
        uint8_t digits[DIGEST_END - DIGEST_START];
        make_digest(file, size, digits);
        memcpy(file + DIGEST_START, digits, sizeof digits);
    }
    try_file(file, size);
}

static int run_guided(void) {
#ifdef __AFL_FUZZ_TESTCASE_LEN
    __AFL_INIT();
    {
        const uint8_t *given = __AFL_FUZZ_TESTCASE_BUF;
        while (__AFL_LOOP(10000)) {
            size_t size = (size_t)__AFL_FUZZ_TESTCASE_LEN;
            uint8_t *copy = malloc(size ? size : 1);
            memcpy(copy, given, size);
            try_resealed(copy, size);
            free(copy);
        }
    }
#else
    uint8_t *file = malloc(FILE_ROOM);
    try_resealed(file, read_all(stdin, file, FILE_ROOM));
    free(file);
#endif
    return 0;
}

int main(int count, char **words) {
    int j;
    if (count == 2 && !strcmp(words[1], "--frames")) return run_frames();
    if (count == 1) return run_guided();
    for (j = 1; j < count; j++) {
        FILE *stream = fopen(words[j], "rb");
        uint8_t *file = malloc(FILE_ROOM);
        insist(stream != NULL, "a file cannot be opened");
        answers = 14695981039346656037u;
        printf("%s", srec_name(try_copy(file, read_all(stream, file, FILE_ROOM))));
        printf(" %08lx%08lx %s\n", (unsigned long)(answers >> 32), (unsigned long)(answers & 0xffffffff), words[j]);
        fclose(stream);
        free(file);
    }
    return 0;
}
