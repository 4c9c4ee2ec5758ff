/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * model_cost DRIVE read|write|fill BEFORE COUNT: a drive is sent BEFORE
 * requests of 4 KiB at random places (fill: of 1 MiB in order), then COUNT
 * more, 32 at a time; prints the model's memory in bytes for each of its pages.
 * Run twice under callgrind, with and without the COUNT: the difference is what
 * they cost.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/random.h"
#include "lib/flash/drive/drive.h"
#include "lib/flash/flash.h"

enum { DEPTH = 32, SMALL_BYTES = 4096, LARGE_BYTES = 1 << 20 };

static int send(struct flash *flash, const char *what, uint64_t count)
{
    bool fill = strcmp(what, "fill") == 0;
    uint64_t length = fill ? LARGE_BYTES : SMALL_BYTES;
    uint64_t places = flash_capacity_bytes(flash) / length, now_ns = 0;
    struct flash_done done[DEPTH];
    struct random random;
    size_t outstanding = 0, ready;

    random_seed(&random, 1);
    for (uint64_t sent = 0; sent < count || outstanding > 0;) {
        for (; sent < count && outstanding < DEPTH; sent++, outstanding++) {
            uint64_t place = fill ? sent : random_below(&random, places);
            struct flash_request request = {
                .operation = *what == 'r' ? FLASH_READ : FLASH_WRITE,
                .offset_bytes = place % places * length,
                .length_bytes = length};
            if (flash_submit(flash, now_ns, &request))
                return 1;
        }
        now_ns = flash_next_event_ns(flash);
        flash_advance(flash, now_ns, done, DEPTH, &ready);
        outstanding -= ready;
    }
    return 0;
}

int main(int count, char **words)
{
    static struct drive drive;
    struct flash_statistics did;
    struct flash *flash;
    struct fault why = {.kind = FAULT_NONE};

    if (count != 5)
        return 2;
    if (drive_load(words[1], &drive, &why) ||
        flash_create(&drive, &flash, &why)) {
        fprintf(stderr, "%s\n", why.text);
        return 1;
    }
    int failed =
        send(flash, words[2],
             strtoull(words[3], NULL, 10) + strtoull(words[4], NULL, 10));
    flash_statistics(flash, &did);
    uint64_t pages = drive.capacity_bytes / drive.page_bytes *
                     (1000 + drive.spare_permille) / 1000;
    printf("%.2f\n", (double)did.memory_bytes / (double)pages);
    flash_destroy(flash);
    return failed;
}
