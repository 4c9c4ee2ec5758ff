/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_BASE_DATA_FOLDER_H
#define SSDPROBE_BASE_DATA_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

/* Files that come with the programs. */
enum data_kind { DATA_DRIVES, DATA_PLOTS, DATA_KNOWN };

/*
 * The folders where such files may be, best first. The first one is found by
 * the position of the running program or plugin: the nearest share/ssdprobe in
 * a folder that holds it. PREFIX/bin/ssdprobe finds PREFIX/share/ssdprobe, and
 * build/release/ssdprobe finds build/release/share/ssdprobe. A folder that
 * everybody may write to is passed over. The last one is where the programs
 * were to be installed, for a program on libssdprobe that lies elsewhere. No
 * folder is where the program was built, unless it still lies there.
 *
 * Writes folder `index` to `path`, or an empty text where there is none; false
 * past the last one. A folder need not exist.
 */
bool data_folder(enum data_kind kind, size_t index, char *path, size_t size);

/*
 * The first of these folders that has a readable file `name`: its whole path.
 * 0, -ENOENT, or -ENAMETOOLONG.
 */
int data_file(enum data_kind kind, const char *name, char *path, size_t size);

#endif
