/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef SSDPROBE_BASE_VISIBLE_H
#define SSDPROBE_BASE_VISIBLE_H

#include <stddef.h>

/*
 * Text of others, such as a model's name, a drive file or a run directory that
 * somebody has sent, as it may be shown on a terminal or in a page. Copies what
 * is valid UTF-8. '?' stands in place of every other byte, of every control
 * character (C0, DEL, C1: they begin escape sequences) and of every character
 * that turns the direction of writing. A tab or a newline becomes a space.
 * What does not fit into `size` bytes is cut between characters. Returns
 * `copy`, which is never longer than `text`; they may be the same memory.
 */
char *text_visible(const char *text, char *copy, size_t size);

/* Appends to the text in an array of `size` bytes, as printf has it. Returns
 * `text`. */
char *text_add(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
