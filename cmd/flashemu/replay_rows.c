/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of a replay: a row for each request. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cmd/flashemu/replay.h"

static int open_one(const struct replay_job *job, struct replay_rows *rows,
                    struct fault *why)
{
    if (!rows->path)
        return 0;
    const int error =
        rows->to_stdout ? 0 : replace_begin(&rows->replace, rows->path, why);
    if (error)
        return error;
    rows->file = rows->to_stdout ? stdout : rows->replace.file;
    fprintf(rows->file,
            "# flashemu replay, format 1\n# drive %s, trace %s (%s)\n"
            "index,operation,offset_bytes,length_bytes",
            job->drive.name, job->trace_path, trace_format_of(job->trace));
    return 0;
}

static int close_one(struct replay_rows *rows, bool keep, struct fault *why)
{
    if (!rows->file)
        return 0;
    int error = 0;
    if (!rows->to_stdout)
        error = replace_end(&rows->replace, keep);
    else if (fflush(rows->file) != 0 || ferror(rows->file))
        error = -EIO;
    rows->file = NULL;
    return error ? fault_set(why, FAULT_IO, error, "cannot write %.200s: %s",
                             rows->path, strerror(-error))
                 : 0;
}

int replay_rows_open(struct replay_job *job, struct fault *why)
{
    int error = open_one(job, &job->csv, why);
    if (!error)
        error = open_one(job, &job->why, why);
    if (error)
        return error;
    if (job->csv.file)
        fprintf(job->csv.file,
                ",arrive_ns,complete_ns,response_ns,queue_ns,error\n");
    if (job->why.file) {
        fprintf(job->why.file, ",response_ns");
        for (size_t i = 0; i < FLASH_WHY_PARTS; i++)
            fprintf(job->why.file, ",%s_ns", flash_why_parts[i].name);
        fputc('\n', job->why.file);
    }
    if (job->csv.file || job->why.file)
        job->settings.on_done = replay_rows_put;
    return 0;
}

static void put_request(FILE *file, const struct replay_done *done)
{
    static const char *const names[] = {"read", "write", "flush", "discard"};
    fprintf(file, "%" PRIu64 ",%s,%" PRIu64 ",%" PRIu64, done->index,
            names[done->request.operation], done->request.offset_bytes,
            done->request.length_bytes);
}

int replay_rows_put(void *context, const struct replay_done *done)
{
    const struct replay_job *job = context;
    uint64_t response_ns = done->complete_ns - done->arrive_ns;
    FILE *csv = job->csv.file, *why = job->why.file;
    if (csv) {
        put_request(csv, done);
        fprintf(csv, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%d\n",
                done->arrive_ns, done->complete_ns, response_ns, done->queue_ns,
                done->error);
    }
    if (why) {
        put_request(why, done);
        fprintf(why, ",%" PRIu64, response_ns);
        for (size_t i = 0; i < FLASH_WHY_PARTS; i++)
            fprintf(why, ",%" PRIu64, flash_why_part_ns(&done->why, i));
        fputc('\n', why);
    }
    return (csv && ferror(csv)) || (why && ferror(why)) ? -EIO : 0;
}

int replay_rows_close(struct replay_job *job, bool keep, struct fault *why)
{
    struct fault second = {.kind = FAULT_NONE};
    int error = close_one(&job->csv, keep, why);
    int later = close_one(&job->why, keep, error ? &second : why);
    return error ? error : later;
}
