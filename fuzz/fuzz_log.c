/*
 * Whole logs: the input is a set of files, each begun by a line "== name", in a memory store. A table that opens, opens the same way again
 * by its version, and a snapshot that grew commit by commit has the files that one has which was opened at once. Checkpoints with
 * their top file in JSON are read; nothing reads Parquet here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "kernel/snapshot/state.h"
#include "silt/silt.h"
#include "support/fuzz.h"

#define ROOT "memory://t/x"
#define MAX_FILES 24

static const char mark[] = "== ";

static silt_storage *new_store(void)
{
    silt_storage *store = NULL;
    FUZZ_CHECK(silt_storage_memory_new(fuzz_env(), &store, NULL) == SILT_OK);
    return store;
}

static silt_engine *new_engine(silt_storage *store)
{
    silt_engine *engine = NULL;
    silt_storage_registry *registry = NULL;
    FUZZ_CHECK(silt_storage_registry_new(fuzz_env(), &registry, NULL) == SILT_OK);
    FUZZ_CHECK(silt_storage_registry_add(registry, "memory", store, NULL) == SILT_OK);
    const silt_engine_options options = {
        .size = sizeof(options), .abi_version = SILT_ABI_VERSION, .env = fuzz_env(), .stores = registry};
    FUZZ_CHECK(silt_engine_new(&options, &engine, NULL) == SILT_OK);
    return engine;
}

/* ---- the files ---- */

/* A name that is a path below the log's folder. */
static bool is_name(struct sl_str name)
{
    for (size_t i = 0; i < name.len; i++) {
        const char c = name.ptr[i];
        const bool fine = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '.' || c == '-' || c == '_';
        if (!fine || (c == '.' && i + 1 < name.len && name.ptr[i + 1] == '.')) {
            return false;
        }
    }
    return name.len > 0 && name.len < 100 && name.ptr[0] != '.';
}

static void put_file(silt_storage *store, struct sl_str name, struct sl_str bytes, bool *only_commits)
{
    char path[256];
    if (is_name(name)) {
        (void)snprintf(path, sizeof(path), ROOT "/_delta_log/%.*s", (int)name.len, name.ptr);
        FUZZ_CHECK(silt_storage_put(store, NULL, path, bytes.ptr, bytes.len, NULL) == SILT_OK);
        *only_commits = *only_commits && sl_str_ends_with(name, SL_STR(".json")) && name.len == 25;
    }
}

/* *only_commits: no file says again what commits say. */
static void put_files(silt_storage *store, struct sl_str text, bool *only_commits)
{
    *only_commits = true;
    for (size_t n = 0; n < MAX_FILES && sl_str_starts_with(text, sl_str_from(mark)); n++) {
        text = sl_str_sub(text, sizeof(mark) - 1, text.len);
        const char *line_end = memchr(text.ptr, '\n', text.len);
        const size_t name_len = line_end != NULL ? (size_t)(line_end - text.ptr) : text.len;
        const struct sl_str name = sl_str_sub(text, 0, name_len);
        text = sl_str_sub(text, line_end != NULL ? name_len + 1 : name_len, text.len);
        size_t end = sl_str_starts_with(text, sl_str_from(mark)) ? 0 : sl_str_find(text, SL_STR("\n== "));
        end = end == SIZE_MAX ? text.len : end + (end > 0 || text.len == 0 ? 1 : 0);
        end = end < text.len ? end : text.len;
        put_file(store, name, sl_str_sub(text, 0, end), only_commits);
        text = sl_str_sub(text, end, text.len);
    }
}

/* ---- what a snapshot has ---- */

struct listing {
    struct sl_buf text;
    uint64_t sum; /* of the lines' hashes: their order does not matter */
    int64_t n;
    int64_t bytes;
};

static uint64_t hash(struct sl_str text)
{
    uint64_t h = UINT64_C(1469598103934665603);
    for (size_t i = 0; i < text.len; i++) {
        h = (h ^ (unsigned char)text.ptr[i]) * UINT64_C(1099511628211);
    }
    return h;
}

static silt_status list_file(void *ctx, const struct sl_add *add, bool *stop, silt_error *err)
{
    struct listing *listing = ctx;
    const struct sl_action action = {.kind = SL_ACTION_ADD, .u.add = *add};
    (void)stop;
    sl_buf_clear(&listing->text);
    SL_TRY(sl_action_write(&listing->text, &action, err));
    listing->sum += hash(sl_buf_view(&listing->text));
    listing->n++;
    listing->bytes = (int64_t)((uint64_t)listing->bytes + (uint64_t)add->size);
    return SILT_OK;
}

static silt_status list_files(silt_snapshot *snapshot, unsigned want, struct listing *out)
{
    *out = (struct listing){.n = 0};
    sl_buf_init(&out->text, fuzz_env());
    const silt_status status = sl_snapshot_each_file(snapshot, NULL, want, list_file, out, NULL);
    sl_buf_release(&out->text);
    return status;
}

