/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/infer/flashbench/command.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "lib/infer/flashbench/rows.h"

enum {
    UNITS_DEFAULT = 2,     /* of --open-au-nr */
    UNITS_LIMIT = 1000000, /* no card has as many units */
    CID_DIGITS = 32,       /* as Linux shows it */
    CID_WORDS = 3,         /* "==> .../cid <==", then the number */
    LABEL_MAX = 8          /* "2", "A", "#12:" */
};

static bool begins_with(const char *text, const char *front)
{
    return strncmp(text, front, strlen(front)) == 0;
}

static uint64_t read_count(const char *text)
{
    double count = 0;

    return flashbench_number(text, &count) && count >= 1 && count < UNITS_LIMIT
               ? (uint64_t)count
               : 0;
}

static void set_count(struct flashbench_command *command, const char *text)
{
    command->options.has_count = true;
    command->options.units_count = read_count(text);
}

/* ---- which card ---------------------------------------------------------- */

/* Another card than before where the text is another one. */
static void name_card(struct flashbench_command *command, size_t offset,
                      const char *text)
{
    char *now = (char *)&command->card + offset;

    if (strcmp(now, text) == 0)
        return;
    if (*now)
        memset(&command->card, 0, sizeof(command->card));
    snprintf(now, FLASHBENCH_CARD_MAX, "%s", text);
    command->card_changed = true;
}

/* "/dev/mmcblk0p1" is of the card "mmcblk0", "/dev/sdb1" of "sdb". */
static void read_device(const char *path, char device[FLASHBENCH_CARD_MAX])
{
    const char *name = strrchr(path, '/') + 1;

    snprintf(device, FLASHBENCH_CARD_MAX, "%.*s",
             (int)strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrs"
                               "tuvwxyz0123456789_.-"),
             name);
    size_t length = strlen(device), end = length;
    while (end > 0 && isdigit((unsigned char)device[end - 1]))
        end--;
    if (end == length || end < 2)
        return;
    if (device[end - 1] == 'p' && isdigit((unsigned char)device[end - 2]))
        device[end - 1] = '\0';
    else if (begins_with(device, "sd"))
        device[end] = '\0';
}

static void note_cid(struct flashbench_command *command, const char *text)
{
    const char *digits = strrchr(text, ':');

    if (strstr(text, "cid") || strstr(text, "CID"))
        command->cid_words = CID_WORDS;
    digits = digits ? digits + 1 : text;
    if (command->cid_words == 0)
        return;
    if (strlen(digits) == CID_DIGITS &&
        strspn(digits, "0123456789abcdefABCDEF") == CID_DIGITS) {
        name_card(command, offsetof(struct flashbench_identity, cid), digits);
        command->cid_words = 0;
    } else
        command->cid_words--;
}

/* "Card 2: ..." at the beginning of a line. */
static void note_label(struct flashbench_command *command,
                       const struct flashbench_word *word)
{
    if (command->expect_label && !word->first) {
        char label[LABEL_MAX + 1] = "";
        size_t length = strspn(word->text, "#") +
                        strcspn(word->text + strspn(word->text, "#"), ":,.)");
        bool digit = strpbrk(word->text, "0123456789") != NULL;
        if (length <= LABEL_MAX && (digit || length == 1)) {
            memcpy(label, word->text, length);
            name_card(command, offsetof(struct flashbench_identity, label),
                      label);
        }
    }
    command->expect_label = word->first && strcasecmp(word->text, "card") == 0;
}

/* ---- options ------------------------------------------------------------- */

/* "-Or", "-b4096", "-e": letters, of which some take what follows. */
static void short_options(struct flashbench_command *command,
                          const char *letters)
{
    for (; *letters; letters++) {
        if (strchr("obceF", *letters)) {
            if (letters[1] == '\0')
                command->expected = EXPECT_OTHER;
            return;
        }
        if (!isalpha((unsigned char)*letters))
            return;
        command->options.open_units |= *letters == 'O';
        command->options.first_units |= *letters == 'f';
        command->options.random |= *letters == 'r';
    }
}

/* Long options may be cut as long as they are no other's beginning; editors
 * make one dash of two. */
static void note_option(struct flashbench_command *command, const char *text)
{
    size_t dashes = strspn(text, "-");
    const char *name = text + dashes;
    size_t length = strcspn(name, "=");
    const char *value = name[length] == '=' ? name + length + 1 : NULL;

    if (length > strlen("open-au-") - 1 &&
        strncmp(name, "open-au-nr", length) == 0) {
        command->options.open_units = true;
        command->expected = value ? EXPECT_NOTHING : EXPECT_COUNT;
        command->options.has_count = true;
        command->options.units_count = value ? read_count(value) : 0;
    } else if (length == strlen("open-au") &&
               strncmp(name, "open-au", length) == 0)
        command->options.open_units = true;
    else if ((length > 1 || dashes > 1) && length <= strlen("random") &&
             strncmp(name, "random", length) == 0)
        command->options.random = true;
    else if (length > 1 && strncmp(name, "find-fat", length) == 0)
        command->options.first_units = true;
    else if (dashes == 1)
        short_options(command, name);
}

