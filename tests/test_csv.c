/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples as CSV: what is written is read back whole; what is damaged in any
 * way is refused with file and line, and never crashes the reader. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/base/packed/packed.h"
#include "lib/base/random.h"
#include "lib/infer/csv/sample_csv.h"
#include "lib/infer/csv/sample_csv_format.h"
#include "tests/scratch.h"
#include "tests/suite_run.h"

enum { ROWS = 24, TEXT_MAX = 65536 };

static char path[SCRATCH_MAX];

static struct csv_header example_header(void)
{
    struct csv_header header = {
        .run = "sim-0011223344556677",
        .device = "0123456789abcdef",
        .flush = "virtual",
        .probes = "basic write-buffer",
        .setting = {.seed = UINT64_MAX,
                    .method = METHOD_PAPER,
                    .capacity_bytes = UINT64_C(8) << 30,
                    .region_offset_bytes = 4096,
                    .region_length_bytes = UINT64_C(4) << 30,
                    .logical_block_bytes = 512,
                    .request_limit_bytes = 131072,
                    .read_only = true,
                    .write_budget_bytes = 1 << 30},
        .assume = "clustered_page=16384 nand_type=MLC",
    };
    return header;
}

static struct sample example_sample(size_t i)
{
    struct sample sample = {
        .operation = (enum operation)(i % 5),
        .offset_bytes = 4096 * i,
        .length_bytes = i % 5 > 1 ? 0 : 512 * (i + 1),
        .submit_ns = 1000000000 * i,
        .complete_ns = 1000000000 * i + 117000 + i,
        .parts_count = i % 3 ? 1 : 2,
        .error = i == 7 ? -EIO : 0,
        .depth = 1 + (uint32_t)(i % 3) * 100,
        .fua = i % 5 == 1,
        .returned = (enum returned)(i % 4),
        .label = {.phase = "screen", .cell = "w16384+8192"},
    };
    sample.label.round = (uint32_t)i;
    if (i % 4 == 0)
        memset(sample.label.cell, 0, sizeof(sample.label.cell));
    return sample;
}

/* Padding is nobody's promise, so no memcmp(). */
static void expect_same(const struct sample *a, const struct sample *b)
{
    ck_assert_int_eq(a->operation, b->operation);
    ck_assert_uint_eq(a->offset_bytes, b->offset_bytes);
    ck_assert_uint_eq(a->length_bytes, b->length_bytes);
    ck_assert_uint_eq(a->submit_ns, b->submit_ns);
    ck_assert_uint_eq(a->complete_ns, b->complete_ns);
    ck_assert_uint_eq(a->parts_count, b->parts_count);
    ck_assert_int_eq(a->error, b->error);
    ck_assert_uint_eq(a->depth, b->depth);
    ck_assert_int_eq(a->fua, b->fua);
    ck_assert_int_eq(a->returned, b->returned);
    ck_assert_str_eq(a->label.phase, b->label.phase);
    ck_assert_str_eq(a->label.cell, b->label.cell);
    ck_assert_uint_eq(a->label.round, b->label.round);
}

static int write_rows(FILE *file, size_t count)
{
    struct csv_writer writer;
    struct csv_header header = example_header();

    csv_begin(&writer, file, &header);
    for (size_t i = 0; i < count; i++) {
        struct sample sample = example_sample(i);
        csv_row(&writer, i % 2 ? "basic" : "write-buffer", &sample);
    }
    return csv_end(&writer);
}

/* The good file, as text; returns its length. */
static size_t good_file(char text[TEXT_MAX], size_t rows)
{
    FILE *file = fmemopen(text, TEXT_MAX, "w");

    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(write_rows(file, rows), 0);
    ck_assert_int_eq(fclose(file), 0);
    return strlen(text);
}

static void put_file(const char *text, size_t length)
{
    FILE *file = fopen(path, "wb");

    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(text, 1, length, file), length);
    ck_assert_int_eq(fclose(file), 0);
}

/* Its rows are read, but there is no closing line. */
enum { CUT_OFF = 1 };

static int read_text(const char *text, size_t length, struct fault *why)
{
    struct csv_rows rows;

    put_file(text, length);
    memset(why, 0, sizeof(*why));
    int error = csv_read(path, &rows, why);
    if (error) {
        ck_assert_int_eq(why->kind, FAULT_OPEN);
        ck_assert_ptr_null(rows.items);
    } else if (!rows.complete) {
        ck_assert_uint_gt(rows.cut_line, 0);
        error = CUT_OFF;
    }
    csv_rows_free(&rows);
    return error;
}

/* The file must be refused at `line` with a sentence that contains `words`. */
static void expect_refusal(const char *text, size_t length, unsigned line,
                           const char *words)
{
    struct fault why;
    char place[SCRATCH_MAX + 16];

    ck_assert_int_eq(read_text(text, length, &why), -EINVAL);
    snprintf(place, sizeof(place), "%s:%u: ", path, line);
    ck_assert_msg(strncmp(why.text, place, strlen(place)) == 0,
                  "expected %s... but got: %s", place, why.text);
    ck_assert_msg(strstr(why.text, words), "expected '%s' in: %s", words,
                  why.text);
    ck_assert_int_eq(why.text[strlen(why.text) - 1], '.');
}

