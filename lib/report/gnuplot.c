/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/report/gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/data_folder.h"
#include "lib/base/packed/packed.h"
#include "lib/report/report.h"

enum {
    STEM_MAX = 40,
    SAID_MAX = 200,
    TITLE_MAX = 400,
    EXIT_NOT_FOUND = 127,
    EXIT_TIMED_OUT = 124, /* of `timeout` */
    EXIT_NOTHING = 3,     /* of a script whose rows hold nothing to draw */
    NAME_MAX_BYTES = 80,
    LINE_MAX_BYTES = 1024 /* longer than any line of samples */
};

/* In the folder of a figure. */
#define SAMPLES "samples.csv"
#define OTHER "other.csv"
#define FINDINGS "findings.tsv"

struct text {
    const char *begin;
    size_t length;
};

/* coreutils has it, so no clock of our own is needed. */
static char limit_program[] = "timeout", limit_seconds[] = "60";
static char environment_program[] = "env", c_locale[] = "LC_ALL=C";

extern char **environ;

static int find_script(const char *probe, char path[PATH_MAX])
{
    char file[STEM_MAX];

    snprintf(file, sizeof(file), "%.*s.gp", STEM_MAX - (int)sizeof(".gp"),
             probe);
    for (char *c = file; *c; c++)
        if (*c == '-')
            *c = '_';
    return data_file(DATA_PLOTS, file, path, PATH_MAX);
}

/* Does the row belong to `probe`? Its name is the third field. */
static bool is_row_of(const char *line, const char *probe)
{
    const char *field = strchr(line, ',');
    size_t length = strlen(probe);

    field = field ? strchr(field + 1, ',') : NULL;
    return field && strncmp(field + 1, probe, length) == 0 &&
           field[1 + length] == ',';
}

/* The probe's rows alone: a script reads them several times. -ENODATA: it has
 * none. */
static int copy_rows(const struct gnuplot_job *job, const char *from,
                     const char *path)
{
    const char *rows_of = job->rows_of ? job->rows_of : job->probe;
    char line[LINE_MAX_BYTES];
    size_t rows_count = 0;
    FILE *in, *out = NULL;
    int error = packed_open(from, &in);

    if (!error)
        out = fopen(path, "we");
    if (!error && !out)
        error = -errno;
    while (!error && fgets(line, sizeof(line), in)) {
        const bool is_row = is_row_of(line, rows_of);
        rows_count += is_row;
        if ((is_row || line[0] == '#' || strncmp(line, "run,", 4) == 0) &&
            fputs(line, out) == EOF)
            error = -errno;
    }
    if (!error && rows_count == 0)
        error = -ENODATA;
    if (out && fclose(out) != 0 && !error)
        error = -errno;
    if (in)
        fclose(in);
    return error;
}

/* Plain numbers for the axes, words for the labels: plots/common.gp. */
static int write_findings(const struct findings *findings, const char *path)
{
    FILE *out = fopen(path, "we");

    if (!out)
        return -errno;
    for (size_t i = 0; findings && i < findings->count; i++) {
        const struct finding *f = &findings->items[i];
        char value[48], low[48], high[48], words[96], span[160];
        report_amount(&f->value, report_unit(f), false, words, sizeof(words));
        report_interval(f, false, span, sizeof(span));
        value_format(&f->value, value, sizeof(value));
        value_format(&f->low, low, sizeof(low));
        value_format(&f->high, high, sizeof(high));
        fprintf(out, "%s\t%s\t%s\t%s\t%s\t%.6f\t%s\t%s\t%s\n", f->parameter,
                verdict_name(f->verdict), value, low, high, f->confidence,
                words, strcmp(low, high) == 0 ? words : span,
                report_verdict(f));
        for (size_t j = 0; j < f->extras_count; j++) {
            report_amount(&f->extras[j].value, report_unit(f), false, words,
                          sizeof(words));
            value_format(&f->extras[j].value, value, sizeof(value));
            fprintf(out, "%s.%s\tfound\t%s\t\t\t%.6f\t%s\t\tfound\n",
                    f->parameter, f->extras[j].name, value, f->confidence,
                    words);
        }
    }
    return fclose(out) == 0 ? 0 : -errno;
}

