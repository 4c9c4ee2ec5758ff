/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/base/packed/packed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef PACKED_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif

#ifdef PACKED_ZLIB
#include <zlib.h>
#endif

/* Every frame of zstd begins with these bytes, and every member of gzip. */
static const unsigned char magic[4] = {0x28, 0xb5, 0x2f, 0xfd};
static const unsigned char gzip_magic[2] = {0x1f, 0x8b};

bool packed_is_built(void)
{
#ifdef PACKED_ZSTD
    return true;
#else
    return false;
#endif
}

const char *packed_words(int error)
{
    switch (error) {
    case ENODATA:
        return "its compressed data is cut off; copy the file again";
    case EBADMSG:
        return "its compressed data is damaged; copy the file again";
    case EFBIG:
        return "decompressing it takes more than 128 MiB of memory; use 'zstd "
               "-d --long=31' first";
    case ENOTSUP:
        return "it is compressed, and this program was built without libzstd "
               "or zlib; use 'zstd -d' or 'gunzip' first";
    default:
        return strerror(error);
    }
}

#ifdef PACKED_ZSTD

enum {
    WINDOW_BITS_MAX = 27, /* 128 MiB: what `zstd -d` takes unasked */
    LEVEL = 1 /* of samples, levels below 15 are no smaller, and slower */
};

struct unpacking {
    FILE *in;
    ZSTD_DStream *stream;
    ZSTD_inBuffer buffer;
    bool is_within; /* a frame has begun, and has not ended */
    int error;      /* positive; once there is one it stays */
    unsigned char bytes[65536];
};

static int error_of(size_t code)
{
    switch (ZSTD_getErrorCode(code)) {
    case ZSTD_error_frameParameter_windowTooLarge:
        return EFBIG;
    case ZSTD_error_memory_allocation:
        return ENOMEM;
    default:
        return EBADMSG;
    }
}

/* More of the compressed file; false at its end, or where it cannot be read. */
static bool fill(struct unpacking *unpacking)
{
    ZSTD_inBuffer *buffer = &unpacking->buffer;

    buffer->src = unpacking->bytes;
    buffer->pos = 0;
    buffer->size =
        fread(unpacking->bytes, 1, sizeof(unpacking->bytes), unpacking->in);
    if (buffer->size == 0 && ferror(unpacking->in))
        unpacking->error = errno ? errno : EIO;
    return buffer->size > 0;
}

/* Zstd keeps a byte of the input until its output was taken, so no output is
 * left where the input is used up. */
static ssize_t unpack(void *cookie, char *to, size_t size)
{
    struct unpacking *unpacking = cookie;
    ZSTD_outBuffer out = {to, size, 0};

    while (out.pos == 0 && !unpacking->error) {
        if (unpacking->buffer.pos == unpacking->buffer.size &&
            !fill(unpacking)) {
            if (unpacking->is_within && !unpacking->error)
                unpacking->error = ENODATA;
            break;
        }
        const size_t left =
            ZSTD_decompressStream(unpacking->stream, &out, &unpacking->buffer);
        if (ZSTD_isError(left))
            unpacking->error = error_of(left);
        unpacking->is_within = left != 0;
    }
    if (out.pos == 0 && unpacking->error) {
        errno = unpacking->error;
        return -1;
    }
    return (ssize_t)out.pos;
}

static int unpacking_close(void *cookie)
{
    struct unpacking *unpacking = cookie;

    fclose(unpacking->in);
    ZSTD_freeDStream(unpacking->stream);
    free(unpacking);
    return 0;
}

/* Takes `in` over, also where it fails. */
static int open_unpacking(FILE *in, FILE **file)
{
    const cookie_io_functions_t calls = {.read = unpack,
                                         .close = unpacking_close};
    struct unpacking *unpacking = calloc(1, sizeof(*unpacking));

    if (!unpacking) {
        fclose(in);
        return -ENOMEM;
    }
    unpacking->in = in;
    unpacking->stream = ZSTD_createDStream();
    const bool is_ready =
        unpacking->stream &&
        !ZSTD_isError(ZSTD_DCtx_setParameter(
            unpacking->stream, ZSTD_d_windowLogMax, WINDOW_BITS_MAX));
    *file = is_ready ? fopencookie(unpacking, "r", calls) : NULL;
    if (!*file) {
        unpacking_close(unpacking);
        return -ENOMEM;
    }
    return 0;
}

int packed_write(int from, FILE *to)
{
    static char in_bytes[65536], out_bytes[65536];
    ZSTD_CCtx *stream = ZSTD_createCCtx();
    off_t place = 0;
    int error = stream ? 0 : -ENOMEM;
    bool ended = false;

    if (!error &&
        (ZSTD_isError(
             ZSTD_CCtx_setParameter(stream, ZSTD_c_compressionLevel, LEVEL)) ||
         ZSTD_isError(ZSTD_CCtx_setParameter(stream, ZSTD_c_checksumFlag, 1))))
        error = -EINVAL;
    while (!error && !ended) {
        const ssize_t got = pread(from, in_bytes, sizeof(in_bytes), place);
        if (got < 0) {
            error = errno == EINTR ? 0 : -errno;
            continue;
        }
        ZSTD_inBuffer in = {in_bytes, (size_t)got, 0};
        size_t left;
        do {
            ZSTD_outBuffer out = {out_bytes, sizeof(out_bytes), 0};
            left = ZSTD_compressStream2(stream, &out, &in,
                                        got ? ZSTD_e_continue : ZSTD_e_end);
            errno = 0;
            if (ZSTD_isError(left))
                error = -error_of(left);
            else if (fwrite(out_bytes, 1, out.pos, to) != out.pos)
                error = errno ? -errno : -EIO;
        } while (!error && (got ? in.pos < in.size : left > 0));
        place += got;
        ended = got == 0;
    }
    ZSTD_freeCCtx(stream);
    return error;
}

