/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lib/base/units.h"

enum {
    COLUMNS_NORMAL = 80,
    COLUMNS_LEAST = 40,
    WHY_INDENT = 4,
    LABEL_COLUMNS = 12
};

struct page {
    FILE *out;
    struct report_style style;
};

static char *size_text(const struct page *page, uint64_t bytes, char *text,
                       size_t size)
{
    struct value value = value_integer(bytes > INT64_MAX ? INT64_MAX : bytes);

    return report_amount(&value, "bytes", page->style.plain_bytes, text, size);
}

/* "  capacity    64 GiB"; nothing when there is nothing to say. */
static void print_fact(const struct page *page, const char *label,
                       const char *text)
{
    char copy[256];

    if (text[0])
        fprintf(page->out, "  %-*s%s\n", LABEL_COLUMNS, label,
                report_utf8(text, copy, sizeof(copy)));
}

static void print_geometry(const struct page *page,
                           const struct device_info *device)
{
    char size[32], block[32], limit[32], line[160];

    size_text(page, device->capacity_bytes, size, sizeof(size));
    size_text(page, device->logical_block_bytes, block, sizeof(block));
    size_text(page, device->request_limit_bytes, limit, sizeof(limit));
    snprintf(line, sizeof(line), "%s in blocks of %s%s%s", size, block,
             device->request_limit_bytes ? ", requests up to " : "",
             device->request_limit_bytes ? limit : "");
    print_fact(page, "capacity", line);
}

/* Was what the drive saw what the probes asked for? */
static void print_requests(const struct page *page,
                           const struct report_cost *cost)
{
    char line[200];

    if (!cost || cost->requests_count == 0)
        return;
    if (cost->split_count)
        snprintf(line, sizeof(line),
                 "%" PRIu64 ", of which %" PRIu64 " reached the drive in parts",
                 cost->requests_count, cost->split_count);
    else
        snprintf(line, sizeof(line), "%" PRIu64 ", none of them split",
                 cost->requests_count);
    print_fact(page, "requests", line);
}

static void print_device(const struct page *page, const struct report *report)
{
    const struct device_info *device = report->device;
    char line[256];

    if (!device)
        return;
    snprintf(line, sizeof(line), "%s%s%s", device->model,
             device->model[0] && device->path[0] ? ", " : "", device->path);
    print_fact(page, "device", line);
    if (!report->hide_serial)
        print_fact(page, "serial", device->serial);
    print_fact(page, "firmware", device->firmware);
    snprintf(line, sizeof(line), "%s%s%s", device->bus,
             device->bus[0] && device->driver[0] ? ", driver " : "",
             device->driver);
    print_fact(page, "bus", line);
    print_geometry(page, device);
    print_fact(page, "engine", device->engine);
    print_fact(page, "flush", device->flush);
    print_requests(page, report->cost);
}

static const char *colour_of(enum verdict verdict)
{
    static const char *const colours[] = {
        [VERDICT_FOUND] = "\033[32m",
        [VERDICT_ABSENT] = "\033[36m",
        [VERDICT_INCONCLUSIVE] = "\033[33m",
        [VERDICT_SKIPPED] = "\033[2m",
    };
    return colours[verdict];
}

static void interval_text(const struct page *page,
                          const struct finding *finding, char *text,
                          size_t size)
{
    bool plain = page->style.plain_bytes;
    char low[64], high[64];

    report_amount(&finding->low, finding->unit, plain, low, sizeof(low));
    report_amount(&finding->high, finding->unit, plain, high, sizeof(high));
    if (low[0] && high[0])
        snprintf(text, size, "%s .. %s", low, high);
    else if (low[0])
        snprintf(text, size, "at least %s", low);
    else if (high[0])
        snprintf(text, size, "at most %s", high);
    else
        snprintf(text, size, "-");
}

/* One decimal never rounds a doubt away: 99.97 % is "99.9 %". */
static void confidence_text(const struct finding *finding, char *text,
                            size_t size)
{
    double percent = (double)(int)(finding->confidence * 1000.0 + 1e-9) / 10.0;

    if (finding->confidence > 0)
        snprintf(text, size, "%.1f %%", percent);
    else
        snprintf(text, size, "-");
}

static void print_extras(const struct page *page, const struct finding *finding)
{
    char line[320] = "";

    for (size_t i = 0; i < finding->extras_count; i++) {
        char amount[96];
        size_t used = strlen(line);
        report_amount(&finding->extras[i].value, finding->unit,
                      page->style.plain_bytes, amount, sizeof(amount));
        snprintf(line + used, sizeof(line) - used, "%s%s %s", used ? "; " : "",
                 finding->extras[i].name, amount);
    }
    report_wrap(page->out, line, WHY_INDENT, page->style.columns_count);
}

static void print_finding(const struct page *page,
                          const struct finding *finding)
{
    char value[96], interval[160], confidence[16];
    bool colour = page->style.colour;

    report_amount(&finding->value, finding->unit, page->style.plain_bytes,
                  value, sizeof(value));
    interval_text(page, finding, interval, sizeof(interval));
    confidence_text(finding, confidence, sizeof(confidence));
    fprintf(page->out, "%-20s %13s  %-22s %7s  %s%s%s\n", finding->parameter,
            value[0] ? value : "-", interval, confidence,
            colour ? colour_of(finding->verdict) : "",
            verdict_name(finding->verdict), colour ? "\033[0m" : "");
    print_extras(page, finding);
    report_wrap(page->out, finding->why, WHY_INDENT, page->style.columns_count);
}

static void print_cost(const struct page *page, const struct report_cost *cost)
{
    char written[32], read[32], time[32];

    if (!cost)
        return;
    size_text(page, cost->bytes_written, written, sizeof(written));
    size_text(page, cost->bytes_read, read, sizeof(read));
    format_ns((uint64_t)(cost->device_seconds * 1e9), time, sizeof(time));
    fprintf(page->out, "\nCost: %s written, %s read, %s of device time.\n",
            written, read, time);
}

int report_text(FILE *out, const struct report *report,
                const struct report_style *style)
{
    struct page page = {.out = out, .style = *style};

    if (page.style.columns_count == 0)
        page.style.columns_count = COLUMNS_NORMAL;
    if (page.style.columns_count < COLUMNS_LEAST)
        page.style.columns_count = COLUMNS_LEAST;
    errno = 0;
    print_device(&page, report);
    if (report->findings && report->findings->count) {
        fprintf(out, "%s%-20s %13s  %-22s %7s  %s\n",
                report->device ? "\n" : "", "PARAMETER", "VALUE", "INTERVAL",
                "SURE", "VERDICT");
        for (size_t i = 0; i < report->findings->count; i++)
            print_finding(&page, &report->findings->items[i]);
    }
    print_cost(&page, report->cost);
    if (fflush(out) != 0 || ferror(out))
        return errno ? -errno : -EIO;
    return 0;
}
