/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/ssdprobe/run/resume.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <json-c/json.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmd/ssdprobe/console/confirm.h"
#include "cmd/ssdprobe/run/facts.h"
#include "cmd/ssdprobe/run/run.h"
#include "cmd/ssdprobe/console/signals.h"
#include "lib/base/packed/packed.h"

enum { NOTE_VERSION = 2 };

/* ---- noting -------------------------------------------------------------- */

static void add_text(struct json_object *note, const char *key,
                     const char *text)
{
    json_object_object_add(note, key, json_object_new_string(text));
}

static void add_number(struct json_object *note, const char *key,
                       uint64_t number)
{
    json_object_object_add(note, key, json_object_new_uint64(number));
}

/* `counted_bytes` of the samples: what their rows wrote is in the sum. */
static int write_note(struct run *run, off_t counted_bytes)
{
    const struct settings *settings = &run->invocation.settings;
    const struct resume *settled = &run->resume;
    struct fault ignored = {FAULT_NONE, ""};
    struct device_counters counters;
    char digest[20], disk[FINGERPRINT_TEXT_MAX];
    struct json_object *note = json_object_new_object();

    if (!note)
        return -ENOMEM;
    device_counters(run->device, &counters);
    snprintf(digest, sizeof(digest), "%016" PRIx64, settled->digest);
    add_number(note, "format_version", NOTE_VERSION);
    add_number(note, "turns", settled->turns_count);
    add_number(note, "samples_bytes", settled->samples_bytes);
    add_number(note, "rows", settled->rows_count);
    add_text(note, "digest", digest);
    add_number(note, "written_bytes",
               settled->written_bytes + counters.written_bytes);
    add_number(note, "counted_bytes", (uint64_t)counted_bytes);
    json_object_object_add(note, "every", json_object_new_boolean(run->every));
    json_object_object_add(note, "preserve",
                           json_object_new_boolean(settings->preserve));
    /* A link by the serial number is not for those who hide it. */
    if (!settings->no_serial || !strstr(run->spec, "/dev/disk/"))
        add_text(note, "device", run->spec);
    if (!device_info(run->device)->virtual_clock) {
        fingerprint_format(&run->fingerprint, disk);
        add_text(note, "disk", disk);
    }
    add_text(note, "tune", settings_tune_words[settings->tune]);
    add_text(note, "write_cache", settings_cache_words[settings->write_cache]);
    const char *text = json_object_to_json_string(note);
    const int error = run_dir_replace(&run->keep.dir, RUN_DIR_STATE, text,
                                      strlen(text), &ignored);
    json_object_put(note);
    return error;
}

/* Where the samples end, once they are on the disk; or -errno. */
static off_t settle(struct run *run)
{
    FILE *samples = run->keep.samples;

    if (fflush(samples) != 0 || fsync(fileno(samples)) != 0)
        return -errno;
    const off_t place = ftello(samples);
    return place < 0 ? -errno : place;
}

int resume_note(struct run *run, size_t turns_count)
{
    const struct csv_writer *csv = &run->keep.csv;
    struct resume *settled = &run->resume;

    if (!run->keep.samples)
        return 0;
    const off_t place = settle(run);
    if (place < 0)
        return (int)place;
    settled->turns_count = turns_count;
    settled->samples_bytes = (uint64_t)place;
    settled->rows_count = csv->count;
    settled->digest = csv->digest;
    return write_note(run, place);
}

int resume_note_end(struct run *run)
{
    if (!run->keep.samples)
        return 0;
    const off_t place = settle(run);
    return place < 0 ? (int)place : write_note(run, place);
}

/* ---- reading ------------------------------------------------------------- */

static int changed(struct run *run, const char *name)
{
    return fault_set(&run->why, FAULT_OPEN, -EINVAL,
                     "%.200s/%s has changed since the run, so the run cannot "
                     "be continued: start a new one",
                     run->keep.dir.path, name);
}