/* Runs gnuplot in `folder`; its exit status, or -errno. */
static int run_gnuplot(const struct gnuplot_job *job, const char *folder,
                       char *script, char *picture)
{
    static char program[] = "gnuplot", command[] = "-c";
    static char samples[] = SAMPLES, findings[] = FINDINGS, other[] = OTHER;
    char columns[32], probe[STEM_MAX], names[2][NAME_MAX_BYTES];
    char *arguments[] = {environment_program,
                         c_locale,
                         columns,
                         limit_program,
                         limit_seconds,
                         program,
                         command,
                         script,
                         samples,
                         picture,
                         findings,
                         job->other ? other : NULL,
                         probe,
                         names[0],
                         names[1],
                         NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t pipe_signal;
    pid_t child;
    int status = 0, error;

    snprintf(columns, sizeof(columns), "COLUMNS=%u",
             job->columns_count ? job->columns_count : 80);
    snprintf(probe, sizeof(probe), "%s", job->probe);
    for (size_t i = 0; i < 2; i++)
        snprintf(names[i], sizeof(names[i]), "%s",
                 job->names[i] ? job->names[i] : "");
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &pipe_signal);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addchdir_np(&actions, folder);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "said",
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    error = posix_spawnp(&child, environment_program, &actions, &attributes,
                         arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (error)
        return -error;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -errno;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static int read_picture(const char *path, struct gnuplot_picture *picture)
{
    FILE *in = fopen(path, "re");
    long length = -1;

    if (!in)
        return -errno;
    if (fseek(in, 0, SEEK_END) == 0)
        length = ftell(in);
    rewind(in);
    picture->bytes = length > 0 ? malloc((size_t)length + 1) : NULL;
    picture->length = length > 0 ? (size_t)length : 0;
    bool whole = picture->bytes && fread(picture->bytes, 1, picture->length,
                                         in) == picture->length;
    fclose(in);
    if (!whole) {
        free(picture->bytes);
        picture->bytes = NULL;
        return -EIO;
    }
    picture->bytes[picture->length] = '\0';
    return 0;
}

static bool read_between(const char **at, const char *before, const char *until,
                         struct text *text)
{
    const size_t length = strlen(before);

    if (strncmp(*at, before, length) != 0)
        return false;
    text->begin = *at + length;
    text->length = strcspn(text->begin, until);
    *at = text->begin + text->length;
    return **at != '\0';
}

/* gnuplot hands what a pointer says to a script that no page of ours has. A
 * title within a ring that is not seen says the same in every reader, and is
 * shorter: it is put in its place. */
static void put_titles(struct gnuplot_picture *picture)
{
    char *out = picture->bytes;

    for (const char *at = picture->bytes; *at;) {
        const char *next = at;
        struct text said, x, y, rest;
        if (*at == '<' &&
            read_between(&next,
                         "<g onmousemove=\"gnuplot_svg.showHypertext("
                         "evt,'",
                         "'", &said) &&
            said.length < SAID_MAX &&
            read_between(&next,
                         "')\" onmouseout=\"gnuplot_svg.hideHypertext()"
                         "\"><title> </title>\n\t<use xlink:href='",
                         " ", &rest) &&
            read_between(&next, " transform='translate(", ",", &x) &&
            read_between(&next, ",", ")", &y) &&
            (next = strstr(next, "</g>")) != NULL) {
            char title[TITLE_MAX];
            snprintf(title, sizeof(title),
                     "<circle cx='%.*s' cy='%.*s' r='6' fill='transparent' "
                     "stroke='none'><title>%.*s</title></circle>",
                     (int)x.length, x.begin, (int)y.length, y.begin,
                     (int)said.length, said.begin);
            at = next + strlen("</g>");
            out = stpcpy(out, title);
        } else {
            *out++ = *at++;
        }
    }
    *out = '\0';
    picture->length = (size_t)(out - picture->bytes);
}

/* What gnuplot said last, on one line. */
static void read_said(const char *path, char text[SAID_MAX])
{
    FILE *in = fopen(path, "re");
    size_t length = in ? fread(text, 1, SAID_MAX - 1, in) : 0;

    text[length] = '\0';
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
    if (in)
        fclose(in);
}

/* Everything in `folder`, which is there. */
static int draw_in(const struct gnuplot_job *job, const char *folder,
                   char *script, struct gnuplot_picture *picture,
                   struct fault *why)
{
    char samples[PATH_MAX], table[PATH_MAX], said[PATH_MAX], path[PATH_MAX];
    char other[PATH_MAX];
    char name[NAME_MAX_BYTES], text[SAID_MAX];
    int error, status;

    snprintf(name, sizeof(name), "picture%s", job->suffix);
    snprintf(samples, sizeof(samples), "%s/" SAMPLES, folder);
    snprintf(other, sizeof(other), "%s/" OTHER, folder);
    snprintf(table, sizeof(table), "%s/" FINDINGS, folder);
    snprintf(said, sizeof(said), "%s/said", folder);
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    error = copy_rows(job, job->samples, samples);
    if (!error && job->other)
        error = copy_rows(job, job->other, other);
    if (!error)
        error = write_findings(job->findings, table);
    status = error ? error : run_gnuplot(job, folder, script, name);
    if (status == EXIT_NOT_FOUND || status == -ENOENT)
        error = fault_set(why, FAULT_OPEN, -ENOENT,
                          "gnuplot is not installed, so there are no figures; "
                          "the rest is complete");
    else if (status == -ENODATA || status == EXIT_NOTHING)
        error =
            fault_set(why, FAULT_OPEN, -ENODATA,
                      "%s sent no requests, so it has no figure", job->probe);
    else if (status < 0)
        error = fault_set(why, FAULT_OPEN, status,
                          "the figure of %s cannot be drawn: %s", job->probe,
                          strerror(-status));
    else if (status == EXIT_TIMED_OUT)
        error = fault_set(why, FAULT_OPEN, -ETIMEDOUT,
                          "the figure of %s takes longer than %s s to draw, so "
                          "it is left out; 'ssdprobe plot' tries it again",
                          job->probe, limit_seconds);
    else if (status > 0 || (error = read_picture(path, picture)) != 0) {
        read_said(said, text);
        error = fault_set(why, FAULT_OPEN, -EIO,
                          "the figure of %s cannot be drawn: gnuplot says: %s",
                          job->probe, text[0] ? text : "nothing");
    } else if (strcmp(job->suffix, ".svg") == 0) {
        put_titles(picture);
    }
    unlink(samples);
    unlink(other);
    unlink(table);
    unlink(said);
    unlink(path);
    return error;
}

int gnuplot_draw(const struct gnuplot_job *job, struct gnuplot_picture *picture,
                 struct fault *why)
{
    const char *temporary = getenv("TMPDIR");
    char script[PATH_MAX], folder[PATH_MAX / 2];
    int error;

    *picture = (struct gnuplot_picture){NULL, 0};
    if (find_script(job->other ? "compare" : job->probe, script))
        return fault_set(why, FAULT_OPEN, -ENOENT,
                         "no figure: the script that draws %s is missing, so "
                         "reinstall ssdprobe",
                         job->probe);
    snprintf(folder, sizeof(folder), "%s/ssdprobe-XXXXXX",
             temporary && temporary[0] == '/' ? temporary : "/tmp");
    if (!mkdtemp(folder))
        return fault_set(why, FAULT_OPEN, -errno,
                         "the folder %s for figures cannot be created: %s",
                         folder, strerror(errno));
    error = draw_in(job, folder, script, picture, why);
    rmdir(folder);
    return error;
}
