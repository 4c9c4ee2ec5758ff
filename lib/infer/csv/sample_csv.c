/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/infer/csv/sample_csv.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lib/infer/csv/sample_csv_format.h"

#define FIELD(kind_, name_, member_, letters_)                                 \
    {                                                                          \
        .name = name_, .kind = kind_,                                          \
        .offset = offsetof(struct csv_header, member_),                        \
        .size = sizeof(((struct csv_header *)0)->member_), .letters = letters_ \
    }

const struct csv_field csv_fields[] = {
    FIELD(CSV_FIELD_NAME, "run", run, CSV_RUN_LETTERS),
    FIELD(CSV_FIELD_NAME, "device", device, CSV_RUN_LETTERS),
    FIELD(CSV_FIELD_NAME, "flush", flush, ""),
    FIELD(CSV_FIELD_NAME, "probes", probes, " "),
    FIELD(CSV_FIELD_U64, "seed", setting.seed, NULL),
    FIELD(CSV_FIELD_METHOD, "method", setting.method, NULL),
    FIELD(CSV_FIELD_U64, "capacity_bytes", setting.capacity_bytes, NULL),
    FIELD(CSV_FIELD_U64, "region_offset_bytes", setting.region_offset_bytes,
          NULL),
    FIELD(CSV_FIELD_U64, "region_length_bytes", setting.region_length_bytes,
          NULL),
    FIELD(CSV_FIELD_U32, "logical_block_bytes", setting.logical_block_bytes,
          NULL),
    FIELD(CSV_FIELD_U32, "request_limit_bytes", setting.request_limit_bytes,
          NULL),
    FIELD(CSV_FIELD_U64, "clock_step_ns", setting.clock_step_ns, NULL),
    FIELD(CSV_FIELD_BOOL, "read_only", setting.read_only, NULL),
    FIELD(CSV_FIELD_BOOL, "forgets", setting.forgets, NULL),
    FIELD(CSV_FIELD_U64, "write_budget_bytes", setting.write_budget_bytes,
          NULL),
    {.name = "part_length_bytes",
     .kind = CSV_FIELD_U64,
     .offset = offsetof(struct csv_header, setting.part_length_bytes),
     .optional = true},
    {.name = "patience_ns",
     .kind = CSV_FIELD_U64,
     .offset = offsetof(struct csv_header, setting.patience_ns),
     .optional = true},
    {.name = "rate_bytes_per_second",
     .kind = CSV_FIELD_U64,
     .offset = offsetof(struct csv_header, setting.rate_bytes_per_second),
     .optional = true},
    FIELD(CSV_FIELD_TEXT, "assume", assume, NULL),
    {.name = NULL},
};

const char *const csv_method_names[2] = {
    [METHOD_ADAPTIVE] = "adaptive",
    [METHOD_PAPER] = "paper",
};

const char *const csv_columns[CSV_MINOR + 1] = {
    [CSV_MINOR_ALONE] = CSV_COLUMNS_0,
    [CSV_MINOR_TOGETHER] = CSV_COLUMNS_1,
    [CSV_MINOR_LATENCY] = CSV_COLUMNS_2,
};

bool csv_is_name(const char *text, size_t length, const char *letters)
{
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        bool common =
            (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
        if (!common && (c == '\0' || !strchr(letters, c)))
            return false;
    }
    return true;
}

bool csv_header_is_sane(const void *header)
{
    const struct csv_header *h = header;
    const struct setting *s = &h->setting;
    uint32_t block = s->logical_block_bytes;

    return h->run[0] && s->capacity_bytes > 0 && block > 0 &&
           (block & (block - 1)) == 0 &&
           s->region_offset_bytes <= s->capacity_bytes &&
           s->region_length_bytes <=
               s->capacity_bytes - s->region_offset_bytes &&
           s->part_length_bytes <= s->region_length_bytes;
}

uint64_t csv_digest_start(void)
{
    return UINT64_C(0xcbf29ce484222325);
}

uint64_t csv_digest(uint64_t digest, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        digest ^= (unsigned char)bytes[i];
        digest *= UINT64_C(0x100000001b3);
    }
    return digest;
}

void csv_end_line(uint64_t count, uint64_t digest, char line[CSV_LINE_MAX])
{
    snprintf(line, CSV_LINE_MAX,
             "# end count=%" PRIu64 " digest=%016" PRIx64 "\n", count, digest);
}

static int write_line(struct csv_writer *writer, const char *line,
                      size_t length)
{
    writer->digest = csv_digest(writer->digest, line, length);
    if (fwrite(line, 1, length, writer->file) != length)
        writer->error = errno ? -errno : -EIO;
    return writer->error;
}

/* A text of a known greatest size, where a missing end would be a bug. */
static bool is_text(const char *text, size_t size)
{
    size_t length = strnlen(text, size);

    for (size_t i = 0; i < length; i++)
        if (text[i] < ' ' || text[i] > '~')
            return false;
    return length < size;
}

/* The line of one header field; false when its value cannot be written. */
static bool format_field(const struct csv_field *field,
                         const struct csv_header *header,
                         char line[CSV_LINE_MAX])
{
    const char *member = (const char *)header + field->offset;
    uint64_t u64;
    uint32_t u32;
    enum probe_method method;

    switch (field->kind) {
    case CSV_FIELD_NAME:
    case CSV_FIELD_TEXT:
        if (!is_text(member, field->size))
            return false;
        if (field->kind == CSV_FIELD_NAME &&
            !csv_is_name(member, strlen(member), field->letters))
            return false;
        snprintf(line, CSV_LINE_MAX, "# %s=%s\n", field->name, member);
        return true;
    case CSV_FIELD_U64:
        memcpy(&u64, member, sizeof(u64));
        break;
    case CSV_FIELD_U32:
        memcpy(&u32, member, sizeof(u32));
        u64 = u32;
        break;
    case CSV_FIELD_BOOL:
        u64 = *(const bool *)member;
        break;
    case CSV_FIELD_METHOD:
        memcpy(&method, member, sizeof(method));
        snprintf(line, CSV_LINE_MAX, "# %s=%s\n", field->name,
                 csv_method_names[method == METHOD_PAPER]);
        return true;
    default:
        return false;
    }
    if (field->optional && u64 == 0)
        line[0] = '\0';
    else
        snprintf(line, CSV_LINE_MAX, "# %s=%" PRIu64 "\n", field->name, u64);
    return true;
}