static char *line_start(char *text, unsigned line)
{
    while (--line) {
        text = strchr(text, '\n');
        ck_assert_ptr_nonnull(text);
        text++;
    }
    return text;
}

/* The good file with the first `from` replaced by `to`. */
static size_t edited(char text[TEXT_MAX], const char *from, const char *to)
{
    char rest[TEXT_MAX];

    good_file(text, ROWS);
    char *place = strstr(text, from);
    ck_assert_ptr_nonnull(place);
    snprintf(rest, sizeof(rest), "%s", place + strlen(from));
    snprintf(place, (size_t)(text + TEXT_MAX - place), "%s%s", to, rest);
    return strlen(text);
}

enum { HEADER_LINES = 19, FIRST_ROW = HEADER_LINES + 1 };

START_TEST(what_is_written_is_read_back)
{
    struct csv_rows rows;
    struct fault why;
    char text[TEXT_MAX];
    struct csv_header header = example_header();

    put_file(text, good_file(text, ROWS));
    ck_assert_int_eq(csv_read(path, &rows, &why), 0);
    ck_assert(rows.complete);
    ck_assert_uint_eq(rows.count, ROWS);
    ck_assert_str_eq(rows.header.run, header.run);
    ck_assert_str_eq(rows.header.device, header.device);
    ck_assert_str_eq(rows.header.flush, header.flush);
    ck_assert_str_eq(rows.header.probes, header.probes);
    ck_assert_str_eq(rows.header.assume, header.assume);
    const struct setting *a = &rows.header.setting, *b = &header.setting;
    ck_assert_uint_eq(a->seed, b->seed);
    ck_assert_int_eq(a->method, b->method);
    ck_assert_uint_eq(a->capacity_bytes, b->capacity_bytes);
    ck_assert_uint_eq(a->region_offset_bytes, b->region_offset_bytes);
    ck_assert_uint_eq(a->region_length_bytes, b->region_length_bytes);
    ck_assert_uint_eq(a->logical_block_bytes, b->logical_block_bytes);
    ck_assert_uint_eq(a->request_limit_bytes, b->request_limit_bytes);
    ck_assert_int_eq(a->read_only, b->read_only);
    ck_assert_uint_eq(a->write_budget_bytes, b->write_budget_bytes);
    for (size_t i = 0; i < ROWS; i++) {
        struct sample sample = example_sample(i);
        ck_assert_str_eq(rows.items[i].probe, i % 2 ? "basic" : "write-buffer");
        expect_same(&rows.items[i].sample, &sample);
    }
    csv_rows_free(&rows);
    csv_rows_free(&rows); /* an empty struct is accepted */
}
END_TEST

/* It is there only where it was asked for. */
START_TEST(patience_is_kept_where_there_is_some)
{
    const uint64_t patience_ns = UINT64_C(600000000000) * (uint64_t)_i;
    struct csv_header header = example_header();
    struct fault why = {FAULT_NONE, ""};
    struct csv_writer writer;
    struct csv_rows rows;
    char text[TEXT_MAX] = "";
    FILE *file = fopen(path, "w+b");

    header.setting.patience_ns = patience_ns;
    csv_begin(&writer, file, &header);
    ck_assert_int_eq(csv_end(&writer), 0);
    rewind(file);
    ck_assert_uint_gt(fread(text, 1, sizeof(text) - 1, file), 0);
    fclose(file);
    ck_assert_int_eq(strstr(text, "# patience_ns=") != NULL, _i > 0);
    ck_assert_msg(csv_read(path, &rows, &why) == 0, "%s", why.text);
    ck_assert_uint_eq(rows.header.setting.patience_ns, patience_ns);
    ck_assert_str_eq(rows.header.assume, header.assume);
    csv_rows_free(&rows);
}
END_TEST

START_TEST(what_was_disturbed_is_told)
{
    const struct csv_header header = example_header();
    const struct sample sample = example_sample(0);
    struct fault why = {FAULT_NONE, ""};
    struct csv_writer writer;
    struct csv_rows rows;
    FILE *file = fopen(path, "wb");

    csv_begin(&writer, file, &header);
    csv_row(&writer, "basic", &sample);
    csv_disturbed(&writer, "basic", "another\tprocess cause=it");
    csv_row(&writer, "write-buffer", &sample);
    ck_assert_int_eq(csv_end(&writer), 0);
    fclose(file);
    ck_assert_msg(csv_read(path, &rows, &why) == 0, "%s", why.text);
    ck_assert_uint_eq(rows.count, 2);
    ck_assert_uint_eq(rows.disturbed_count, 1);
    ck_assert_str_eq(rows.disturbed[0].probe, "basic");
    ck_assert_str_eq(rows.disturbed[0].cause, "another?process cause=it");
    csv_rows_free(&rows);
}
END_TEST

