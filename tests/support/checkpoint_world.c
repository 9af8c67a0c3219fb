/* Logs by chance; see checkpoint_world.h. */
#include "checkpoint_world.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "json/writer.h"

#define FEATURES_BASE "\"columnMapping\",\"deletionVectors\",\"timestampNtz\""
#define WRITER_ONLY "\"appendOnly\",\"invariants\",\"domainMetadata\",\"rowTracking\",\"clustering\""

uint64_t world_random(struct world *w, uint64_t below)
{
    w->seed = w->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (w->seed >> 33) % below;
}

void world_begin(struct world *w, struct session_fixture *s, const char *table, uint64_t seed)
{
    *w = (struct world){.s = s, .table = table, .seed = seed, .version = -1, .now_ms = (int64_t)time(NULL) * 1000};
    w->mapped = world_random(w, 2) == 0;
    w->v2 = world_random(w, 2) == 0;
}

static void put_field(struct world *w, struct sl_buf *out, const char *name, const char *type, int id)
{
    sl_buf_printf(out, "%s{\"name\":\"%s\",\"type\":%s,\"nullable\":true,\"metadata\":{", id > 1 ? "," : "", name,
                  type);
    if (w->mapped) {
        sl_buf_printf(out, "\"delta.columnMapping.id\":%d,\"delta.columnMapping.physicalName\":\"col-%d\"", id, id);
    }
    sl_buf_put_c(out, "}}");
}

static const char *name_of(const struct world *w, const char *name, const char *physical)
{
    return w->mapped ? physical : name;
}

/* Partition columns: p (string), n (int), d (date). */
static void put_metadata(struct world *w, struct sl_buf *out)
{
    struct sl_buf fields;
    char properties[512];
    sl_buf_init(&fields, silt_env_default());
    put_field(w, &fields, "p", "\"string\"", 1);
    put_field(w, &fields, "n", "\"integer\"", 2);
    put_field(w, &fields, "d", "\"date\"", 3);
    put_field(w, &fields, "v", "\"long\"", 4);
    put_field(w, &fields, "t", "\"string\"", 5);
    put_field(w, &fields, "m", "\"decimal(20,3)\"", 6);
    put_field(w, &fields, "at", "\"timestamp\"", 7);
    put_field(w, &fields, "wall", "\"timestamp_ntz\"", 8);
    put_field(w, &fields, "f", "\"double\"", 9);
    put_field(w, &fields, "b", "\"boolean\"", 10);
    (void)snprintf(properties, sizeof(properties),
                   "\"delta.checkpoint.writeStatsAsJson\":\"%s\",\"delta.checkpoint.writeStatsAsStruct\":\"%s\","
                   "\"delta.checkpointPolicy\":\"%s\"%s",
                   world_random(w, 3) > 0 ? "true" : "false", world_random(w, 3) > 0 ? "true" : "false",
                   world_random(w, 2) > 0 ? "v2" : "classic",
                   w->mapped ? ",\"delta.columnMapping.mode\":\"name\",\"delta.columnMapping.maxColumnId\":\"10\""
                             : "");
    sl_buf_put_c(out, hand_metadata(w->s, sl_buf_cstr(&fields), "\"p\",\"n\",\"d\"", properties));
    sl_buf_put_char(out, '\n');
    sl_buf_release(&fields);
}

static void put_protocol(const struct world *w, struct sl_buf *out)
{
    const char *v2 = w->v2 ? ",\"v2Checkpoint\"" : "";
    sl_buf_printf(out,
                  "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[" FEATURES_BASE
                  "%s],"
                  "\"writerFeatures\":[" FEATURES_BASE "," WRITER_ONLY "%s]}}\n",
                  v2, v2);
}

/* Some paths have characters that are escaped in the log. */
static void put_path(struct sl_buf *out, size_t file)
{
    sl_buf_printf(out,
                  file % 5 == 0   ? "\"path\":\"p=a%%2520b/part%%20%zu-\xC3\xA9.parquet\""
                  : file % 7 == 0 ? "\"path\":\"x/y/part-%zu.parquet\""
                                  : "\"path\":\"part-%zu.parquet\"",
                  file);
}

