/*
 * Reader of .srec files (docs/format.md, versions 1.0 to 1.2) in C99, with nothing beyond the C library.
 *
 * The file stays where the caller has it, in memory or mapped, and must not change while a model is open. Everything
 * else lives in an arena that the caller gives: ask srec_arena_size first. Nothing is allocated, there is no global
 * state, and nothing needs closing: free the arena when done. A model answers one question at a time; threads that ask
 * at the same time need an arena each.
 */
#ifndef SREC_H
#define SREC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One code per way a file, or a question put to it, can be wrong; the names are those of the other readers. */
#define SREC_CODES(X) \
    X(OK, "ok") \
    X(TRUNCATED, "Truncated") \
    X(HEADER_TOO_LARGE, "HeaderTooLarge") \
    X(NOT_SREC, "NotSrec") \
    X(HEADER_NOT_PADDED, "HeaderNotPadded") \
    X(HEADER_NOT_UTF8, "HeaderNotUtf8") \
    X(HEADER_NOT_JSON, "HeaderNotJson") \
    X(BAD_METADATA, "BadMetadata") \
    X(NEWER_VERSION, "NewerVersion") \
    X(BAD_TENSOR_ENTRY, "BadTensorEntry") \
    X(UNKNOWN_DTYPE, "UnknownDtype") \
    X(OFFSET_OUT_OF_RANGE, "OffsetOutOfRange") \
    X(WRONG_LENGTH, "WrongLength") \
    X(MISALIGNED, "Misaligned") \
    X(OVERLAPPING_TENSORS, "OverlappingTensors") \
    X(HOLE_IN_PAYLOAD, "HoleInPayload") \
    X(WRONG_CHECKSUM, "WrongChecksum") \
    X(MISSING_TENSOR, "MissingTensor") \
    X(WRONG_TENSOR, "WrongTensor") \
    X(BAD_COEFFICIENTS, "BadCoefficients") \
    X(AMBIGUOUS_ENCODING, "AmbiguousEncoding") \
    X(BAD_SCALE, "BadScale") \
    X(CODE_OUT_OF_RANGE, "CodeOutOfRange") \
    X(INDEX_OUT_OF_RANGE, "IndexOutOfRange") \
    X(INDEX_NOT_ASCENDING, "IndexNotAscending") \
    X(WRONG_COUNT, "WrongCount") \
    X(NONZERO_PADDING, "NonzeroPadding") \
    X(BAD_GRAPH, "BadGraph") \
    X(LEVEL_OUT_OF_RANGE, "LevelOutOfRange") \
    X(BAD_CODE, "BadCode") \
    X(BAD_SLICES, "BadSlices") \
    X(BAD_WEIGHT, "BadWeight") \
    X(BAD_TERM, "BadTerm") \
    X(BAD_VECTOR, "BadVector") \
    X(BAD_TEXT_OFFSETS, "BadTextOffsets") \
    X(BAD_TEXT, "BadText") \
    X(BAD_IDS, "BadIds") \
    X(BAD_GOLDEN, "BadGolden") \
    X(TOO_LARGE, "TooLarge") \
    X(FILE_ERROR, "FileError") /* half a gigabyte or more: too large for this reader */ \
    X(SELF_TEST_FAILED, "SelfTestFailed") \
    X(UNKNOWN_USER, "UnknownUser") \
    X(UNKNOWN_ITEM, "UnknownItem") \
    X(UNKNOWN_TAG, "UnknownTag") \
    X(BAD_QUERY, "BadQuery") \
    X(ARENA_TOO_SMALL, "ArenaTooSmall") /* this reader alone: ask srec_arena_size */

typedef enum {
#define SREC_MEMBER(code, name) SREC_##code,
    SREC_CODES(SREC_MEMBER)
#undef SREC_MEMBER
    SREC_CODE_COUNT
} srec_code;

#define SREC_NONE UINT32_MAX /* no such item, user or tag */
#define SREC_WHERE 48        /* room for the name of the tensor or field that is wrong, with its ending 0 */

typedef struct srec_model srec_model;

/* Bytes of the file, or of a text inside it; `at` is NULL where there is none. Not ended by 0. */
typedef struct {
    const char *at;
    size_t length;
} srec_text;

/* An external id: a text, or a number where text.at is NULL. */
typedef struct {
    srec_text text;
    int64_t number;
} srec_id;