static bool get_number(struct json_object *note, const char *key,
                       uint64_t *number)
{
    struct json_object *value = json_object_object_get(note, key);

    if (!json_object_is_type(value, json_type_int) ||
        json_object_get_int64(value) < 0)
        return false;
    *number = json_object_get_uint64(value);
    return true;
}

static bool get_flag(struct json_object *note, const char *key, bool *flag)
{
    struct json_object *value = json_object_object_get(note, key);

    *flag = json_object_get_boolean(value);
    return json_object_is_type(value, json_type_boolean);
}

static int get_word(struct json_object *note, const char *key,
                    const char *const words[])
{
    struct json_object *value = json_object_object_get(note, key);

    return json_object_is_type(value, json_type_string)
               ? settings_word(json_object_get_string(value), words)
               : -EINVAL;
}

static bool get_digest(struct json_object *note, uint64_t *digest)
{
    struct json_object *value = json_object_object_get(note, "digest");
    int length = 0;

    return json_object_is_type(value, json_type_string) &&
           sscanf(json_object_get_string(value), "%16" SCNx64 "%n", digest,
                  &length) == 1 &&
           length == 16;
}

/* Emulated drives have none, nor have the notes of earlier versions. */
static bool get_disk(struct json_object *note, struct fingerprint *fingerprint)
{
    struct json_object *value = json_object_object_get(note, "disk");

    if (!value)
        return true;
    return json_object_is_type(value, json_type_string) &&
           fingerprint_parse(json_object_get_string(value), fingerprint);
}

static bool take_note(struct run *run, struct json_object *note,
                      uint64_t *counted_bytes)
{
    struct settings *settings = &run->invocation.settings;
    struct resume *resume = &run->resume;
    const int tune = get_word(note, "tune", settings_tune_words);
    const int cache = get_word(note, "write_cache", settings_cache_words);

    if (tune < 0 || cache < 0)
        return false;
    struct json_object *device = json_object_object_get(note, "device");
    if (json_object_is_type(device, json_type_string))
        snprintf(resume->device, sizeof(resume->device), "%s",
                 json_object_get_string(device));
    settings->tune = (enum tune_level)tune;
    settings->write_cache = (enum cache_wish)cache;
    return get_number(note, "turns", &resume->turns_count) &&
           get_number(note, "samples_bytes", &resume->samples_bytes) &&
           get_number(note, "rows", &resume->rows_count) &&
           get_digest(note, &resume->digest) &&
           get_disk(note, &resume->fingerprint) &&
           get_number(note, "written_bytes", &resume->written_bytes) &&
           get_number(note, "counted_bytes", counted_bytes) &&
           get_flag(note, "every", &run->every) &&
           get_flag(note, "preserve", &settings->preserve);
}

static int read_note(struct run *run, uint64_t *counted_bytes)
{
    struct keep *keep = &run->keep;
    const char *path = run->invocation.settings.resume;
    int error = run_dir_open_own(path, &keep->dir, &run->why);

    if (error)
        return error;
    if (run_dir_has(&keep->dir, RUN_DIR_JOURNAL) ||
        run_dir_has(&keep->dir, RUN_DIR_SETTINGS))
        return fault_set(&run->why, FAULT_REFUSED, -EBUSY,
                         "the changes of the run of %.200s are not all "
                         "restored yet: run 'ssdprobe restore %.200s' first",
                         path, path);
    const int file = run_dir_open_file(&keep->dir, RUN_DIR_STATE, O_RDONLY);
    if (file < 0 && file != -ENOENT)
        return fault_set(&run->why, FAULT_OPEN, file,
                         "%.200s/%s cannot be read (%s), so the run cannot be "
                         "continued: start a new one",
                         path, RUN_DIR_STATE,
                         file == -EINVAL ? "it is not a regular file"
                                         : strerror(-file));
    if (file < 0)
        return fault_set(&run->why, FAULT_OPEN, file,
                         "%.200s holds no run that was started: it has no %s",
                         path, RUN_DIR_STATE);
    struct json_object *note = json_object_from_fd(file);
    close(file);
    uint64_t version;
    if (!json_object_is_type(note, json_type_object) ||
        !get_number(note, "format_version", &version))
        error = changed(run, RUN_DIR_STATE);
    else if (version != NOTE_VERSION)
        error = fault_set(&run->why, FAULT_OPEN, -EINVAL,
                          "the run of %.200s is from another version of "
                          "ssdprobe (%s has format %" PRIu64
                          ", not %d), so this one cannot continue it: use that "
                          "version, or start a new run",
                          path, RUN_DIR_STATE, version, NOTE_VERSION);
    else if (!take_note(run, note, counted_bytes))
        error = changed(run, RUN_DIR_STATE);
    json_object_put(note);
    return error;
}