START_TEST(a_disturbance_without_a_cause_is_refused)
{
    static const char *const lines[] = {"# disturbed probe=basic\n",
                                        "# disturbed probe= cause=it\n",
                                        "# disturbed probe=a.b cause=it\n"};
    char text[TEXT_MAX];
    struct fault why;

    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        good_file(text, 1);
        char *end = strstr(text, "# end");
        snprintf(end, TEXT_MAX - (size_t)(end - text), "%s", lines[i]);
        ck_assert_int_eq(read_text(text, strlen(text), &why), -EINVAL);
        ck_assert_ptr_nonnull(strstr(why.text, "# disturbed probe=NAME"));
    }
}
END_TEST

START_TEST(the_largest_values_survive)
{
    struct csv_writer writer;
    struct csv_header header = example_header();
    struct csv_rows rows;
    struct fault why = {FAULT_NONE, ""};
    struct sample sample = {.operation = OPERATION_IDLE,
                            .offset_bytes = UINT64_MAX - 1,
                            .length_bytes = 1,
                            .submit_ns = UINT64_MAX,
                            .complete_ns = UINT64_MAX,
                            .parts_count = UINT32_MAX,
                            .error = -4095,
                            .depth = SAMPLE_DEPTH_MAX,
                            .fua = true,
                            .returned = RETURNED_UNSEEN,
                            .label = {"", "", UINT32_MAX}};

    memset(header.run, 'R', sizeof(header.run) - 1);
    memset(header.assume, '~', sizeof(header.assume) - 1);
    memset(header.probes, 'p', sizeof(header.probes) - 1);
    header.setting.capacity_bytes = UINT64_MAX;
    memset(sample.label.phase, 'p', sizeof(sample.label.phase) - 1);
    memset(sample.label.cell, '+', sizeof(sample.label.cell) - 1);
    FILE *file = fopen(path, "wb");
    ck_assert_int_eq(csv_begin(&writer, file, &header), 0);
    ck_assert_int_eq(
        csv_row(&writer, "abcdefghijabcdefghijabcdefghija", &sample), 0);
    ck_assert_int_eq(csv_end(&writer), 0);
    fclose(file);
    ck_assert_msg(csv_read(path, &rows, &why) == 0, "%s", why.text);
    expect_same(&rows.items[0].sample, &sample);
    csv_rows_free(&rows);
}
END_TEST

START_TEST(a_run_without_rows_is_whole)
{
    char text[TEXT_MAX];
    struct fault why;

    ck_assert_int_eq(read_text(text, good_file(text, 0), &why), 0);
}
END_TEST

START_TEST(the_header_line_names_columns_with_units)
{
    char text[TEXT_MAX];

    good_file(text, 1);
    ck_assert_int_eq(
        strncmp(line_start(text, HEADER_LINES),
                "run,sequence,probe,phase,cell,round,operation,offset_bytes,"
                "length_bytes,submit_ns,complete_ns,parts,error,"
                "depth,fua,returned,latency_ns\n",
                136),
        0);
}
END_TEST

/* As an earlier ssdprobe wrote it: without the columns that came later. */
static void as_of(int minor, const char *text, char earlier[TEXT_MAX])
{
    const int columns_lost = minor == CSV_MINOR_ALONE ? 4 : 1;
    uint64_t digest = csv_digest_start();
    size_t used = 0;

    for (const char *line = text; strncmp(line, "# end", 5) != 0;
         line = strchr(line, '\n') + 1) {
        int length = (int)strcspn(line, "\n");
        for (int i = 0; line[0] != '#' && i < columns_lost; i++)
            while (line[--length] != ',')
                ;
        int put =
            snprintf(earlier + used, TEXT_MAX - used, "%.*s\n", length, line);
        char *version = strstr(earlier + used, "format_version=1.");
        if (version)
            version[17] = (char)('0' + minor);
        digest = csv_digest(digest, earlier + used, (size_t)put);
        used += (size_t)put;
    }
    csv_end_line(ROWS, digest, earlier + used);
}

START_TEST(earlier_versions_are_read)
{
    char text[TEXT_MAX], earlier[TEXT_MAX];
    struct csv_rows rows;
    struct fault why = {FAULT_NONE, ""};

    good_file(text, ROWS);
    as_of(_i, text, earlier);
    ck_assert_ptr_null(strstr(earlier, "latency_ns"));
    put_file(earlier, strlen(earlier));
    ck_assert_msg(csv_read(path, &rows, &why) == 0, "%s", why.text);
    ck_assert_uint_eq(rows.count, ROWS);
    ck_assert_int_eq(rows.minor, _i);
    for (size_t i = 0; i < ROWS; i++) {
        struct sample sample = example_sample(i);
        if (_i == CSV_MINOR_ALONE) {
            sample.depth = 1;
            sample.fua = false;
            sample.returned = RETURNED_UNSEEN;
        }
        expect_same(&rows.items[i].sample, &sample);
    }
    csv_rows_free(&rows);
}
END_TEST

