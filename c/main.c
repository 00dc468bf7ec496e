/* The program `srec`: questions to a .srec file from the command line. All of the work is done in srec.c. */
#include "srec.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char USAGE[] =
    "usage: srec COMMAND FILE [options]\n"
    "  recommend FILE [--user ID | --history A,B,C [--weights 1,-1,.5]] [--k 20] [--exclude A,B] [--allow A,B]\n"
    "                 [--tags X,Y] [--include-seen]\n"
    "  explain FILE ITEM --history A,B,C [--weights 1,-1,.5]\n"
    "  similar FILE ITEM [--k 20]\n"
    "  inspect FILE    what is inside\n"
    "  verify FILE     check everything and run the golden queries\n"
    "  bench FILE      milliseconds to open and to answer, bytes of memory\n"
    "Lists may be given in several options of the same name. Answers are lines of id, score and title, tabs between.\n";

typedef struct {
    uint32_t *at;
    size_t count;
    int given;
} index_list;

typedef struct {
    const char *command, *path, *item;
    const char *user;
    index_list history, exclude, allow, tags;
    double *weights;
    size_t weight_count;
    size_t k;
    int include_seen;
    srec_model *model;
    void *file, *arena;
    size_t size, arena_size;
} program;

static void stop(const char *name, const char *text) {
    fprintf(stderr, "srec: %s: %s\n", name, text);
    exit(2);
}

static void *claim(size_t bytes) {
    void *found = malloc(bytes ? bytes : 1);
    if (!found) stop("memory", "not enough");
    return found;
}

static void load(program *run) {
    FILE *stream = fopen(run->path, "rb");
    char where[SREC_WHERE];
    long size = 0;
    srec_code code;
    if (!stream) stop(run->path, strerror(errno));
    if (fseek(stream, 0, SEEK_END) || (size = ftell(stream)) < 0 || fseek(stream, 0, SEEK_SET)) stop(run->path, "not a file");
    run->size = (size_t)size;
    run->file = claim(run->size);
    if (fread(run->file, 1, run->size, stream) != run->size) stop(run->path, "could not be read");
    fclose(stream);
    run->arena_size = srec_arena_size(run->file, run->size);
    run->arena = claim(run->arena_size);
    code = srec_open(run->file, run->size, run->arena, run->arena_size, &run->model, where);
    if (code) {
        fprintf(stderr, "srec: %s: %s (%s): download or export it again\n", run->path, srec_name(code), where);
        exit(1);
    }
}

static void check(const program *run, srec_code code, const char *what) {
    if (!code) return;
    fprintf(stderr, "srec: %s: %s: %s\n", run->path, srec_name(code), what);
    exit(1);
}

/* Adds the parts of a text between commas to a list. */
static void add_parts(program *run, index_list *list, const char *text, uint32_t find(const srec_model *, const char *, size_t)) {
    list->given = 1;
    while (*text) {
        size_t length = strcspn(text, ",");
        uint32_t *longer = realloc(list->at, (list->count + 1) * sizeof *longer);
        if (!longer) stop("memory", "not enough");
        list->at = longer;
        list->at[list->count++] = find(run->model, text, length);
        text += length + (text[length] == ',');
    }
    if (!list->at) list->at = claim(sizeof *list->at);
}

static void add_weights(program *run, const char *text) {
    do { /* at least one: weights that are given, but empty, would count as none given */
        char *end;
        double *longer = realloc(run->weights, (run->weight_count + 1) * sizeof *longer);
        if (!longer) stop("memory", "not enough");
        run->weights = longer;
        run->weights[run->weight_count++] = strtod(text, &end);
        if (end == text || (*end && *end != ',')) stop("--weights", "expected numbers with commas between");
        text = end + (*end == ',');
    } while (*text);
}

static const struct {
    const char *name, *commands;
} OPTIONS[] = {{"--user", "recommend"}, {"--history", "recommend explain"}, {"--weights", "recommend explain"},
               {"--k", "recommend similar"}, {"-k", "recommend similar"}, {"--include-seen", "recommend"},
               {"--exclude", "recommend"}, {"--allow", "recommend"}, {"--tags", "recommend"}};

/* Stops at an option that the command would not look at: its answer would be to another question. */
static void check_option(const program *run, const char *name) {
    size_t j;
    for (j = 0; j < sizeof OPTIONS / sizeof *OPTIONS; j++) {
        if (!strcmp(name, OPTIONS[j].name) && strstr(OPTIONS[j].commands, run->command)) return;
    }
    fprintf(stderr, "srec: %s: no such option of %s\n", name, run->command);
    exit(2);
}

static void read_option(program *run, const char *name, const char *value) {
    if (!value) stop(name, "a value is missing");
    if (!strcmp(name, "--history")) {
        add_parts(run, &run->history, value, srec_find_item);
    } else if (!strcmp(name, "--exclude")) {
        add_parts(run, &run->exclude, value, srec_find_item);
    } else if (!strcmp(name, "--allow")) {
        add_parts(run, &run->allow, value, srec_find_item);
    } else if (!strcmp(name, "--tags")) {
        add_parts(run, &run->tags, value, srec_find_tag);
    } else if (!strcmp(name, "--weights")) {
        add_weights(run, value);
    } else if (!strcmp(name, "--user")) {
        run->user = value;
    } else { /* --k or -k */
        char *end;
        unsigned long k = strtoul(value, &end, 10);
        if (*end || end == value || k < 1 || k > 1ul << 24) stop("--k", "expected 1 to 16777216");
        run->k = k;
    }
}

