/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/trace/format.h"

#include <ctype.h>
#include <string.h>

#define SECTOR_BYTES UINT64_C(512)
#define SECOND_NS UINT64_C(1000000000)
#define MILLISECOND_NS UINT64_C(1000000)
#define MICROSECOND_NS UINT64_C(1000)

/* 1990 and 2100, since 1970 and, in ticks of 100 ns, since 1601. */
#define UNIX_LEAST_NS (UINT64_C(631152000) * SECOND_NS)
#define UNIX_MOST_NS (UINT64_C(4102444800) * SECOND_NS)
#define EPOCHS_APART_NS (UINT64_C(11644473600) * SECOND_NS)

/* FIU's clock began when a server was switched on: not minutes ago, and not
 * years. */
#define UPTIME_LEAST_NS (1000 * SECOND_NS)
#define UPTIME_MOST_NS (UINT64_C(1000000000) * SECOND_NS)

const struct trace_format_row trace_formats[] = {
    {.name = "blkparse",
     .expected = "MAJOR,MINOR CPU SEQUENCE SECONDS PID ACTION RWBS SECTOR + "
                 "SECTORS, or what --blkparse-format= says",
     .units = {SECOND_NS, SECTOR_BYTES},
     .of_kernel = true,
     .parse = parse_blkparse},
    {.name = "ftrace",
     .expected = "COMMAND-PID [CPU] SECONDS: block_rq_issue: MAJOR,MINOR RWBS "
                 "BYTES () SECTOR + SECTORS",
     .units = {SECOND_NS, SECTOR_BYTES},
     .of_kernel = true,
     .parse = parse_ftrace},
    {.name = "biosnoop",
     .expected = "SECONDS COMMAND PID DISK R|W SECTOR BYTES LATENCY_MS",
     .units = {SECOND_NS, SECTOR_BYTES},
     .of_kernel = true,
     .parse = parse_biosnoop},
    {.name = "iolog",
     .expected =
         "[MICROSECONDS] FILE read|write|sync|datasync|trim|wait OFFSET "
         "BYTES, after the line 'fio version 2 iolog' or 3",
     .units = {MICROSECOND_NS, 1},
     .parse = parse_iolog},
    {.name = "msr",
     .expected = "TIMESTAMP,HOST,DISK,Read|Write,OFFSET,BYTES",
     .units = {100, 1},
     .clock_least_ns = EPOCHS_APART_NS + UNIX_LEAST_NS,
     .clock_most_ns = EPOCHS_APART_NS + UNIX_MOST_NS,
     .parse = parse_columns,
     .separator = ',',
     .columns = "tddkol*"},
    {.name = "systor17",
     .expected = "SECONDS,RESPONSE,R|W,LUN,OFFSET,BYTES",
     .units = {SECOND_NS, 1},
     .clock_least_ns = UNIX_LEAST_NS,
     .clock_most_ns = UNIX_MOST_NS,
     .parse = parse_columns,
     .separator = ',',
     .columns = "t-kdol"},
    {.name = "alibaba",
     .expected = "DEVICE,R|W,OFFSET,BYTES,MICROSECONDS",
     .units = {MICROSECOND_NS, 1},
     .clock_least_ns = UNIX_LEAST_NS,
     .clock_most_ns = UNIX_MOST_NS,
     .parse = parse_columns,
     .separator = ',',
     .columns = "dkolt"},
    {.name = "tencent",
     .expected = "SECONDS,SECTOR,SECTORS,0|1,VOLUME",
     .units = {SECOND_NS, SECTOR_BYTES},
     .clock_least_ns = UNIX_LEAST_NS,
     .clock_most_ns = UNIX_MOST_NS,
     .parse = parse_columns,
     .separator = ',',
     .columns = "tolbd"},
    {.name = "spc",
     .expected = "ASU,LBA,BYTES,R|W,SECONDS",
     .units = {SECOND_NS, SECTOR_BYTES},
     .parse = parse_columns,
     .separator = ',',
     .columns = "doBkt*"},
    {.name = "fiu",
     .expected = "NANOSECONDS PID PROCESS LBA SECTORS R|W MAJOR MINOR MD5",
     .units = {1, SECTOR_BYTES},
     .clock_least_ns = UPTIME_LEAST_NS,
     .clock_most_ns = UPTIME_MOST_NS,
     .parse = parse_columns,
     .separator = ' ',
     .columns = "t--olkdd*"},
    /* Five columns of numbers. Those who name the simulator that wrote them
     * have named the units; those who do not are asked. */
    {.name = "disksim",
     .expected = "ARRIVAL DEVICE BLOCK BLOCKS FLAGS",
     .units = {MILLISECOND_NS, SECTOR_BYTES},
     .parse = parse_columns,
     .separator = ' ',
     .columns = "tdolf",
     .named_only = true},
    {.name = "mqsim",
     .expected = "ARRIVAL DEVICE SECTOR SECTORS TYPE",
     .units = {1, SECTOR_BYTES},
     .parse = parse_columns,
     .separator = ' ',
     .columns = "tdolf",
     .named_only = true},
    {.name = "heimdall",
     .expected = "ARRIVAL DEVICE BLOCK BLOCKS FLAGS",
     .parse = parse_columns,
     .separator = ' ',
     .columns = "tdolf",
     .named_only = true},
    {.name = NULL},
};

bool set_device(struct trace_line *line, const char *name)
{
    size_t length = strlen(name);

    if (length >= sizeof(line->device))
        return false;
    memcpy(line->device, name, length + 1);
    return true;
}

bool trace_is_header(const char *line)
{
    size_t letters = 0, digits = 0;

    for (; *line; line++) {
        letters += isalpha((unsigned char)*line) != 0;
        digits += isdigit((unsigned char)*line) != 0;
    }
    return letters > 0 && digits == 0;
}