/* --resume goes on with a file of an earlier version. */
START_TEST(an_earlier_version_is_continued_in_its_columns)
{
    char whole[TEXT_MAX], earlier[TEXT_MAX], text[TEXT_MAX] = "";
    const struct sample sample = example_sample(0);
    const struct csv_header header = example_header();
    struct csv_writer writer;
    FILE *file = fmemopen(text, TEXT_MAX, "w");

    good_file(whole, ROWS);
    as_of(_i, whole, earlier);
    csv_begin(&writer, file, &header);
    rewind(file);
    writer.minor = _i;
    ck_assert_int_eq(csv_row(&writer, "write-buffer", &sample), 0);
    ck_assert_int_eq(fclose(file), 0);
    *(strchr(text, '\n') + 1) = '\0';
    ck_assert_ptr_nonnull(strstr(earlier, text));
    ck_assert_ptr_null(strstr(whole, text));
}
END_TEST

START_TEST(names_that_would_break_the_columns_are_not_written)
{
    static const char *const names[] = {"a,b", "a\nb", "A", "a b", "a\"b"};
    struct csv_header header = example_header();

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct csv_writer writer;
        char text[TEXT_MAX];
        FILE *file = fmemopen(text, sizeof(text), "w");
        struct sample sample = example_sample(1);
        ck_assert_int_eq(csv_begin(&writer, file, &header), 0);
        ck_assert_int_eq(csv_row(&writer, names[i], &sample), -EINVAL);
        ck_assert_int_eq(csv_row(&writer, "basic", &sample), -EINVAL);
        ck_assert_int_eq(csv_end(&writer), -EINVAL);
        fclose(file);
    }
}
END_TEST

START_TEST(a_full_disk_is_an_error)
{
    FILE *file = fopen("/dev/full", "w");

    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(write_rows(file, ROWS), -ENOSPC);
    fclose(file);
    /* And not only at the end, when there are more rows than fit a buffer. */
    struct csv_writer writer;
    struct csv_header header = example_header();
    struct sample sample = example_sample(1);
    int error = 0;
    file = fopen("/dev/full", "w");
    csv_begin(&writer, file, &header);
    for (int i = 0; i < 1000 && !error; i++)
        error = csv_row(&writer, "basic", &sample);
    ck_assert_int_eq(error, -ENOSPC);
    fclose(file);
}
END_TEST

/* What a user or a disk may do to a file: the edit, and the answer. */
static const struct edit {
    const char *from, *to;
    unsigned line;
    const char *words;
} edits[] = {
    {"# ssdprobe samples", "# other", 1, "not a file of samples, nor output"},
    {"format_version=1.2", "format_version=2.0", 2, "version 1.0 to 1.2"},
    {"format_version=1.2", "format_version=1.3", 2, "version 1.0 to 1.2"},
    {"format_version=1.2", "format_version=1.1", HEADER_LINES, "columns"},
    {",1,0,unseen,", ",0,0,unseen,", FIRST_ROW, "'depth'"},
    {",1,0,unseen,", ",257,0,unseen,", FIRST_ROW, "'depth'"},
    {",1,0,unseen,", ",1,2,unseen,", FIRST_ROW, "'fua'"},
    {",1,0,unseen,", ",1,0,seen,", FIRST_ROW, "'returned'"},
    {",117000\n", ",117001\n", FIRST_ROW, "'latency_ns'"},
    {",117000\n", ",\n", FIRST_ROW, "'latency_ns'"},
    {"# seed=", "# sead=", 7, "'# seed=...' is expected"},
    {"# seed=18446744073709551615", "# seed=18446744073709551616", 7,
     "value of 'seed' is malformed"},
    {"# method=paper", "# method=magic", 8, "'method' is malformed"},
    {"# capacity_bytes=8589934592", "# capacity_bytes=0", HEADER_LINES - 1,
     "impossible run"},
    {"# read_only=1", "# read_only=2", HEADER_LINES - 4,
     "'read_only' is malformed"},
    {"offset_bytes,length", "offset,length", HEADER_LINES, "columns"},
    {",write,4096,", ",write,4096x,", FIRST_ROW + 1, "'offset_bytes'"},
    {",write,4096,", ",write,-4096,", FIRST_ROW + 1, "'offset_bytes'"},
    {",write,4096,", ",write, 4096,", FIRST_ROW + 1, "'offset_bytes'"},
    {",write,4096,", ",write,0x1000,", FIRST_ROW + 1, "'offset_bytes'"},
    {",write,4096,", ",write,04096,", FIRST_ROW + 1, "'offset_bytes'"},
    {",write,4096,", ",write,,", FIRST_ROW + 1, "'offset_bytes'"},
    {",write,4096,", ",write,99999999999999999999999,", FIRST_ROW + 1,
     "'offset_bytes'"},
    {",write,4096,", ",write,8589934592,", FIRST_ROW + 1, "beyond the end"},
    {",write,4096,", ",wrote,4096,", FIRST_ROW + 1, "'operation'"},
    {",-5,", ",-5,0,", FIRST_ROW + 7, "'depth'"},
    {",117000\n", ",117000,0\n", FIRST_ROW, "more columns"},
    {",unseen,117000\n", ",unseen\n", FIRST_ROW, "'latency_ns' is missing"},
    {",1000117001,", ",1,", FIRST_ROW + 1, "completes before"},
    {"w16384+8192", "w16384_8192", FIRST_ROW + 1, "'cell'"},
    {"sim-0011223344556677,3,", "sim-0011223344556678,3,", FIRST_ROW + 3,
     "run"},
    {"sim-0011223344556677,3,", "sim-0011223344556677,4,", FIRST_ROW + 3,
     "sequence 4"},
    {",-5,", ",5,", FIRST_ROW + 7, "'error'"},
    {",-5,", ",-0,", FIRST_ROW + 7, "'error'"},
    {",117000\n", ",117000\r\n", FIRST_ROW, "carriage return"},
    {",117000\n", ",117000\t\n", FIRST_ROW, "0x09"},
    {",-5,", ",-6,", FIRST_ROW + ROWS, "digest"},
    {"seed=18446744073709551615", "seed=1", FIRST_ROW + ROWS, "digest"},
    {"count=24", "count=23", FIRST_ROW + ROWS, "24 rows"},
    {"# end count", "# fin count", FIRST_ROW + ROWS, "24 rows"},
    {"digest=", "digest=0", FIRST_ROW + ROWS, "digest"},
};