static void same_snapshot(silt_snapshot *a, silt_snapshot *b)
{
    struct listing files[2];
    FUZZ_CHECK(silt_snapshot_version(a) == silt_snapshot_version(b));
    FUZZ_CHECK(strcmp(silt_schema_json(silt_snapshot_schema(a)), silt_schema_json(silt_snapshot_schema(b))) == 0);
    FUZZ_CHECK(silt_snapshot_min_reader_version(a) == silt_snapshot_min_reader_version(b));
    FUZZ_CHECK(silt_snapshot_property_count(a) == silt_snapshot_property_count(b));
    FUZZ_CHECK(silt_snapshot_timestamp_ms(a) == silt_snapshot_timestamp_ms(b));
    const silt_status status = list_files(a, SL_FILES_ALL, &files[0]);
    FUZZ_CHECK(list_files(b, SL_FILES_ALL, &files[1]) == status);
    if (status == SILT_OK) {
        FUZZ_CHECK(files[0].n == files[1].n && files[0].sum == files[1].sum);
    }
}

/* Several ways of asking for the files of one snapshot. */
static void check_files(silt_snapshot *snapshot)
{
    struct listing plain;
    struct listing again;
    int64_t n = 0;
    int64_t bytes = 0;
    if (list_files(snapshot, 0, &plain) != SILT_OK) {
        return;
    }
    FUZZ_CHECK(list_files(snapshot, SL_FILES_STATS, &again) == SILT_OK && again.n == plain.n);
    const silt_status status = silt_snapshot_totals(snapshot, NULL, &n, &bytes, NULL);
    FUZZ_CHECK(status != SILT_OK || (n == plain.n && (uint64_t)bytes == (uint64_t)plain.bytes));
}

static void check_scan(silt_snapshot *snapshot)
{
    silt_scan_builder *builder = NULL;
    silt_scan *scan = NULL;
    struct listing files;
    if (silt_scan_builder_new(snapshot, &builder, NULL) == SILT_OK &&
        silt_scan_builder_build(builder, NULL, &scan, NULL) == SILT_OK) {
        FUZZ_CHECK(list_files(snapshot, 0, &files) == SILT_OK);
        FUZZ_CHECK((int64_t)silt_scan_get_plan(scan)->n_files == files.n);
    }
    silt_scan_unref(scan);
    silt_scan_builder_free(builder);
}

/* ---- ways to a version ---- */

static bool count_entry(void *ctx, const silt_history_entry *entry)
{
    int64_t *last = ctx;
    FUZZ_CHECK(*last < 0 || entry->version < *last);
    *last = entry->version;
    return true;
}

/* From the first version on, by refreshing: a second table, whose store gets the last commit later. */
static void check_growth(silt_storage *store, silt_table *table, silt_snapshot *latest)
{
    char path[128];
    void *data = NULL;
    size_t len = 0;
    silt_snapshot *old = NULL;
    silt_snapshot *grown = NULL;
    const int64_t version = silt_snapshot_version(latest);
    (void)snprintf(path, sizeof(path), ROOT "/_delta_log/%020lld.json", (long long)version);
    if (version == 0 || silt_storage_read(store, NULL, path, &data, &len, NULL) != SILT_OK) {
        return;
    }
    FUZZ_CHECK(silt_storage_remove(store, NULL, path, NULL) == SILT_OK);
    const silt_status before = silt_table_latest_snapshot(table, NULL, &old, NULL);
    FUZZ_CHECK(silt_storage_put(store, NULL, path, data, len, NULL) == SILT_OK);
    if (before == SILT_OK && silt_snapshot_version(old) == version - 1) {
        struct listing files;
        (void)list_files(old, 0, &files); /* loaded or not, both ways of growing are taken */
        FUZZ_CHECK(silt_snapshot_refresh(old, NULL, &grown, NULL) == SILT_OK);
        silt_snapshot *fresh = NULL;
        FUZZ_CHECK(silt_table_latest_snapshot(table, NULL, &fresh, NULL) == SILT_OK);
        same_snapshot(grown, fresh);
        silt_snapshot_unref(fresh);
    }
    silt_snapshot_unref(old);
    silt_snapshot_unref(grown);
    silt_storage_free(store, data, len);
}

static void check_table(silt_storage *store, silt_table *table, bool only_commits)
{
    silt_snapshot *latest = NULL;
    silt_snapshot *same = NULL;
    silt_error err = SILT_ERROR_INIT;
    int64_t last = -1;
    const silt_status history = silt_table_history(table, NULL, 0, count_entry, &last, NULL);
    (void)history; /* a log without history may be a table, and the reverse */
    if (silt_table_latest_snapshot(table, NULL, &latest, &err) != SILT_OK) {
        FUZZ_CHECK(err.code_name[0] != '\0' && err.message[0] != '\0');
        return;
    }
    FUZZ_CHECK(sl_snapshot_settle(&latest, NULL, NULL) == SILT_OK || !only_commits);
    check_files(latest);
    check_scan(latest);
    if (silt_table_snapshot_at_version(table, NULL, silt_snapshot_version(latest), &same, NULL) == SILT_OK) {
        if (sl_snapshot_settle(&same, NULL, NULL) == SILT_OK) {
            same_snapshot(latest, same);
        }
    } else {
        FUZZ_CHECK(!only_commits);
    }
    if (only_commits) {
        check_growth(store, table, latest);
    }
    silt_snapshot_unref(same);
    silt_snapshot_unref(latest);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    silt_storage *store = new_store();
    silt_engine *engine = new_engine(store);
    silt_table *table = NULL;
    bool only_commits = false;
    put_files(store, sl_str_make((const char *)data, size), &only_commits);
    FUZZ_CHECK(silt_table_for_path(engine, ROOT, &table, NULL) == SILT_OK);
    check_table(store, table, only_commits);
    silt_table_unref(table);
    silt_engine_unref(engine);
    silt_storage_unref(store);
    return 0;
}