int csv_begin(struct csv_writer *writer, FILE *file,
              const struct csv_header *header)
{
    char line[CSV_LINE_MAX];

    memset(writer, 0, sizeof(*writer));
    writer->file = file;
    writer->digest = csv_digest_start();
    writer->minor = CSV_MINOR;
    if (!csv_header_is_sane(header)) {
        writer->error = -EINVAL;
        return writer->error;
    }
    snprintf(line, sizeof(line),
             CSV_TITLE "\n# format_version=" CSV_VERSION_MAJOR "%d\n",
             CSV_MINOR);
    write_line(writer, line, strlen(line));
    for (const struct csv_field *f = csv_fields; f->name; f++) {
        if (!writer->error && !format_field(f, header, line))
            writer->error = -EINVAL;
        if (!writer->error && line[0])
            write_line(writer, line, strlen(line));
    }
    if (writer->error)
        return writer->error;
    memcpy(writer->run, header->run, sizeof(writer->run));
    snprintf(line, sizeof(line), "%s\n", csv_columns[CSV_MINOR]);
    return write_line(writer, line, strlen(line));
}

/* A row grows here; the bounds of its fields keep it within CSV_LINE_MAX.
 * printf would take most of the time of a run on an emulated drive. */
struct row {
    char text[CSV_LINE_MAX];
    size_t length;
};

static void put_text(struct row *row, const char *text, size_t length)
{
    memcpy(row->text + row->length, text, length);
    row->length += length;
    row->text[row->length++] = ',';
}

static void put_number(struct row *row, uint64_t number)
{
    char digits[20];
    size_t first = sizeof(digits);

    do {
        digits[--first] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    put_text(row, digits + first, sizeof(digits) - first);
}

/* Appends a name; false when it is too long or has a foreign letter. */
static bool put_name(struct row *row, const char *name, size_t size,
                     const char *letters)
{
    size_t length = strnlen(name, size);

    if (length == size || !csv_is_name(name, length, letters))
        return false;
    put_text(row, name, length);
    return true;
}

static bool format_row(struct row *row, const struct csv_writer *writer,
                       const char *probe, const struct sample *sample)
{
    const char *operation = operation_name(sample->operation);
    const char *returned = returned_name(sample->returned);
    const struct label *label = &sample->label;
    enum { PROBE_SIZE = sizeof(((struct csv_row_item *)0)->probe) };

    if (!operation || !returned || sample->depth > SAMPLE_DEPTH_MAX ||
        sample->error > 0 || sample->error < -CSV_ERRNO_MAX)
        return false;
    row->length = 0;
    put_text(row, writer->run, strlen(writer->run));
    put_number(row, writer->count);
    if (!put_name(row, probe, PROBE_SIZE, "") ||
        !put_name(row, label->phase, sizeof(label->phase), "") ||
        !put_name(row, label->cell, sizeof(label->cell), CSV_CELL_LETTERS))
        return false;
    put_number(row, label->round);
    put_text(row, operation, strlen(operation));
    put_number(row, sample->offset_bytes);
    put_number(row, sample->length_bytes);
    put_number(row, sample->submit_ns);
    put_number(row, sample->complete_ns);
    put_number(row, sample->parts_count);
    if (sample->error)
        row->text[row->length++] = '-';
    put_number(row, (uint64_t)-sample->error);
    if (writer->minor >= CSV_MINOR_TOGETHER) {
        put_number(row, sample->depth > 0 ? sample->depth : 1);
        put_number(row, sample->fua);
        put_text(row, returned, strlen(returned));
    }
    if (writer->minor >= CSV_MINOR_LATENCY)
        put_number(row, sample->complete_ns - sample->submit_ns);
    row->text[row->length - 1] = '\n'; /* in place of the last comma */
    return true;
}

int csv_row(struct csv_writer *writer, const char *probe,
            const struct sample *sample)
{
    struct row row;

    if (writer->error)
        return writer->error;
    if (!format_row(&row, writer, probe, sample)) {
        writer->error = -EINVAL;
        return writer->error;
    }
    writer->count++;
    return write_line(writer, row.text, row.length);
}

int csv_disturbed(struct csv_writer *writer, const char *probe,
                  const char *cause)
{
    struct csv_disturbance item;
    char line[CSV_LINE_MAX];

    if (writer->error)
        return writer->error;
    snprintf(item.probe, sizeof(item.probe), "%s", probe);
    snprintf(item.cause, sizeof(item.cause), "%s", cause);
    for (char *at = item.cause; *at; at++)
        *at = *at < ' ' || *at > '~' ? '?' : *at;
    snprintf(line, sizeof(line), CSV_DISTURBED "%s" CSV_CAUSE "%s\n",
             item.probe, item.cause);
    return write_line(writer, line, strlen(line));
}

int csv_end(struct csv_writer *writer)
{
    char line[CSV_LINE_MAX];

    if (writer->error)
        return writer->error;
    csv_end_line(writer->count, writer->digest, line);
    if (fputs(line, writer->file) == EOF || fflush(writer->file) != 0)
        writer->error = errno ? -errno : -EIO;
    return writer->error;
}