/* The program's name begins a command; one that has no option is prose. */
static bool is_program(const char *text)
{
    const char *name = strrchr(text, '/');

    name = name ? name + 1 : text;
    name += strspn(name, "$#`\"'(");
    return strcmp(name, "flashbench") == 0 ||
           strcmp(name, "flashbench.exe") == 0;
}

static void begin_command(struct flashbench_command *command)
{
    memset(&command->begun, 0, sizeof(command->begun));
    command->begun_device[0] = '\0';
    command->in_command = command->is_begun = true;
    command->in_heading = false;
    command->expected = EXPECT_NOTHING;
}

static void note_device(struct flashbench_command *command, const char *path)
{
    char device[FLASHBENCH_CARD_MAX];

    read_device(path, device);
    if (device[0] == '\0')
        return;
    if (command->is_begun)
        memcpy(command->begun_device, device, sizeof(device));
    else
        name_card(command, offsetof(struct flashbench_identity, device),
                  device);
}

static void command_word(struct flashbench_command *command,
                         const struct flashbench_word *word)
{
    const char *text = word->text;
    const bool is_option =
        text[0] == '-' && (isalpha((unsigned char)text[1]) || text[1] == '-');

    if (command->expected == EXPECT_COUNT && !is_option) {
        set_count(command, text);
        command->expected = EXPECT_NOTHING;
    } else if (command->expected == EXPECT_OTHER && !is_option)
        command->expected = EXPECT_NOTHING;
    else if (is_option) {
        if (command->is_begun) {
            command->options = command->begun;
            command->is_begun = false;
            if (command->begun_device[0])
                name_card(command, offsetof(struct flashbench_identity, device),
                          command->begun_device);
        }
        command->expected = EXPECT_NOTHING;
        note_option(command, text);
    } else if (begins_with(text, "/dev/"))
        note_device(command, text);
}

/* "AU=3, random access", "AU = 3", "open-au-nr=3". */
static void heading_word(struct flashbench_command *command,
                         const struct flashbench_word *word)
{
    const char *text = word->text + strspn(word->text, "-");
    size_t length = strcspn(text, ",.;:");

    if (word->first)
        command->in_heading = command->heading_random = false;
    if (command->expected == EXPECT_SIGN)
        command->expected =
            strcmp(text, "=") == 0 ? EXPECT_COUNT : EXPECT_NOTHING;
    else if (strcmp(text, "AU") == 0 || begins_with(text, "AU=") ||
             begins_with(text, "open-au-nr")) {
        const char *value = strchr(text, '=');
        memset(&command->options, 0, sizeof(command->options));
        command->options.open_units = command->options.has_count = true;
        command->options.random = command->heading_random;
        command->in_heading = true;
        if (value)
            set_count(command, value + 1);
        command->expected = value            ? EXPECT_NOTHING
                            : text[0] == 'A' ? EXPECT_SIGN
                                             : EXPECT_COUNT;
    } else if (command->expected == EXPECT_COUNT) {
        set_count(command, text);
        command->expected = EXPECT_NOTHING;
    } else if (length == strlen("random") &&
               strncasecmp(text, "random", length) == 0) {
        command->heading_random = true;
        command->options.random |= command->in_heading;
    }
}

void flashbench_command_word(struct flashbench_command *command,
                             const struct flashbench_word *word)
{
    note_cid(command, word->text);
    note_label(command, word);
    /* Mail wraps commands without a backslash. */
    if (word->first && word->text[0] != '-' &&
        !begins_with(word->text, "/dev/") &&
        command->expected != EXPECT_COUNT) {
        command->in_command = false;
        command->expected = EXPECT_NOTHING;
    }
    if (is_program(word->text))
        begin_command(command);
    else if (command->in_command)
        command_word(command, word);
    else
        heading_word(command, word);
}

void flashbench_command_end(struct flashbench_command *command)
{
    command->in_command = command->in_heading = false;
    command->heading_random = command->expect_label = false;
    command->expected = EXPECT_NOTHING;
}

uint64_t flashbench_command_units(const struct flashbench_command *command)
{
    if (command->options.has_count)
        return command->options.units_count;
    return command->options.open_units ? UNITS_DEFAULT : 0;
}