START_TEST(an_edit_is_noticed)
{
    char text[TEXT_MAX];
    const struct edit *edit = &edits[_i];

    size_t length = edited(text, edit->from, edit->to);
    expect_refusal(text, length, edit->line, edit->words);
}
END_TEST

START_TEST(damage_to_whole_lines_is_noticed)
{
    char text[TEXT_MAX], other[2 * TEXT_MAX];
    size_t length = good_file(text, ROWS);
    char *third = line_start(text, FIRST_ROW + 2);
    char *fourth = line_start(text, FIRST_ROW + 3);
    char *fifth = line_start(text, FIRST_ROW + 4);
    int a = (int)(third - text), b = (int)(fourth - third);

    /* removed */
    snprintf(other, sizeof(other), "%.*s%s", a, text, fourth);
    expect_refusal(other, strlen(other), FIRST_ROW + 2, "missing, repeated");
    /* duplicated */
    snprintf(other, sizeof(other), "%.*s%.*s%s", a, text, b, third, third);
    expect_refusal(other, strlen(other), FIRST_ROW + 3, "missing, repeated");
    /* swapped */
    snprintf(other, sizeof(other), "%.*s%.*s%.*s%s", a, text,
             (int)(fifth - fourth), fourth, b, third, fifth);
    expect_refusal(other, strlen(other), FIRST_ROW + 2, "missing, repeated");
    /* the closing line doubled */
    char *end = line_start(text, FIRST_ROW + ROWS);
    snprintf(other, sizeof(other), "%s%s", text, end);
    expect_refusal(other, strlen(other), FIRST_ROW + ROWS + 1,
                   "something follows");
    snprintf(other, sizeof(other), "%s\n", text);
    expect_refusal(other, strlen(other), FIRST_ROW + ROWS + 1,
                   "something follows");
    /* an empty line */
    snprintf(other, sizeof(other), "%.*s\n%s", a, text, third);
    expect_refusal(other, strlen(other), FIRST_ROW + 2, "missing");
    /* every line end converted */
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\n')
            other[used++] = '\r';
        other[used++] = text[i];
    }
    expect_refusal(other, used, 1, "carriage return");
}
END_TEST

/* A run that was killed leaves whole rows, and perhaps a part of one. */
START_TEST(a_file_that_is_cut_off_is_read_up_to_there)
{
    char text[TEXT_MAX];
    const size_t length = good_file(text, ROWS);
    const size_t first = (size_t)(line_start(text, FIRST_ROW) - text);

    for (size_t cut = 1; cut < length; cut++) {
        struct fault why = {FAULT_NONE, ""};
        struct csv_rows rows;
        size_t lines = 0;
        put_file(text, cut);
        const int error = csv_read(path, &rows, &why);
        for (size_t i = 0; i < cut; i++)
            lines += text[i] == '\n';
        if (cut < first) {
            ck_assert_int_eq(error, -EINVAL);
            ck_assert_ptr_nonnull(strstr(why.text, "cut off"));
            continue;
        }
        ck_assert_msg(error == 0, "%zu: %s", cut, why.text);
        ck_assert(!rows.complete);
        ck_assert_uint_eq(rows.cut_line, lines + 1);
        ck_assert_uint_eq(rows.count, lines - HEADER_LINES);
        for (size_t i = 0; i < rows.count; i++) {
            const struct sample sample = example_sample(i);
            expect_same(&rows.items[i].sample, &sample);
        }
        csv_rows_free(&rows);
    }
}
END_TEST

