/*
 * Makes a file of deletion vectors for the benchmarks: one vector for each data file of a table, with rows drawn evenly and always the
 * same ones. Prints the descriptors, as JSON, in the order of the files; bench/lib/make_data.py writes the commit around them.
 *
 *     make_vectors FOLDER PERMILLE ROWS…
 *
 * FOLDER is the table's, PERMILLE how many of a thousand rows are deleted, ROWS the number of rows of each data file.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/env.h"
#include "base/error.h"
#include "kernel/dv/dv.h"
#include "kernel/dv/z85.h"

/* A fixed name: the same table comes out every time. */
static const uint8_t uuid[16] = {0x5f, 0xba, 0x94, 0xed, 0x97, 0x94, 0x49, 0x65,
                                 0xba, 0x6e, 0x6e, 0xe3, 0xc0, 0xd2, 0x2a, 0xf9};
#define VECTOR_FILE "deletion_vector_5fba94ed-9794-4965-ba6e-6ee3c0d22af9.bin"

static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

struct vectors {
    struct sl_buf file;
    struct sl_buf json;
    struct sl_buf name; /* of the file, as a descriptor has it */
};

static silt_status add_vector(struct vectors *vectors, uint64_t seed, int64_t n_rows, int64_t permille, silt_error *err)
{
    struct sl_dv_builder *builder = NULL;
    struct sl_buf payload;
    int64_t offset = 0;
    sl_buf_init(&payload, silt_env_default());
    silt_status status = sl_dv_builder_new(silt_env_default(), &builder, err);
    for (int64_t row = 0; status == SILT_OK && row < n_rows; row++) {
        if (mix(seed << 40 | (uint64_t)row) % 1000 < (uint64_t)permille) {
            status = sl_dv_builder_add(builder, row, 1, err);
        }
    }
    const int64_t cardinality = builder != NULL ? sl_dv_builder_cardinality(builder) : 0;
    if (status == SILT_OK) {
        status = sl_dv_serialize(builder, &payload, err);
    }
    if (status == SILT_OK) {
        status = sl_dv_put_frame(&vectors->file, sl_buf_view(&payload), &offset, err);
    }
    sl_buf_printf(&vectors->json,
                  "%s{\"storageType\": \"u\", \"pathOrInlineDv\": \"%s\", \"offset\": %" PRId64
                  ", \"sizeInBytes\": %zu, \"cardinality\": %" PRId64 "}",
                  vectors->json.len > 0 ? ", " : "", sl_buf_cstr(&vectors->name), offset, payload.len, cardinality);
    sl_dv_builder_free(builder);
    sl_buf_release(&payload);
    return status;
}

static silt_status write_file(const char *folder, const struct sl_buf *bytes, silt_error *err)
{
    struct sl_buf path;
    sl_buf_init(&path, silt_env_default());
    sl_buf_printf(&path, "%s/" VECTOR_FILE, folder);
    FILE *file = fopen(sl_buf_cstr(&path), "wbe");
    const bool is_written = file != NULL && fwrite(bytes->data, 1, bytes->len, file) == bytes->len;
    const bool is_closed = file != NULL && fclose(file) == 0;
    sl_buf_release(&path);
    return is_written && is_closed ? SILT_OK
                                   : sl_fail(err, SILT_EIO, NULL, "%s/" VECTOR_FILE " cannot be written", folder);
}

static silt_status run(int argc, char **argv, struct vectors *vectors, silt_error *err)
{
    int64_t permille = 0;
    if (argc < 4 || !sl_str_to_i64(sl_str_from(argv[2]), &permille) || permille < 1 || permille > 1000) {
        return sl_fail(err, SILT_EINVALID, NULL, "usage: make_vectors FOLDER PERMILLE ROWS…");
    }
    sl_z85_encode(&vectors->name, uuid, sizeof(uuid));
    for (int i = 3; i < argc; i++) {
        int64_t n_rows = 0;
        if (!sl_str_to_i64(sl_str_from(argv[i]), &n_rows) || n_rows < 1 || n_rows > UINT32_MAX) {
            return sl_fail(err, SILT_EINVALID, NULL, "%s is no number of rows", argv[i]);
        }
        SL_TRY(add_vector(vectors, (uint64_t)i, n_rows, permille, err));
    }
    SL_TRY(sl_buf_status(&vectors->json, err));
    return write_file(argv[1], &vectors->file, err);
}

int main(int argc, char **argv)
{
    struct vectors vectors;
    silt_error err = SILT_ERROR_INIT;
    sl_buf_init(&vectors.file, silt_env_default());
    sl_buf_init(&vectors.json, silt_env_default());
    sl_buf_init(&vectors.name, silt_env_default());
    const silt_status status = run(argc, argv, &vectors, &err);
    if (status == SILT_OK) {
        (void)printf("[%s]\n", sl_buf_cstr(&vectors.json));
    } else {
        (void)fprintf(stderr, "make_vectors: %s\n", err.message);
    }
    sl_buf_release(&vectors.file);
    sl_buf_release(&vectors.json);
    sl_buf_release(&vectors.name);
    return status == SILT_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
