/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_PLUGIN_H
#define SSDPROBE_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

/*
 * A drive of your own to probe: `ssdprobe plugin:FILE.so[,key=value...]` loads
 * a shared object, of C or C++, that defines the symbol `ssdprobe_plugin`, a
 * struct of a few functions. `,@SETTINGS` names a file with a line key=value
 * for each, as many and as long as it takes. The drive lives in virtual time:
 * each call passes the time, the drive computes when a request is done, and it
 * never waits.
 *
 * This header needs nothing else of ssdprobe. Examples are disk_plugin.c and
 * event_plugin.cpp:
 *
 *     cc -shared -fPIC $(pkg-config --cflags libssdprobe) disk_plugin.c \
 *         -o disk.so -lm
 *     ssdprobe plugin:./disk.so,rpm=5400
 *
 * The plugin has a process of its own: what it prints to stdout is dropped, and
 * if it ends its process or crashes, only the probe that ran ends, and the next
 * one has a new drive. All calls come from one thread, and a function must
 * return. It owns what it allocates; nothing that is passed to it may be used
 * after it has returned, unless it says so here.
 */

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. A plugin of a later one is refused. Version 1
 * had neither `submit` nor `advance`; it works on. */
#define SSDPROBE_PLUGIN_VERSION 2

enum ssdprobe_plugin_kind {
    SSDPROBE_PLUGIN_READ = 0,
    SSDPROBE_PLUGIN_WRITE = 1,
    SSDPROBE_PLUGIN_FLUSH = 2,  /* of what a volatile cache holds; also sent
                                   behind a write with FUA */
    SSDPROBE_PLUGIN_DISCARD = 3 /* the range holds no data any more (TRIM) */
};

/* A key=value that the user gave behind the file, in the order given. */
struct ssdprobe_plugin_setting {
    const char *key, *value; /* never NULL; the host's */
};

enum ssdprobe_plugin_contents {
    SSDPROBE_PLUGIN_FORGETS = 0,   /* only times matter */
    SSDPROBE_PLUGIN_KEEPS = 1,     /* the drive keeps it */
    SSDPROBE_PLUGIN_HOST_KEEPS = 2 /* the host does, at its own addresses, for a
                                      drive that keeps only times; discarded
                                      data is zeros, as is all at first */
};

/* What the drive says of itself. The host has set all to 0. */
struct ssdprobe_plugin_geometry {
    char model[64];          /* a name, for reports only; may stay empty */
    uint64_t capacity_bytes; /* a multiple of block_bytes; not 0; < 2^63 */
    uint32_t block_bytes;    /* the logical block: 512, 1024, 2048 or 4096 */
    /* The host sends larger requests in parts of this size, all at one time. At
     * least block_bytes, rounded down to a multiple of it; 0: no limit. */
    uint32_t request_limit_bytes;
    /* Is what is read what was written last (`data` of a request), so that
     * questions about contents can be asked? */
    uint32_t keeps_contents; /* enum ssdprobe_plugin_contents */
    /* What the drive does not have or do: 1 for each. */
    uint32_t has_no_cache; /* all that is written is safe: no flush comes */
    uint32_t no_discard;   /* no discard comes */
    /* With `submit`: most requests that it takes at a time, parts and flushes
     * among them; the host keeps the others back. 0: any number. */
    uint32_t queue_depth_count;
    uint32_t has_fua; /* writes come with `fua`; 0: a flush behind them */
};

struct ssdprobe_plugin_request {
    uint64_t now_ns; /* of the drive's clock, which begins at 0; never less than
                        in an earlier request */
    enum ssdprobe_plugin_kind kind;
    uint32_t length_bytes; /* a multiple of block_bytes; 0 for a flush */
    uint64_t offset_bytes; /* a multiple of block_bytes; 0 for a flush. The
                              request ends within the capacity */
    /* `length_bytes` of data, the host's: what is written, or where to put what
     * is read, which is zeros until then. NULL for a flush or a discard. Most
     * drives ignore it: only times matter. */
    void *data;
    uint32_t fua; /* 1, of a write where `has_fua`: done when it is safe */
};

/* A request that was submitted is done. */
struct ssdprobe_plugin_done {
    uint64_t tag; /* as it was submitted with */
    uint64_t complete_ns;
    int error; /* 0 or -errno, as of `io` */
};

/*
 * A drive that knows at once when a request is done has `io`. One that learns
 * it as its events come, as most simulators do, has `submit` and `advance`.
 */
struct ssdprobe_plugin {
    uint32_t version; /* SSDPROBE_PLUGIN_VERSION. Always the first field. */

    /*
     * Makes a drive. *drive is what the other functions are then given; close
     * ends it. Must fill in *geometry. 0, or -errno with a sentence in `why`
     * (at most why_bytes with its end, which holds an empty text), and then
     * nothing is left to be closed: -EINVAL where a setting is wrong or
     * unknown, another one where the drive cannot be made.
     */
    int (*open)(const struct ssdprobe_plugin_setting settings[],
                size_t settings_count, void **drive,
                struct ssdprobe_plugin_geometry *geometry, char *why,
                size_t why_bytes);

    /*
     * Takes a request and says at once when it is done: *complete_ns, not
     * before request->now_ns. Others may still be on their way then, as many as
     * the queue is deep; they may be done in any order. The host hands them
     * back by that time, and those of one time as they were sent. Later than
     * five minutes counts as never.
     * 0, or -errno where the drive fails the request (-EIO, -ENODATA, ...) at
     * *complete_ns. NULL where there is `submit`.
     */
    int (*io)(void *drive, const struct ssdprobe_plugin_request *request,
              uint64_t *complete_ns);

    /* No new request comes from now_ns until until_ns (> now_ns): a drive that
     * works in the background can do so. NULL: it has nothing to do. */
    void (*idle)(void *drive, uint64_t now_ns, uint64_t until_ns);

    /* Frees the drive. Requests may still be on their way. */
    void (*close)(void *drive);

    /*
     * Takes a request, whose `data` stays valid until it is done, and returns:
     * 0, or -errno where it is not taken, and then never comes back. NULL where
     * there is `io`.
     */
    int (*submit)(void *drive, const struct ssdprobe_plugin_request *request,
                  uint64_t tag);

    /*
     * Lets the drive's time pass, to until_ns at most, and stops at the first
     * time at which requests are done: fills in done[] with those of that time,
     * at most done_most (>= 1), and returns how many. The others of that time
     * come with the next call. 0: nothing is done by until_ns. No request will
     * come with an earlier time than the drive has stopped at.
     */
    size_t (*advance)(void *drive, uint64_t until_ns,
                      struct ssdprobe_plugin_done done[], size_t done_most);
};

/* What a plugin defines, and the host looks for by this name. */
extern const struct ssdprobe_plugin ssdprobe_plugin;

#ifdef __cplusplus
}
#endif

#endif
