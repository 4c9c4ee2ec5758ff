/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_BASE_DATA_FOLDER_H
#define SSDPROBE_BASE_DATA_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

/* Files that come with the programs. */
enum data_kind { DATA_DRIVES, DATA_PLOTS };

/*
 * The folders where such files may be, best first: beside the running program
 * (PREFIX/bin and PREFIX/share/ssdprobe, wherever PREFIX is today), in the tree
 * it was built from, where it was to be installed. Writes folder `index` to
 * `path`; false past the last one. A folder need not exist.
 */
bool data_folder(enum data_kind kind, size_t index, char *path, size_t size);

/*
 * The first of these folders that has a readable file `name`: its whole path.
 * 0, -ENOENT, or -ENAMETOOLONG.
 */
int data_file(enum data_kind kind, const char *name, char *path, size_t size);

#endif
