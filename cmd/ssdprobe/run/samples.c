/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/ssdprobe/run/samples.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/ssdprobe/run/facts.h"
#include "lib/base/random.h"

/* ---- rows, as they come ------------------------------------------------ */

int run_take_row(void *context, const char *probe, const struct sample *sample)
{
    struct run *run = context;
    int error =
        run->invocation.output.csv_file ? csv_row(&run->csv, probe, sample) : 0;

    return error ? error : keep_row(&run->keep, probe, sample);
}

int run_take_spoilt(void *context, const char *probe, const char *cause)
{
    struct run *run = context;
    int error = run->invocation.output.csv_file
                    ? csv_disturbed(&run->csv, probe, cause)
                    : 0;

    return error || !run->keep.samples
               ? error
               : csv_disturbed(&run->keep.csv, probe, cause);
}

/* A file of samples can be cut back to where a probe began; a pipe cannot. */
static int rewind_file(struct csv_writer *csv, struct csv_writer *mark,
                       off_t *place, bool back)
{
    if (!csv->file)
        return 0;
    if (!back) {
        *mark = *csv;
        *place = ftello(csv->file);
        return *place < 0 ? -errno : 0;
    }
    if (*place < 0 || fflush(csv->file) != 0 ||
        ftruncate(fileno(csv->file), *place) != 0 ||
        fseeko(csv->file, *place, SEEK_SET) != 0)
        return errno ? -errno : -EIO;
    *csv = *mark;
    return 0;
}

int run_rewind_rows(void *context, bool back)
{
    struct run *run = context;
    int error = rewind_file(&run->csv, &run->csv_mark, &run->csv_place, back);

    return error ? error
                 : rewind_file(&run->keep.csv, &run->keep_mark,
                               &run->keep_place, back);
}

/* ---- the files that they go to ----------------------------------------- */

static void describe(struct run *run, struct csv_header *header)
{
    const struct settings *settings = &run->invocation.settings;
    const struct device_info *info = device_info(run->device);
    uint64_t hash = device_hash(info);
    uint64_t id = random_mix(hash ^ random_mix(settings->seed + 1));

    memset(header, 0, sizeof(*header));
    /* A real drive never answers twice alike, so its runs have names apart. */
    if (!info->virtual_clock)
        id = random_mix(id ^ progress_wall_ns() ^ (uint64_t)time(NULL) << 20 ^
                        (uint64_t)getpid());
    snprintf(header->run, sizeof(header->run), "%s-%016" PRIx64,
             info->virtual_clock ? "sim" : "run", id);
    facts_begin(run, header->run);
    snprintf(header->device, sizeof(header->device), "%016" PRIx64, hash);
    snprintf(header->flush, sizeof(header->flush), "%s", info->flush);
    snprintf(header->assume, sizeof(header->assume), "%s",
             settings->assume_text);
    choice_names(&run->choice, header->probes, sizeof(header->probes));
    header->setting = *session_setting(run->session);
}

int run_samples_fault(struct run *run, int error)
{
    const char *path =
        run->csv.error ? run->invocation.output.csv_path : run->keep.dir.path;

    return fault_set(&run->why, FAULT_OPEN, error,
                     "the samples cannot be written to %.200s: %s",
                     strcmp(path, "-") == 0 ? "stdout" : path,
                     strerror(-error));
}

int run_begin_samples(struct run *run)
{
    struct output *output = &run->invocation.output;
    struct csv_header header;
    int error = 0;

    if (run->invocation.settings.resume)
        return resume_note(run, run->resume.turns_count);
    describe(run, &header);
    output->csv_begun = output->csv_file != NULL;
    if (output->csv_file)
        error = csv_begin(&run->csv, output->csv_file, &header);
    if (!error)
        error = keep_begin(&run->keep, &header);
    return error ? error : resume_note(run, 0);
}

int run_end_samples(struct run *run)
{
    int error = run->invocation.output.csv_file ? csv_end(&run->csv) : 0;

    return error ? error : keep_end(&run->keep);
}