static void read_options(program *run, int count, char **words) {
    int j = 0, first = !strcmp(run->command, "similar") || !strcmp(run->command, "explain");
    if (first) {
        if (!count) stop(run->command, "which item?");
        run->item = words[j++];
    }
    for (; j < count; j++) {
        check_option(run, words[j]);
        if (!strcmp(words[j], "--include-seen")) {
            run->include_seen = 1;
        } else {
            read_option(run, words[j], j + 1 < count ? words[j + 1] : NULL);
            j++;
        }
    }
    if (run->weights && run->weight_count != run->history.count) stop("--weights", "as many as items of the history are needed");
}

/*
 * Bytes of the character at the start of a UTF-8 text, if it could steer a terminal, end a line or turn the order of what
 * follows; 0 for any other. They are the characters that the Python package escapes (src/sparserec/visible.py).
 */
static size_t unsafe_bytes(const char *text, size_t length) {
    const unsigned char *at = (const unsigned char *)text;
    if (at[0] < 32 || at[0] == 127) return 1;
    if (length > 1 && at[0] == 0xc2 && at[1] < 0xa0) return 2;                                     /* U+0080 to U+009F */
    if (length > 2 && at[0] == 0xe2 && at[1] == 0x80 && at[2] >= 0xa8 && at[2] <= 0xae) return 3; /* U+2028 to U+202E */
    if (length > 2 && at[0] == 0xe2 && at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9) return 3; /* U+2066 to U+2069 */
    return 0;
}

/* Text of a file on a terminal, with a question mark for each character that is not safe there. */
static void print_text(srec_text text) {
    size_t j = 0;
    while (j < text.length) {
        size_t bytes = unsafe_bytes(text.at + j, text.length - j);
        putchar(bytes ? '?' : text.at[j]);
        j += bytes ? bytes : 1;
    }
}

static void print_id(const program *run, uint32_t item) {
    srec_id id = srec_item_id(run->model, item);
    if (id.text.at) {
        print_text(id.text);
    } else {
        printf("%lld", (long long)id.number);
    }
}

static void print_scored(const program *run, const srec_scored *scored, size_t count) {
    size_t j;
    for (j = 0; j < count; j++) {
        srec_text title = srec_title(run->model, scored[j].item);
        print_id(run, scored[j].item);
        printf("\t%.17g", scored[j].score);
        if (title.at) {
            putchar('\t');
            print_text(title);
        }
        putchar('\n');
    }
}

static srec_question question_of(const program *run) {
    srec_question question;
    memset(&question, 0, sizeof question);
    question.history = run->history.at;
    question.history_size = run->history.count;
    question.weights = run->weights;
    question.exclude = run->exclude.at;
    question.exclude_size = run->exclude.count;
    question.allow = run->allow.at;
    question.allow_size = run->allow.count;
    question.tags = run->tags.at;
    question.tags_size = run->tags.count;
    question.keep_seen = run->include_seen;
    question.by_user = run->user != NULL;
    if (run->user) question.user = srec_find_user(run->model, run->user, strlen(run->user));
    return question;
}

/* No more than there are items. */
static size_t answers_of(const program *run) {
    size_t items = srec_describe(run->model).items;
    return run->k < items ? run->k : items;
}

static void recommend(program *run) {
    srec_question question = question_of(run);
    size_t k = answers_of(run), found;
    srec_scored *out = claim(k * sizeof *out);
    check(run, srec_recommend(run->model, &question, out, k, &found), "recommend");
    print_scored(run, out, found);
    free(out);
}

static uint32_t item_of(const program *run) {
    uint32_t item = srec_find_item(run->model, run->item, strlen(run->item));
    if (item == SREC_NONE) check(run, SREC_UNKNOWN_ITEM, run->item);
    return item;
}

static void similar(program *run) {
    size_t k = answers_of(run), found;
    srec_scored *out = claim(k * sizeof *out);
    check(run, srec_similar(run->model, item_of(run), out, k, &found), "similar");
    print_scored(run, out, found);
    free(out);
}

static void explain(program *run) {
    srec_question question = question_of(run);
    srec_scored *out = claim(question.history_size * sizeof *out);
    size_t found;
    double score, term = srec_term(run->model, item_of(run));
    check(run, srec_explain(run->model, &question, item_of(run), out, &found, &score), "explain");
    printf("%.17g", score);
    if (found && term != 0.0) printf("\t%.17g", term);
    putchar('\n');
    print_scored(run, out, found);
    free(out);
}

