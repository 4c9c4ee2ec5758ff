/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/flash/nand/layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/flash/drive/geometry.h"

/* In what neighbours can differ; `STAGE` is the page of a program, and
 * `SECTION` the part of a page. */
enum digit { CHANNEL, WAY, DIE, PLANE, STAGE, SECTION, DIGITS };

#define NONE UINT32_MAX

static const char letters[] = "cwdp";

/* How many values each digit has. Banks are numbered over the channels first,
 * then over the ways, then over the dies of a way. */
static void radices_of(const struct drive *drive, uint32_t program_pages,
                       uint32_t radices[DIGITS])
{
    uint32_t banks = (uint32_t)drive->stripe_banks_count;
    uint32_t channels = (uint32_t)drive->channels_count;
    uint32_t dies = (uint32_t)drive->dies_per_way_count;

    radices[CHANNEL] = channels < banks ? channels : banks;
    radices[DIE] = dies;
    radices[WAY] = banks / radices[CHANNEL] / dies;
    radices[PLANE] = (uint32_t)drive->planes_count;
    radices[STAGE] = program_pages;
    radices[SECTION] = (uint32_t)drive_sections_count(drive);
}

/* The digits, fastest first: a page is filled before the next one, and the
 * pages of a program follow their plane. */
static void order_of(const struct drive *drive, enum digit order[DIGITS])
{
    uint32_t used = 0;

    order[used++] = SECTION;
    for (const char *at = drive->allocation_order; *at; at++) {
        order[used++] = (enum digit)(strchr(letters, *at) - letters);
        if (order[used - 1] == PLANE)
            order[used++] = STAGE;
    }
}

static struct layout_place place_of(const enum digit order[DIGITS],
                                    const uint32_t radices[DIGITS],
                                    uint32_t page)
{
    uint32_t values[DIGITS];

    for (int i = 0; i < DIGITS; i++) {
        values[order[i]] = page % radices[order[i]];
        page /= radices[order[i]];
    }
    uint32_t way = values[DIE] * radices[WAY] + values[WAY];
    return (struct layout_place){
        .bank = (uint16_t)(way * radices[CHANNEL] + values[CHANNEL]),
        .plane = (uint8_t)(values[PLANE] * radices[SECTION] + values[SECTION]),
        .stage = (uint8_t)values[STAGE]};
}

/* Which pages of the row share a program; before which no program lacks some,
 * and a unit of so many pages begins. `newest` is scratch: of each bank. */
static void find_programs(struct layout *layout, uint32_t newest[],
                          uint32_t unit_pages)
{
    struct layout_place *places = layout->places;
    uint32_t waiting = 0, pages = layout->row.by;

    for (uint32_t page = 0; page < pages; page++) {
        struct layout_place *place = &places[page];
        place->previous = newest[place->bank];
        newest[place->bank] = page;
        if (place->previous != NONE)
            place->before_count = places[place->previous].before_count + 1;
        waiting += place->before_count == 0;
        waiting -= place->before_count + 1 == layout->bank_pages;
        const bool whole = waiting == 0 && (page + 1) % unit_pages == 0;
        layout->whole_from[page + 1] =
            whole || page + 1 == pages ? page + 1 : NONE;
    }
    for (uint32_t page = pages; page-- > 0;) {
        places[page].last = newest[places[page].bank];
        if (layout->whole_from[page] == NONE)
            layout->whole_from[page] = layout->whole_from[page + 1];
    }
}

static int draw_orders(struct layout *layout, uint64_t seed)
{
    uint32_t banks = layout->banks_count;
    struct random random;

    layout->orders = calloc((size_t)LAYOUT_ORDERS * banks, sizeof(uint16_t));
    if (!layout->orders)
        return -ENOMEM;
    random_seed(&random, seed);
    for (uint32_t order = 0; order < LAYOUT_ORDERS; order++) {
        uint16_t *at = &layout->orders[(size_t)order * banks];
        for (uint32_t i = 0; i < banks; i++) {
            uint32_t other = (uint32_t)random_below(&random, i + 1);
            at[i] = at[other];
            at[other] = (uint16_t)i;
        }
    }
    return 0;
}

int layout_create(const struct drive *drive, uint32_t program_pages,
                  struct layout **layout)
{
    uint32_t banks = (uint32_t)drive->stripe_banks_count;
    uint32_t bank_pages =
        (uint32_t)(drive->planes_count * drive_sections_count(drive)) *
        program_pages;
    const uint64_t section_bytes = drive_section_bytes(drive);
    uint32_t radices[DIGITS], *newest = malloc(banks * sizeof(*newest));
    struct layout *made = calloc(1, sizeof(*made));
    enum digit order[DIGITS] = {CHANNEL};

    if (made) {
        made->row = divisor_of(banks * bank_pages);
        made->program_pages = program_pages;
        made->bank_pages = bank_pages;
        made->banks_count = banks;
        made->places = calloc(made->row.by, sizeof(*made->places));
        made->whole_from = calloc(made->row.by + 1, sizeof(uint32_t));
    }
    if (!made || !newest || !made->places || !made->whole_from ||
        (drive->striping == STRIPING_PERMUTED &&
         draw_orders(made, drive->seed))) {
        free(newest);
        layout_destroy(made);
        return -ENOMEM;
    }
    radices_of(drive, program_pages, radices);
    order_of(drive, order);
    memset(newest, 0xff, banks * sizeof(*newest));
    for (uint32_t page = 0; page < made->row.by; page++)
        made->places[page] = place_of(order, radices, page);
    find_programs(made, newest,
                  drive->clustered_page_bytes > section_bytes
                      ? (uint32_t)(drive->clustered_page_bytes / section_bytes)
                      : 1);
    free(newest);
    *layout = made;
    return 0;
}

void layout_destroy(struct layout *layout)
{
    if (!layout)
        return;
    free(layout->places);
    free(layout->whole_from);
    free(layout->orders);
    free(layout);
}