/* They are the file's, whatever is said of it and when. */
static void put_values(const struct world *w, struct sl_buf *out, size_t file)
{
    static const char *const texts[] = {"null", "\"a\"", "\"b \\\"quoted\\\"\"", "\"\xC3\xA9\"", "\"a b/c\""};
    sl_buf_printf(out, ",\"partitionValues\":{\"%s\":%s,", name_of(w, "p", "col-1"), texts[file % 5]);
    if (file % 6 == 0) {
        sl_buf_printf(out, "\"%s\":null,", name_of(w, "n", "col-2"));
    } else {
        sl_buf_printf(out, "\"%s\":\"%d\",", name_of(w, "n", "col-2"), (int)(file % 13) - 6);
    }
    sl_buf_printf(out, "\"%s\":\"20%02d-0%d-1%d\"}", name_of(w, "d", "col-3"), (int)(file % 40), (int)(file % 9) + 1,
                  (int)(file % 8));
}

static void put_vector(struct sl_buf *out, int vector)
{
    static const char *const kinds[] = {"u", "i", "p"};
    if (vector > 0) {
        sl_buf_printf(out,
                      ",\"deletionVector\":{\"storageType\":\"%s\",\"pathOrInlineDv\":\"%s\"%s,"
                      "\"sizeInBytes\":%d,\"cardinality\":%d}",
                      vector % 3 == 1 ? kinds[1] : kinds[0],
                      vector % 3 == 1 ? "wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L" : "ab^-aqEH.-t@S}K{vb[*k^",
                      vector % 3 == 1   ? ""
                      : vector % 2 == 0 ? ",\"offset\":4"
                                        : ",\"offset\":71",
                      40 + vector, vector);
    }
}

static void put_bounds(const struct world *w, struct sl_buf *out, size_t file, bool is_max)
{
    const int v = (int)(file * 37 % 1000) + (is_max ? 50 : 0);
    sl_buf_printf(out, "{\"%s\":%d,\"%s\":\"%s%d\",\"%s\":%d.125", name_of(w, "v", "col-4"), v,
                  name_of(w, "t", "col-5"), is_max ? "z" : "a", v, name_of(w, "m", "col-6"), v);
    sl_buf_printf(out, ",\"%s\":\"2021-03-0%dT0%d:00:00.12%dZ\",\"%s\":\"2020-01-01T00:00:00.00%d\"",
                  name_of(w, "at", "col-7"), is_max ? 9 : 2, v % 10, v % 10, name_of(w, "wall", "col-8"),
                  is_max ? 7 : 3);
    sl_buf_printf(out, ",\"%s\":%d.5,\"%s\":%s}", name_of(w, "f", "col-9"), v, name_of(w, "b", "col-10"),
                  is_max ? "true" : "false");
}

static void put_stats(const struct world *w, struct sl_buf *out, size_t file)
{
    struct sl_buf text;
    if (file % 11 == 3) {
        return;
    }
    sl_buf_init(&text, silt_env_default());
    sl_buf_printf(&text, "{\"numRecords\":%zu", 100 + file);
    if (file % 4 != 1) {
        sl_buf_put_c(&text, ",\"minValues\":");
        put_bounds(w, &text, file, false);
        sl_buf_put_c(&text, ",\"maxValues\":");
        put_bounds(w, &text, file, true);
        sl_buf_printf(&text, ",\"nullCount\":{\"%s\":%zu,\"%s\":0}", name_of(w, "v", "col-4"), file % 3,
                      name_of(w, "t", "col-5"));
    }
    sl_buf_put_c(&text, file % 9 == 2 ? ",\"tightBounds\":false}" : "}");
    sl_buf_put_c(out, ",\"stats\":\"");
    sl_json_escape(out, sl_buf_view(&text));
    sl_buf_put_char(out, '"');
    sl_buf_release(&text);
}