/* A copy of the settled samples, with the closing line that they lack. Returns
 * a descriptor or -errno. */
static int copy_samples(const struct resume *resume, FILE *samples)
{
    const int copy = memfd_create("samples", MFD_CLOEXEC);
    struct csv_writer writer = {.file =
                                    copy < 0 ? NULL : fdopen(dup(copy), "w"),
                                .count = resume->rows_count,
                                .digest = resume->digest};
    int error = writer.file
                    ? packed_copy(samples, writer.file, resume->samples_bytes)
                    : -errno;

    if (!error)
        error = csv_end(&writer);
    if (writer.file)
        fclose(writer.file);
    if (error && copy >= 0)
        close(copy);
    return error ? error : copy;
}

/* What the request of a row wrote; the row may be cut, and is taken apart. */
static uint64_t written_by(char *row)
{
    enum { OPERATION_FIELD = 6, LENGTH_FIELD = 8 };
    bool writes = false;
    const char *field;

    for (int i = 0; (field = strsep(&row, ",")) != NULL; i++) {
        if (i == OPERATION_FIELD)
            writes =
                strcmp(field, "write") == 0 || strcmp(field, "discard") == 0;
        if (i == LENGTH_FIELD)
            return writes ? strtoull(field, NULL, 10) : 0;
    }
    return 0;
}

/* The samples of a probe that was killed are cut off, but what it wrote counts.
 * `samples` stands where the settled ones end. */
static uint64_t written_since(FILE *samples, uint64_t place_bytes,
                              uint64_t counted_bytes)
{
    uint64_t bytes = 0;
    char *row = NULL;
    size_t size = 0;
    ssize_t length;

    while ((length = getline(&row, &size, samples)) > 0) {
        if (place_bytes >= counted_bytes)
            bytes += written_by(row);
        place_bytes += (uint64_t)length;
    }
    free(row);
    return bytes;
}

static int read_samples(struct run *run, uint64_t counted_bytes)
{
    struct resume *resume = &run->resume;
    struct fault ignored = {FAULT_NONE, ""};
    char path[40];
    FILE *samples;
    const int error = run_dir_open_samples(&run->keep.dir, &samples);
    const int copy = error ? error : copy_samples(resume, samples);

    if (copy >= 0)
        resume->written_bytes +=
            written_since(samples, resume->samples_bytes, counted_bytes);
    if (samples)
        fclose(samples);
    if (copy < 0)
        return changed(run, RUN_DIR_SAMPLES);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", copy);
    const int wrong = csv_read(path, &resume->rows, &ignored);
    close(copy);
    return wrong ? changed(run, RUN_DIR_SAMPLES) : 0;
}

/* What was chosen then. */
static void take_settings(struct run *run)
{
    const struct csv_header *header = &run->resume.rows.header;
    struct settings *settings = &run->invocation.settings;

    settings->seed = header->setting.seed;
    settings->method = header->setting.method;
    settings->region_offset_bytes = header->setting.region_offset_bytes;
    settings->region_length_bytes = header->setting.region_length_bytes;
    settings->write_budget_bytes = header->setting.write_budget_bytes;
    settings->patience_ns = header->setting.patience_ns;
    settings->rate_bytes_per_second = header->setting.rate_bytes_per_second;
    settings->read_only = header->setting.read_only;
    snprintf(settings->assume_text, sizeof(settings->assume_text), "%s",
             header->assume);
    /* An emulated drive's has no name that could be asked for. */
    if (flush_method_parse(header->flush, &settings->flush))
        settings->flush = FLUSH_AUTO;
}

