/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * guest_nbd NODE FILE [ro]: serves FILE as the NBD disk NODE from one process,
 * as `qemu-nbd --connect` does, until it is killed. FILE is opened for reading
 * only where `ro` is given.
 */
#include <endian.h>
#include <fcntl.h>
#include <linux/nbd.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { REQUEST_MAX_BYTES = 1 << 20, BLOCK_BYTES = 512 };

static int node;

static void *carry(void *unused)
{
    (void)unused;
    ioctl(node, NBD_DO_IT);
    return NULL;
}

static bool pass(int from, void *data, size_t size)
{
    return recv(from, data, size, MSG_WAITALL) == (ssize_t)size;
}

/* One request and its answer. */
static bool serve(int wire, int file)
{
    static char data[REQUEST_MAX_BYTES];
    struct nbd_request request;
    struct nbd_reply reply = {.magic = htobe32(NBD_REPLY_MAGIC)};
    if (!pass(wire, &request, sizeof(request)))
        return false;
    const uint32_t type = be32toh(request.type) & 0xffff;
    const size_t length = be32toh(request.len);
    const off_t from = (off_t)be64toh(request.from);
    const bool is_read = type == NBD_CMD_READ, is_write = type == NBD_CMD_WRITE;
    if ((is_read || is_write) && length > sizeof(data))
        return false;
    if (is_write && !pass(wire, data, length))
        return false;
    if ((is_read && pread(file, data, length, from) != (ssize_t)length) ||
        (is_write && pwrite(file, data, length, from) != (ssize_t)length))
        reply.error = htobe32(5 /* EIO */);
    memcpy(&reply.handle, &request.handle, sizeof(reply.handle));
    return type != NBD_CMD_DISC &&
           send(wire, &reply, sizeof(reply), 0) == sizeof(reply) &&
           (!is_read || reply.error ||
            send(wire, data, length, 0) == (ssize_t)length);
}

int main(int count, char **words)
{
    int ends[2];
    struct stat status;
    pthread_t carrier;
    if (count < 3)
        return 1;
    const int file = open(words[2], count > 3 ? O_RDONLY : O_RDWR);
    node = open(words[1], O_RDWR);
    if (file < 0 || node < 0 || fstat(file, &status) != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 ||
        ioctl(node, NBD_SET_BLKSIZE, (unsigned long)BLOCK_BYTES) != 0 ||
        ioctl(node, NBD_SET_SIZE_BLOCKS,
              (unsigned long)status.st_size / BLOCK_BYTES) != 0 ||
        ioctl(node, NBD_SET_SOCK, ends[0]) != 0 ||
        pthread_create(&carrier, NULL, carry, NULL) != 0) {
        perror(words[1]);
        return 1;
    }
    while (serve(ends[1], file))
        continue;
    return 0;
}
