/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_DEVICE_PLUGIN_LOAD_H
#define SSDPROBE_DEVICE_PLUGIN_LOAD_H

#include "lib/base/fault.h"
#include "lib/device/plugin/ssdprobe_plugin.h"

/* A drive of a shared object, open; none of it is NULL. */
struct loaded {
    void *object;                  /* of dlopen() */
    struct ssdprobe_plugin plugin; /* what a version 1 lacks is NULL */
    void *drive;                   /* the plugin's; may be NULL */
    struct ssdprobe_plugin_geometry geometry; /* checked */
};

/*
 * Loads "FILE.so[,key=value...][,@SETTINGS]" and opens its drive. Files are
 * those that are named, from the working directory: no library path is
 * searched. `spec` must outlive `loaded`. 0, or -errno with `why` (FAULT_USAGE
 * for settings, FAULT_REFUSED for a program that runs with the rights of
 * another user, else FAULT_OPEN); then there is nothing to unload.
 */
int plugin_load(const char *spec, struct loaded *loaded, struct fault *why);

/* Closes the drive, then the object. */
void plugin_unload(struct loaded *loaded);

#endif
