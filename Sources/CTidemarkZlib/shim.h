#include <stdlib.h>
#include <zlib.h>

// Inflating gzip by functions alone. Where another module includes zlib's header too, as the gRPC
// library's does, Swift may take z_stream's members for that module's and refuse them.

// A new inflater; NULL when there is no memory.
static inline void *tidemark_gunzip_begin(void) {
  z_stream *stream = (z_stream *)calloc(1, sizeof(z_stream));
  if (stream && inflateInit2(stream, 16 + MAX_WBITS) != Z_OK) {
    free(stream);
    return NULL;
  }
  return stream;
}

// Takes from `input` and writes to `output`; both counts become what was taken and made.
// 0 when there is more to do, 1 at the end of the data, -1 when it is damaged.
static inline int tidemark_gunzip_step(
    void *inflater, const void *input, unsigned *taken, void *output, unsigned *made) {
  z_stream *stream = (z_stream *)inflater;
  stream->next_in = (Bytef *)input;
  stream->avail_in = *taken;
  stream->next_out = (Bytef *)output;
  stream->avail_out = *made;
  int code = inflate(stream, Z_NO_FLUSH);
  *taken -= stream->avail_in;
  *made -= stream->avail_out;
  if (code == Z_STREAM_END) return 1;
  return code == Z_OK || code == Z_BUF_ERROR ? 0 : -1;
}

static inline void tidemark_gunzip_end(void *inflater) {
  inflateEnd((z_stream *)inflater);
  free(inflater);
}