static void put_add(struct world *w, struct sl_buf *out, size_t file)
{
    sl_buf_put_c(out, "{\"add\":{");
    put_path(out, file);
    put_values(w, out, file);
    sl_buf_printf(out, ",\"size\":%zu,\"modificationTime\":%zu,\"dataChange\":true", 1000 + file, 5000 + file);
    put_stats(w, out, file);
    put_vector(out, w->files[file].vector);
    sl_buf_printf(out, ",\"baseRowId\":%zu,\"defaultRowCommitVersion\":%" PRId64, file * 1000, w->version);
    sl_buf_put_c(out, file % 3 == 0 ? ",\"tags\":{\"k\":\"v\",\"nothing\":null}" : "");
    sl_buf_put_c(out, file % 8 == 0 ? ",\"clusteringProvider\":\"liquid\"" : "");
    sl_buf_put_c(out, "}}\n");
    w->files[file].live = true;
}

/* A third of the tombstones have expired long ago. */
static void put_remove(struct world *w, struct sl_buf *out, size_t file)
{
    sl_buf_put_c(out, "{\"remove\":{");
    put_path(out, file);
    sl_buf_printf(out, ",\"deletionTimestamp\":%" PRId64 ",\"dataChange\":true",
                  world_random(w, 3) == 0 ? 1000 : w->now_ms);
    if (file % 2 == 0) {
        sl_buf_put_c(out, ",\"extendedFileMetadata\":true");
        put_values(w, out, file);
        sl_buf_printf(out, ",\"size\":%zu,\"baseRowId\":%zu", 1000 + file, file * 1000);
    }
    put_vector(out, w->files[file].vector);
    sl_buf_put_c(out, "}}\n");
    w->files[file].live = false;
    w->files[file].removed = true;
}

static void change_files(struct world *w, struct sl_buf *out)
{
    const size_t known = w->n_files;
    for (size_t file = 0; file < known; file++) {
        const uint64_t chance = world_random(w, 20);
        struct world_file *f = &w->files[file];
        if (f->live && chance == 0) {
            put_remove(w, out, file);
        } else if (f->live && chance == 1) {
            put_remove(w, out, file);
            f->vector++;
            put_add(w, out, file);
        } else if (!f->live && chance == 2) {
            put_add(w, out, file);
        }
    }
    for (uint64_t n = world_random(w, 12); n > 0 && w->n_files < WORLD_MAX_FILES; n--) {
        put_add(w, out, w->n_files++);
    }
}

void world_commit(struct world *w)
{
    struct sl_buf out;
    sl_buf_init(&out, silt_env_default());
    w->version++;
    sl_buf_printf(&out,
                  "{\"commitInfo\":{\"timestamp\":%" PRId64 ",\"operation\":\"WRITE\",\"operationParameters\":{}}}\n",
                  w->now_ms);
    if (w->version == 0) {
        put_protocol(w, &out);
    }
    if (w->version == 0 || world_random(w, 5) == 0) {
        put_metadata(w, &out);
    }
    if (world_random(w, 3) == 0) {
        sl_buf_printf(&out, "{\"txn\":{\"appId\":\"app-%d\",\"version\":%" PRId64 "%s}}\n", (int)world_random(w, 4),
                      w->version, world_random(w, 2) == 0 ? ",\"lastUpdated\":77" : "");
    }
    if (world_random(w, 3) == 0) {
        sl_buf_printf(&out,
                      "{\"domainMetadata\":{\"domain\":\"d%d\",\"configuration\":\"{\\\"v\\\":%" PRId64
                      "}\",\"removed\":%s}}\n",
                      (int)world_random(w, 3), w->version, world_random(w, 3) == 0 ? "true" : "false");
    }
    change_files(w, &out);
    hand_put(w->s, sl_arena_printf(&w->s->arena, "%s/_delta_log/%020" PRId64 ".json", w->table, w->version),
             sl_buf_cstr(&out));
    sl_buf_release(&out);
}