typedef struct {
    double score;
    uint32_t item;
} srec_scored;

typedef enum { SREC_ITEMS, SREC_FULL, SREC_PERSONAL, SREC_NEIGHBOURS } srec_mode;

typedef struct {
    srec_mode mode;
    uint32_t items, users, dim, fold_tables, tags, golden, tensors;
    int self_loops, titles, minor_version;
} srec_info;

/*
 * A question; start from all zeros. Items, users and tags are indices: srec_find_item and its sisters make them from
 * ids. SREC_NONE in a list stands for something the file does not know, and is ignored (a tag: UnknownTag).
 */
typedef struct {
    int by_user;             /* ask for a stored user .. */
    uint32_t user;
    const uint32_t *history; /* .. or for anyone with this history; NULL: the one user of a personal file, or nobody */
    const double *weights;   /* one for each item of the history: negative = dislike; NULL: all 1 */
    size_t history_size;
    const uint32_t *exclude; /* leave these out */
    size_t exclude_size;
    const uint32_t *allow;   /* nothing but these, unless NULL */
    size_t allow_size;
    const uint32_t *tags;    /* only items that have one of these, unless NULL */
    size_t tags_size;
    int keep_seen;           /* not 0: what the history or the stored user has seen may come too */
} srec_question;

/* Name of a code, as in the other readers. */
const char *srec_name(srec_code code);

/* Bytes of arena that a file needs. Never fails: for a broken file it is enough for srec_open to say what is wrong. */
size_t srec_arena_size(const void *file, size_t size);

/* Check a whole file and make it ready for questions. `where`, unless NULL, gets what is wrong where. */
srec_code srec_open(const void *file, size_t size, void *arena, size_t arena_size, srec_model **model,
                    char where[SREC_WHERE]);

/* The best k items, fewer where there are fewer; `found` says how many. */
srec_code srec_recommend(srec_model *model, const srec_question *question, srec_scored *out, size_t k, size_t *found);

/* The items nearest to one. */
srec_code srec_similar(srec_model *model, uint32_t item, srec_scored *out, size_t k, size_t *found);

/*
 * Why an item has its score for the history of a question: what each distinct item of weight other than 0 adds, in the
 * order of the history. `out` has room for history_size of them. None where the answer is popularity. The score is their
 * sum and, unless it is popularity, the item's srec_term. A question about a stored user is a BadQuery.
 */
srec_code srec_explain(srec_model *model, const srec_question *question, uint32_t item, srec_scored *out, size_t *found,
                       double *score);

/* Run the golden queries stored in the file. */
srec_code srec_self_test(srec_model *model, uint32_t *failed);

srec_info srec_describe(const srec_model *model);
uint32_t srec_find_item(const srec_model *model, const char *id, size_t length);
uint32_t srec_find_item_number(const srec_model *model, int64_t id);
uint32_t srec_find_user(const srec_model *model, const char *id, size_t length);
uint32_t srec_find_tag(const srec_model *model, const char *name, size_t length);
srec_id srec_item_id(const srec_model *model, uint32_t item);
srec_text srec_title(const srec_model *model, uint32_t item);
srec_text srec_tag(const srec_model *model, uint32_t tag);
uint32_t srec_popularity(const srec_model *model, uint32_t item);

/* What an item has in its score whoever asks; 0 in files without such terms. */
double srec_term(const srec_model *model, uint32_t item);

/* Tag `place` of an item, each name once; SREC_NONE beyond the last. */
uint32_t srec_item_tag(const srec_model *model, uint32_t item, uint32_t place);

/* Item `place` of those that the one user of a personal file has seen; SREC_NONE beyond the last. */
uint32_t srec_seen(const srec_model *model, uint32_t place);

/* Name (as it stands in the header) and bytes of a tensor, by rising name. */
srec_text srec_tensor(const srec_model *model, uint32_t number, size_t *bytes);

/*
 * A text of the header as UTF-8: "base" is the name of the recommender, any other key one of __metadata__ ("version",
 * "card", ..). Writes at most `room` bytes, the last a 0, and returns how many bytes the whole text has without it.
 */
size_t srec_header_text(const srec_model *model, const char *key, char *out, size_t room);

#ifdef __cplusplus
}
#endif

#endif