static void print_header_text(const program *run, const char *key) {
    size_t length = srec_header_text(run->model, key, NULL, 0);
    char *text = claim(length + 1);
    srec_text shown;
    srec_header_text(run->model, key, text, length + 1);
    shown.at = text;
    shown.length = length;
    printf("%s\t", key);
    print_text(shown);
    putchar('\n');
    free(text);
}

static void inspect(program *run) {
    static const char *const MODES[] = {"items", "full", "personal", "neighbours"};
    srec_info info = srec_describe(run->model);
    uint32_t j;
    printf("mode\t%s\n", MODES[info.mode]);
    print_header_text(run, "base");
    print_header_text(run, "version");
    printf("items\t%lu\nusers\t%lu\ndim\t%lu\n", (unsigned long)info.items, (unsigned long)info.users, (unsigned long)info.dim);
    printf("self_loops\t%s\nfold_tables\t%lu\n", info.self_loops ? "true" : "false", (unsigned long)info.fold_tables);
    printf("titles\t%s\ntags\t%lu\n", info.titles ? "true" : "false", (unsigned long)info.tags);
    printf("golden_queries\t%lu\n", (unsigned long)info.golden);
    print_header_text(run, "sha256");
    printf("bytes\t%lu\narena_bytes\t%lu\n", (unsigned long)run->size, (unsigned long)run->arena_size);
    for (j = 0; j < info.tensors; j++) {
        size_t bytes;
        printf("tensor\t");
        print_text(srec_tensor(run->model, j, &bytes));
        printf("\t%lu\n", (unsigned long)bytes);
    }
    print_header_text(run, "card");
}

static void verify(program *run) {
    uint32_t failed;
    char what[40];
    srec_code code = srec_self_test(run->model, &failed);
    sprintf(what, "golden query %lu", (unsigned long)failed);
    check(run, code, what);
    printf("ok\t%lu golden queries\n", (unsigned long)srec_describe(run->model).golden);
}

enum { ROUNDS = 60, WARM_UP = 10, HISTORY = 30, TOP = 20 };

static int by_value(const void *a, const void *b) {
    double one = *(const double *)a, other = *(const double *)b;
    return one < other ? -1 : one > other;
}

static uint32_t random_below(uint64_t *state, uint32_t limit) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*state >> 33) % limit);
}

typedef enum { OPEN, QUERY, SIMILAR, EXPLAIN, ACTIONS } action;

static void act(program *run, action what, uint64_t *state) {
    uint32_t items = srec_describe(run->model).items, history[HISTORY], j;
    srec_scored out[HISTORY];
    srec_question question;
    size_t found;
    double score;
    memset(&question, 0, sizeof question);
    for (j = 0; j < HISTORY; j++) history[j] = random_below(state, items);
    question.history = history;
    question.history_size = HISTORY;
    switch (what) {
    case OPEN: check(run, srec_open(run->file, run->size, run->arena, run->arena_size, &run->model, NULL), "bench"); break;
    case QUERY: check(run, srec_recommend(run->model, &question, out, TOP, &found), "bench"); break;
    case SIMILAR: check(run, srec_similar(run->model, history[0], out, TOP, &found), "bench"); break;
    default: check(run, srec_explain(run->model, &question, 0, out, &found, &score), "bench");
    }
}

/* Median milliseconds of processor time. */
static void bench(program *run) {
    static const char *const NAMES[] = {"open", "query", "similar", "explain"};
    double times[ROUNDS];
    int what, round;
    printf("bytes\t%lu\narena_bytes\t%lu\n", (unsigned long)run->size, (unsigned long)run->arena_size);
    for (what = OPEN; what < ACTIONS; what++) {
        uint64_t state = 7;
        for (round = -WARM_UP; round < ROUNDS; round++) {
            clock_t start = clock();
            act(run, (action)what, &state);
            if (round >= 0) times[round] = 1e3 * (double)(clock() - start) / CLOCKS_PER_SEC;
        }
        qsort(times, ROUNDS, sizeof *times, by_value);
        printf("%s_ms\t%.3f\n", NAMES[what], times[ROUNDS / 2]);
    }
}

int main(int count, char **words) {
    static const struct {
        const char *name;
        void (*run)(program *);
    } COMMANDS[] = {{"recommend", recommend}, {"explain", explain}, {"similar", similar},
                    {"inspect", inspect}, {"verify", verify}, {"bench", bench}};
    program run;
    size_t j;
    memset(&run, 0, sizeof run);
    run.k = TOP;
    if (count == 2 && !strcmp(words[1], "--help")) {
        fputs(USAGE, stdout);
        return 0;
    }
    for (j = 0; count > 2 && j < sizeof COMMANDS / sizeof *COMMANDS; j++) {
        if (strcmp(words[1], COMMANDS[j].name)) continue;
        run.command = words[1];
        run.path = words[2];
        load(&run);
        read_options(&run, count - 3, words + 3);
        COMMANDS[j].run(&run);
        free(run.history.at);
        free(run.exclude.at);
        free(run.allow.at);
        free(run.tags.at);
        free(run.weights);
        free(run.arena);
        free(run.file);
        return fflush(stdout) ? 1 : 0;
    }
    fputs(USAGE, stderr);
    return 2;
}
