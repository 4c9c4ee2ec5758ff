/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is on it, and in which state it is: interlocks six to nine. */
#include <errno.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "lib/device/interlocks/health.h"
#include "lib/device/interlocks/interlock_rows.h"
#include "lib/device/interlocks/signature.h"
#include "lib/device/host/sysfs.h"

static int not_seen(struct interlock_outcome *outcome)
{
    return interlock_say(outcome, INTERLOCK_NOTE,
                         "Not checked, because the disk cannot be opened.");
}

int interlock_signatures(struct subject *subject,
                         struct interlock_outcome *outcome, struct fault *why)
{
    const char *path = subject->disk->path;
    char found[sizeof(subject->hold.contents)];
    const int look = interlock_look(subject);
    if (look < 0)
        return not_seen(outcome);
    const int result = signature_find(look, found, sizeof(found));
    if (result == 0)
        found[0] = '\0';
    if (result < 0) {
        /* What was seen until then counts, and so does not having seen. */
        const size_t used = strlen(found);
        snprintf(found + used, sizeof(found) - used,
                 "%ssomething that libblkid cannot read (%s)", used ? ", " : "",
                 strerror(-result));
    }
    if (subject->again && strcmp(found, subject->hold.contents) != 0)
        return fault_set(
            why, FAULT_REFUSED, -ESTALE,
            "%s has changed since the question was asked: it now holds %s, so "
            "nothing was written; check it, then start again.",
            path, found[0] ? found : "no signature");
    memcpy(subject->hold.contents, found, sizeof(found));
    if (result == 0)
        return interlock_say(outcome, INTERLOCK_PASS,
                             "No file system, no partition table, no other "
                             "signature.");
    if (!subject->writes)
        return interlock_say(
            outcome, INTERLOCK_NOTE,
            "There is %s, which stays, because nothing is written.", found);
    if (subject->options->force_signature)
        return interlock_say(
            outcome, INTERLOCK_NOTE,
            "There is %s, which --force-signature allows the run to overwrite.",
            found);
    return fault_set(why, FAULT_REFUSED, -EEXIST,
                     "There is %s on %s, which a run would destroy: copy "
                     "what you need, then add --force-signature.",
                     found, path);
}

int interlock_data(struct subject *subject, struct interlock_outcome *outcome,
                   struct fault *why)
{
    struct signature_sample sample;
    uint64_t capacity_bytes = 0;
    const int look = interlock_look(subject);
    (void)why;
    if (look < 0 || ioctl(look, BLKGETSIZE64, &capacity_bytes) != 0 ||
        signature_sample(look, capacity_bytes, subject->options->sample_seed,
                         &sample) != 0)
        return not_seen(outcome);
    if (sample.failed_count > 0)
        return interlock_say(outcome, INTERLOCK_NOTE,
                             "%u of %u random blocks cannot be read.",
                             sample.looked_count, sample.failed_count);
    if (sample.data_count == 0)
        return interlock_say(outcome, INTERLOCK_PASS,
                             "None of %u random blocks holds data.",
                             sample.looked_count);
    return interlock_say(
        outcome, INTERLOCK_NOTE, "%.1f %% of %u random blocks hold data%s.",
        100.0 * sample.data_count / sample.looked_count, sample.looked_count,
        subject->writes ? ", which a run overwrites" : "");
}

int interlock_writable(struct subject *subject,
                       struct interlock_outcome *outcome, struct fault *why)
{
    const struct disk *disk = subject->disk;
    const int look = interlock_look(subject);
    char zoned[32];
    int read_only = sysfs_number(disk->folder, "ro", 0) != 0;

    if (look >= 0)
        (void)ioctl(look, BLKROGET, &read_only); /* untouched on error */
    if (sysfs_text(disk->folder, "queue/zoned", zoned, sizeof(zoned)) != 0)
        zoned[0] = '\0';
    const bool is_zoned = zoned[0] && strcmp(zoned, "none") != 0;
    if (subject->writes && read_only)
        return fault_set(why, FAULT_REFUSED, -EROFS,
                         "%s is read-only and this run would write: remove its "
                         "write protection (`blockdev --setrw`, or the switch "
                         "on the card), or add --read-only.",
                         disk->path);
    if (subject->writes && is_zoned)
        return fault_set(why, FAULT_REFUSED, -EOPNOTSUPP,
                         "%s is a zoned disk (%s), which does not accept "
                         "writes where a probe puts them: add --read-only.",
                         disk->path, zoned);
    if (read_only || is_zoned)
        return interlock_say(outcome, INTERLOCK_NOTE,
                             "It is %s, but nothing would be written.",
                             read_only ? "read-only" : "zoned");
    return interlock_say(outcome, INTERLOCK_PASS, "It accepts writes.");
}

int interlock_judge_health(const struct subject *subject,
                           const struct device_health *health,
                           struct interlock_outcome *outcome, struct fault *why)
{
    if (!health->failing)
        return interlock_say(outcome,
                             health->answered ? INTERLOCK_PASS : INTERLOCK_NOTE,
                             "Health: %s.", health->text);
    if (subject->options->force_unhealthy)
        return interlock_say(outcome, INTERLOCK_NOTE,
                             "Health: %s; accepted by --force-unhealthy.",
                             health->text);
    return fault_set(why, FAULT_REFUSED, -EIO,
                     "%s is failing: %s. A run could destroy it, so save its "
                     "data, then add --force-unhealthy.",
                     subject->disk->path, health->text);
}

int interlock_health(struct subject *subject, struct interlock_outcome *outcome,
                     struct fault *why)
{
    struct device_health health;
    if (subject->hold.fd < 0)
        return interlock_say(outcome, INTERLOCK_NOTE,
                             "Not asked, because the disk cannot be held.");
    health_ask(subject->disk, subject->hold.fd, &health);
    return interlock_judge_health(subject, &health, outcome, why);
}
