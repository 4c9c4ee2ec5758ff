/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/study/subject.h"

int subject_open(struct subject *subject, const char *spec, struct fault *why)
{
    subject->flash = NULL;
    subject->now_ns = 0;
    int error = drive_load(spec, &subject->drive, why);
    return error ? error : flash_create(&subject->drive, &subject->flash, why);
}

void subject_close(struct subject *subject)
{
    flash_destroy(subject->flash);
    subject->flash = NULL;
}

int subject_do(struct subject *subject, const struct flash_request *request,
               struct fault *why)
{
    struct flash_done done = {.error = 0};
    size_t count = 0;
    int error = flash_submit(subject->flash, subject->now_ns, request);

    /* A drive that goes page by page has events before the last. */
    while (!error && count == 0) {
        subject->now_ns = flash_next_event_ns(subject->flash);
        flash_advance(subject->flash, subject->now_ns, &done, 1, &count);
    }
    error = error ? error : done.error;
    return error ? fault_set(why, FAULT_IO, error,
                             "%s: the model refused a request",
                             subject->drive.name)
                 : 0;
}