#else

static int open_unpacking(FILE *in, FILE **file)
{
    (void)file;
    fclose(in);
    return -ENOTSUP;
}

int packed_write(int from, FILE *to)
{
    (void)from;
    (void)to;
    return -ENOTSUP;
}

#endif

#ifdef PACKED_ZLIB

struct gunzipping {
    FILE *in;
    z_stream stream;
    bool is_within; /* a member has begun, and has not ended */
    int error;      /* positive; once there is one it stays */
    unsigned char bytes[65536];
};

/* More of the file; false at its end, or where it cannot be read. */
static bool fill_gzip(struct gunzipping *gunzipping)
{
    z_stream *stream = &gunzipping->stream;

    stream->next_in = gunzipping->bytes;
    stream->avail_in = (uInt)fread(gunzipping->bytes, 1,
                                   sizeof(gunzipping->bytes), gunzipping->in);
    if (stream->avail_in == 0 && ferror(gunzipping->in))
        gunzipping->error = errno ? errno : EIO;
    return stream->avail_in > 0;
}

/* Members may follow each other. */
static ssize_t gunzip(void *cookie, char *to, size_t size)
{
    struct gunzipping *gunzipping = cookie;
    z_stream *stream = &gunzipping->stream;

    stream->next_out = (unsigned char *)to;
    stream->avail_out = size < UINT32_MAX ? (uInt)size : UINT32_MAX;
    while (stream->next_out == (unsigned char *)to && !gunzipping->error) {
        /* Without more of the file, what is left may be in the stream. */
        const bool is_more = stream->avail_in > 0 || fill_gzip(gunzipping);
        if (gunzipping->error || (!is_more && !gunzipping->is_within))
            break;
        const int status = inflate(stream, Z_NO_FLUSH);
        gunzipping->is_within = status != Z_STREAM_END;
        if (status == Z_STREAM_END)
            inflateReset(stream);
        else if (status == Z_BUF_ERROR && !is_more)
            gunzipping->error = ENODATA;
        else if (status != Z_OK && status != Z_BUF_ERROR)
            gunzipping->error = status == Z_MEM_ERROR ? ENOMEM : EBADMSG;
    }
    const size_t got = (size_t)(stream->next_out - (unsigned char *)to);
    if (got == 0 && gunzipping->error) {
        errno = gunzipping->error;
        return -1;
    }
    return (ssize_t)got;
}

static int gunzipping_close(void *cookie)
{
    struct gunzipping *gunzipping = cookie;

    fclose(gunzipping->in);
    inflateEnd(&gunzipping->stream);
    free(gunzipping);
    return 0;
}

/* Takes `in` over, also where it fails. */
static int open_gunzipping(FILE *in, FILE **file)
{
    enum { GZIP_WINDOW_BITS = 15 + 16 }; /* 16: with gzip's header */
    const cookie_io_functions_t calls = {.read = gunzip,
                                         .close = gunzipping_close};
    struct gunzipping *gunzipping = calloc(1, sizeof(*gunzipping));

    if (!gunzipping) {
        fclose(in);
        return -ENOMEM;
    }
    gunzipping->in = in;
    *file = inflateInit2(&gunzipping->stream, GZIP_WINDOW_BITS) == Z_OK
                ? fopencookie(gunzipping, "r", calls)
                : NULL;
    if (!*file) {
        gunzipping_close(gunzipping);
        return -ENOMEM;
    }
    return 0;
}

#else

static int open_gunzipping(FILE *in, FILE **file)
{
    (void)file;
    fclose(in);
    return -ENOTSUP;
}

#endif

int packed_open(const char *path, FILE **file)
{
    unsigned char begin[sizeof(magic)];
    FILE *in = fopen(path, "rbe");

    *file = NULL;
    if (!in)
        return -errno;
    size_t length = fread(begin, 1, sizeof(begin), in);
    const bool is_packed =
        length == sizeof(begin) && memcmp(begin, magic, sizeof(begin)) == 0;
    const bool is_gzip =
        length > 1 && memcmp(begin, gzip_magic, sizeof(gzip_magic)) == 0;
    clearerr(in); /* who reads on meets the same end or error */
    while (length > 0)
        ungetc(begin[--length], in);
    if (is_packed)
        return open_unpacking(in, file);
    if (is_gzip)
        return open_gunzipping(in, file);
    *file = in;
    return 0;
}

bool packed_is_compressed(FILE *file)
{
    return fileno(file) < 0; /* it is not the file itself */
}

int packed_copy(FILE *from, FILE *to, uint64_t length_bytes)
{
    char bytes[16384];

    while (length_bytes > 0) {
        const size_t wanted =
            length_bytes < sizeof(bytes) ? (size_t)length_bytes : sizeof(bytes);
        errno = ENODATA;
        if (fread(bytes, 1, wanted, from) != wanted ||
            fwrite(bytes, 1, wanted, to) != wanted)
            return -errno;
        length_bytes -= wanted;
    }
    return 0;
}