START_TEST(files_that_are_no_samples_are_refused)
{
    char text[TEXT_MAX];
    struct csv_rows rows;
    struct fault why;

    expect_refusal("", 0, 1, "empty");
    expect_refusal("\n", 1, 1, "not a file of samples, nor output");
    expect_refusal("\0\0\0\0", 4, 1, "0x00");
    memset(text, 'x', sizeof(text));
    expect_refusal(text, sizeof(text), 1, "longer than");
    ck_assert_int_eq(csv_read("/dev/zero", &rows, &why), -EINVAL);
    ck_assert_int_eq(csv_read("/tmp", &rows, &why), -EIO);
    ck_assert_int_eq(why.kind, FAULT_OPEN);
    ck_assert_int_eq(csv_read("/nonexistent/none", &rows, &why), -ENOENT);
    ck_assert_ptr_nonnull(strstr(why.text, "/nonexistent/none"));
}
END_TEST

/* One deterministic mutation; returns the new length. */
static size_t mutate(struct random *random, char *text, size_t length)
{
    size_t at = random_below(random, length);
    size_t other = random_below(random, length);
    size_t span = 1 + random_below(random, 64);

    switch (random_below(random, 6)) {
    case 0: /* a flipped bit */
        text[at] = (char)(text[at] ^ (1 << random_below(random, 8)));
        return length;
    case 1: /* any byte */
        text[at] = (char)random_below(random, 256);
        return length;
    case 2: /* cut off */
        return at;
    case 3: /* a piece removed */
        span = span > length - at ? length - at : span;
        memmove(text + at, text + at + span, length - at - span);
        return length - span;
    case 4: /* a piece repeated elsewhere */
        span = span > length - other ? length - other : span;
        span = length + span > TEXT_MAX ? TEXT_MAX - length : span;
        {
            char piece[64];
            memcpy(piece, text + other, span);
            memmove(text + at + span, text + at, length - at);
            memcpy(text + at, piece, span);
        }
        return length + span;
    default: /* a digit where there was one */
        while (at + 1 < length && (text[at] < '0' || text[at] > '9'))
            at++;
        text[at] = (char)('0' + random_below(random, 10));
        return length;
    }
}

START_TEST(no_mutation_passes_or_crashes)
{
    enum { MUTATIONS = 20000, MOST_AT_ONCE = 3 };
    char good[TEXT_MAX], text[TEXT_MAX];
    struct random random;
    unsigned unchanged = 0;
    size_t good_length = good_file(good, ROWS);

    random_seed(&random, 1);
    for (int i = 0; i < MUTATIONS; i++) {
        struct fault why;
        size_t length = good_length;
        memcpy(text, good, length);
        uint64_t times = 1 + random_below(&random, MOST_AT_ONCE);
        while (times-- && length)
            length = mutate(&random, text, length);
        bool same = length == good_length && !memcmp(text, good, length);
        unchanged += same;
        int error = read_text(text, length, &why);
        /* What is cut off lacks its digest, and says so. */
        ck_assert_msg(same ? error == 0 : error == -EINVAL || error == CUT_OFF,
                      "mutation %d: %d, %s", i, error, why.text);
    }
    ck_assert_uint_lt(unchanged, MUTATIONS / 10);
}
END_TEST

/* ---- compressed ---------------------------------------------------------- */

/* A text and zeros behind it, compressed to `path`; returns the length. */
static size_t put_packed(const char *text, size_t length, off_t zeros_bytes)
{
    const int plain = memfd_create("plain", MFD_CLOEXEC);
    FILE *file = fopen(path, "wb");

    ck_assert_int_eq(write(plain, text, length), (ssize_t)length);
    ck_assert_int_eq(ftruncate(plain, (off_t)length + zeros_bytes), 0);
    ck_assert_int_eq(packed_write(plain, file), 0);
    const long packed_length = ftell(file);
    ck_assert_int_eq(fclose(file), 0);
    close(plain);
    return (size_t)packed_length;
}

static size_t get_file(char *bytes, size_t size)
{
    FILE *file = fopen(path, "rb");
    const size_t length = fread(bytes, 1, size, file);

    fclose(file);
    return length;
}

/* Others may leave the checksum out. */
static void drop_checksum(void)
{
    enum { FLAGS_AT = 4, HAS_CHECKSUM = 4, CHECKSUM_BYTES = 4 };
    static char packed[1 << 20];
    const size_t length = get_file(packed, sizeof(packed));

    ck_assert(packed[FLAGS_AT] & HAS_CHECKSUM);
    packed[FLAGS_AT] = (char)(packed[FLAGS_AT] & ~HAS_CHECKSUM);
    put_file(packed, length - CHECKSUM_BYTES);
}

/* So many rows take several turns of every buffer. */
START_TEST(a_compressed_file_is_read_as_a_plain_one)
{
    enum { MANY = 20000, LONG_MAX = 200 * MANY };
    struct csv_rows rows;
    struct fault why = {FAULT_NONE, ""};
    char *text = malloc(LONG_MAX);
    FILE *file = fmemopen(text, LONG_MAX, "w");

    write_rows(file, MANY);
    const size_t length = (size_t)ftell(file);
    fclose(file);
    ck_assert_uint_lt(put_packed(text, length, 0), length / 5);
    if (_i)
        drop_checksum();
    ck_assert_msg(csv_read(path, &rows, &why) == 0, "%s", why.text);
    ck_assert(rows.complete);
    ck_assert_uint_eq(rows.count, MANY);
    for (size_t i = 0; i < MANY; i++) {
        struct sample sample = example_sample(i);
        expect_same(&rows.items[i].sample, &sample);
    }
    csv_rows_free(&rows);
    free(text);
}
END_TEST