/* A signal ends the reading: a file system may make it wait. */
static int read_kept(struct run *run)
{
    uint64_t counted_bytes = 0;

    signals_begin_wait();
    int error = read_note(run, &counted_bytes);
    if (!error)
        error = read_samples(run, counted_bytes);
    return signals_end_wait(error, &run->why);
}

int resume_read(struct run *run)
{
    const struct settings *settings = &run->invocation.settings;
    int error = read_kept(run);

    if (error)
        return error;
    take_settings(run);
    error = choice_make(run->resume.rows.header.probes, settings->read_only,
                        &run->choice, &run->why);
    if (error)
        return error;
    for (size_t i = 0; i < run->resume.turns_count; i++)
        if (!run->choice.asked[i])
            return changed(run, RUN_DIR_STATE);
    if (!run->choice.asked[run->resume.turns_count])
        return fault_set(
            &run->why, FAULT_USAGE, -EALREADY,
            "every probe of the run in %.200s has finished: there is nothing "
            "to continue; 'ssdprobe report %.200s' shows it",
            settings->resume, settings->resume);
    return 0;
}

int resume_check_device(struct run *run)
{
    const struct csv_header *header = &run->resume.rows.header;
    const struct device_info *info = device_info(run->device);
    char hash[sizeof(header->device)];

    snprintf(hash, sizeof(hash), "%016" PRIx64, device_hash(info));
    if (strcmp(hash, header->device) != 0)
        return fault_set(&run->why, FAULT_REFUSED, -ENODEV,
                         "%.100s is not the device of the run in %.200s: name "
                         "that one",
                         info->path, run->invocation.settings.resume);
    if (strcmp(info->flush, header->flush) != 0)
        return fault_set(&run->why, FAULT_REFUSED, -ENODEV,
                         "the cache of %.100s is flushed in another way now "
                         "(%s) than in that run (%s): start a new one",
                         info->path, info->flush, header->flush);
    return confirm_disk(&run->invocation.settings, run->device,
                        &run->resume.fingerprint,
                        run->invocation.settings.resume, &run->why);
}

int resume_session(struct run *run)
{
    conditions_add(
        &run->conditions, "resumed", CONDITION_YELLOW,
        "those probes ran earlier, under conditions that are not listed here",
        "after %" PRIu64 " probes", run->resume.turns_count);
    return session_resume(run->session, &run->resume.rows, run->choice.asked,
                          run->resume.turns_count, &run->why);
}

int resume_samples(struct run *run)
{
    const struct resume *resume = &run->resume;
    struct keep *keep = &run->keep;
    const int unpacked =
        run_dir_unpack_samples(&keep->dir, resume->samples_bytes, &run->why);
    if (unpacked)
        return unpacked;
    const int file = run_dir_open_file(&keep->dir, RUN_DIR_SAMPLES, O_RDWR);

    errno = file < 0 ? -file : 0;
    keep->samples = file < 0 ? NULL : fdopen(file, "r+");
    if (!keep->samples || ftruncate(file, (off_t)resume->samples_bytes) != 0 ||
        fseeko(keep->samples, 0, SEEK_END) != 0)
        return fault_set(&run->why, FAULT_OPEN, -errno,
                         "%.200s/" RUN_DIR_SAMPLES " cannot be continued: %s",
                         keep->dir.path, strerror(errno));
    keep->csv = (struct csv_writer){.file = keep->samples,
                                    .count = resume->rows_count,
                                    .digest = resume->digest,
                                    .minor = resume->rows.minor};
    memcpy(keep->csv.run, resume->rows.header.run, sizeof(keep->csv.run));
    facts_begin(run, keep->csv.run);
    run_dir_log(&keep->dir, "resume: after %" PRIu64 " probes",
                resume->turns_count);
    return 0;
}
