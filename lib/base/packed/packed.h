/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_BASE_PACKED_H
#define SSDPROBE_BASE_PACKED_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Files that may be compressed with zstd or gzip. Whoever reads one sees its
 * contents, and need not know. Only zstd is written. A build without libzstd or
 * zlib does without what it is for.
 */

/* Was this program built with libzstd? */
bool packed_is_built(void);

/*
 * Opens a file to read its contents, decompressed if its first bytes say that
 * it is compressed. Such a stream cannot seek, and takes at most 128 MiB of
 * memory, whatever the file says. Reading fails with ENODATA where a compressed
 * file is cut off, after all that could be decompressed; with EBADMSG where it
 * is damaged; with EFBIG where it would take more memory. The caller closes
 * `*file`. 0, or -errno: -ENOTSUP if this program was built without the library
 * that it takes.
 */
int packed_open(const char *path, FILE **file);

/* Does a stream of packed_open() decompress? */
bool packed_is_compressed(FILE *file);

/* Copies the next `length_bytes` of what a file holds. 0, or -errno: -ENODATA
 * where there is less. */
int packed_copy(FILE *from, FILE *to, uint64_t length_bytes);

/* What is wrong, and what to do, as part of a sentence: the errors above, and
 * for others what strerror() says. `error` is positive. */
const char *packed_words(int error);

/* Compresses all of the descriptor `from`, which must be able to seek, to the
 * stream `to`. 0, or -errno: -ENOTSUP in a build without libzstd. */
int packed_write(int from, FILE *to);

#endif