/* Two that were compressed by themselves and put together are one to zstd. */
START_TEST(frames_may_follow_each_other)
{
    char text[TEXT_MAX], first[TEXT_MAX], second[TEXT_MAX];
    struct csv_rows rows;
    struct fault why = {FAULT_NONE, ""};
    const size_t length = good_file(text, ROWS);

    put_packed(text, length / 2, 0);
    const size_t first_length = get_file(first, sizeof(first));
    put_packed(text + length / 2, length - length / 2, 0);
    const size_t second_length = get_file(second, sizeof(second));
    memcpy(first + first_length, second, second_length);
    put_file(first, first_length + second_length);
    ck_assert_msg(csv_read(path, &rows, &why) == 0, "%s", why.text);
    ck_assert(rows.complete);
    ck_assert_uint_eq(rows.count, ROWS);
    csv_rows_free(&rows);
    put_file(first, first_length); /* the second is lost */
    ck_assert_int_eq(csv_read(path, &rows, &why), 0);
    ck_assert(!rows.complete);
    csv_rows_free(&rows);
    memcpy(first + first_length, "rest", 4);
    put_file(first, first_length + 4);
    ck_assert_int_eq(csv_read(path, &rows, &why), -EINVAL);
    ck_assert_ptr_nonnull(strstr(why.text, "damaged"));
}
END_TEST

/* As a plain file: its whole rows are read, or none are there. */
START_TEST(a_compressed_file_may_be_cut_off)
{
    char text[TEXT_MAX], packed[TEXT_MAX];
    struct fault why;

    put_packed(text, good_file(text, ROWS), 0);
    const size_t length = get_file(packed, sizeof(packed));
    for (size_t cut = 4; cut < length; cut++) {
        const int error = read_text(packed, cut, &why);
        /* All is there but the checksum, which the digest stands for. */
        if (cut >= length - 4)
            ck_assert_int_eq(error, 0);
        else if (error != CUT_OFF)
            ck_assert_msg(error == -EINVAL && strstr(why.text, "cut off"),
                          "%zu: %d, %s", cut, error, why.text);
    }
}
END_TEST

/* Zstd decompresses blocks of 128 KiB. */
START_TEST(every_whole_block_of_a_cut_file_is_read)
{
    enum { BLOCK_BYTES = 128 << 10, BLOCKS = 16 };
    static char text[BLOCKS * BLOCK_BYTES], packed[sizeof(text)];
    struct random random;
    FILE *file;
    size_t got, read_bytes = 0;

    random_seed(&random, 3);
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (char)('0' + random_below(&random, 10));
    put_packed(text, sizeof(text), 0);
    const size_t length = get_file(packed, sizeof(packed));
    put_file(packed, length / 2);
    ck_assert_int_eq(packed_open(path, &file), 0);
    while ((got = fread(packed, 1, 4096, file)) > 0) {
        ck_assert_mem_eq(packed, text + read_bytes, got);
        read_bytes += got;
    }
    ck_assert_int_eq(errno, ENODATA);
    ck_assert(ferror(file));
    fclose(file);
    ck_assert_uint_eq(read_bytes % BLOCK_BYTES, 0);
    ck_assert_uint_ge(read_bytes, (BLOCKS / 2 - 2) * BLOCK_BYTES);
}
END_TEST

START_TEST(no_mutation_of_a_compressed_file_crashes)
{
    enum { MUTATIONS = 3000 };
    char text[TEXT_MAX], good[TEXT_MAX], packed[TEXT_MAX];
    struct random random;
    unsigned refused = 0, damaged = 0;

    put_packed(text, good_file(text, ROWS), 0);
    const size_t good_length = get_file(good, sizeof(good));
    random_seed(&random, 2);
    for (int i = 0; i < MUTATIONS; i++) {
        struct fault why;
        memcpy(packed, good, good_length);
        const size_t length = mutate(&random, packed, good_length);
        const int error = read_text(packed, length, &why);
        ck_assert_msg(error == 0 || error == CUT_OFF || error == -EINVAL ||
                          error == -EIO,
                      "mutation %d: %d, %s", i, error, why.text);
        refused += error < 0;
        damaged += error < 0 && strstr(why.text, "damaged") != NULL;
    }
    ck_assert_uint_gt(refused, MUTATIONS / 2);
    ck_assert_uint_gt(damaged, MUTATIONS / 4);
}
END_TEST

static long resident_kib(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

/* A GiB in some 100 KiB, and a window of 2 GiB. */
START_TEST(a_decompression_bomb_takes_no_memory)
{
    static const char wide[] = {0x28, '\xb5', 0x2f, '\xfd', 0, '\xa8', 1, 0, 0};
    const long before_kib = resident_kib();
    char text[TEXT_MAX];
    struct csv_rows rows;
    struct fault why;
    const size_t length = good_file(text, ROWS);

    ck_assert_uint_lt(put_packed(text, length, 1 << 30), 1 << 18);
    ck_assert_int_eq(csv_read(path, &rows, &why), -EINVAL);
    ck_assert_ptr_nonnull(strstr(why.text, "something follows"));
    memset(text + length, '1', sizeof(text) - length);
    put_packed(text + length, sizeof(text) - length, 0);
    ck_assert_int_eq(csv_read(path, &rows, &why), -EINVAL);
    ck_assert_ptr_nonnull(strstr(why.text, "longer than"));
    ck_assert_int_eq(read_text(wide, sizeof(wide), &why), -EIO);
    ck_assert_ptr_nonnull(strstr(why.text, "--long=31"));
    ck_assert_int_lt(resident_kib() - before_kib, 64 << 10);
}
END_TEST

START_TEST(a_program_without_libzstd_says_so)
{
    static const char packed[] = {0x28, '\xb5', 0x2f, '\xfd'};
    struct fault why;

    if (packed_is_built())
        return;
    ck_assert_int_eq(read_text(packed, sizeof(packed), &why), -ENOTSUP);
    ck_assert_ptr_nonnull(strstr(why.text, "built without libzstd"));
}
END_TEST

/* Processor time, so that a busy machine does not fail the test. */
static double processor_seconds(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

START_TEST(a_hundred_thousand_rows_take_less_than_a_second)
{
#if defined(__SANITIZE_ADDRESS__) /* slower, by how much is not our matter */
    const double most_seconds = 10;
#else
    const double most_seconds = 1;
#endif
    enum { COUNT = 100000 };
    struct csv_rows rows;
    struct fault why;
    double start = processor_seconds();
    FILE *file = fopen(path, "wb");

    ck_assert_int_eq(write_rows(file, COUNT), 0);
    ck_assert_int_eq(fclose(file), 0);
    double written = processor_seconds();
    ck_assert_int_eq(csv_read(path, &rows, &why), 0);
    double read = processor_seconds();
    ck_assert_uint_eq(rows.count, COUNT);
    csv_rows_free(&rows);
    printf("rows a second: %.0f written, %.0f read\n",
           COUNT / (written - start), COUNT / (read - written));
    ck_assert_double_lt(written - start, most_seconds);
    ck_assert_double_lt(read - written, most_seconds);
}
END_TEST

static void make_file(void)
{
    close(scratch_file(path, "test_csv"));
}

static void remove_file(void)
{
    ck_assert_int_eq(unlink(path), 0);
}

int main(void)
{
    Suite *suite = suite_create("csv");
    TCase *cases = tcase_create("csv");

    tcase_add_unchecked_fixture(cases, make_file, remove_file);
    tcase_set_timeout(cases, 300); /* the machine may be busy */
    suite_add_tcase(suite, cases);
    tcase_add_test(cases, what_is_written_is_read_back);
    tcase_add_test(cases, the_largest_values_survive);
    tcase_add_loop_test(cases, patience_is_kept_where_there_is_some, 0, 2);
    tcase_add_test(cases, what_was_disturbed_is_told);
    tcase_add_test(cases, a_disturbance_without_a_cause_is_refused);
    tcase_add_test(cases, a_run_without_rows_is_whole);
    tcase_add_test(cases, the_header_line_names_columns_with_units);
    tcase_add_loop_test(cases, earlier_versions_are_read, CSV_MINOR_ALONE,
                        CSV_MINOR);
    tcase_add_loop_test(cases, an_earlier_version_is_continued_in_its_columns,
                        CSV_MINOR_ALONE, CSV_MINOR);
    tcase_add_test(cases, names_that_would_break_the_columns_are_not_written);
    tcase_add_test(cases, a_full_disk_is_an_error);
    tcase_add_loop_test(cases, an_edit_is_noticed, 0,
                        sizeof(edits) / sizeof(edits[0]));
    tcase_add_test(cases, damage_to_whole_lines_is_noticed);
    tcase_add_test(cases, a_file_that_is_cut_off_is_read_up_to_there);
    tcase_add_test(cases, files_that_are_no_samples_are_refused);
    tcase_add_test(cases, no_mutation_passes_or_crashes);
    tcase_add_test(cases, a_program_without_libzstd_says_so);
    if (packed_is_built()) {
        tcase_add_loop_test(cases, a_compressed_file_is_read_as_a_plain_one, 0,
                            2);
        tcase_add_test(cases, frames_may_follow_each_other);
        tcase_add_test(cases, a_compressed_file_may_be_cut_off);
        tcase_add_test(cases, every_whole_block_of_a_cut_file_is_read);
        tcase_add_test(cases, no_mutation_of_a_compressed_file_crashes);
        tcase_add_test(cases, a_decompression_bomb_takes_no_memory);
    }
    tcase_add_test(cases, a_hundred_thousand_rows_take_less_than_a_second);
    return suite_run(suite);
}
