/*
 * Writers: what each operation reads, and what it makes of that. Each is a function of the table's rows, which the checker
 * computes again at the transaction's place in the order.
 */
#include "sim.h"

#include <stdlib.h>
#include <string.h>

#define MAX_ROWS 512
#define PUT_TRIES 3

/* A transaction on its way. */
struct work {
    struct sim_actor *actor;
    struct sim_txn *record; /* moves when the list grows: see record_of */
    size_t index;           /* of the record */
    silt_txn *txn;
    bool good;
    bool limited;       /* it may give up */
    int32_t staged[64]; /* files that were written for it */
    size_t n_staged;
    struct sim_row kept[MAX_ROWS]; /* rows that are written again, changed or not */
    size_t n_kept;
};

static struct sim_txn *record_of(const struct work *work)
{
    return SIM_AT(&work->actor->world->txns, struct sim_txn, work->index);
}

static bool call_worked(struct work *work, const char *what, silt_status status, const silt_error *err)
{
    if (status != SILT_OK) {
        (void)sim_actor_excuse(work->actor, what, status, err);
        work->good = false;
    }
    return work->good;
}

/* ---- rows and files ---- */

static struct sim_row new_row(struct sim_actor *actor)
{
    struct sim_world *world = actor->world;
    return (struct sim_row){.id = world->n_rows++,
                            .part = (int32_t)sim_below(world, SIM_PARTS),
                            .key = sim_below(world, SIM_KEYS),
                            .value = sim_below(world, 10)};
}

static void make_stats(const struct sim_file *file, const struct sim_world *world, char *text, size_t size)
{
    const bool partitioned = world->knobs.partitioned;
    const size_t n = world->bug == SIM_BUG_WRONG_STATS ? 1 : file->n_rows;
    int64_t low = file->rows[0].key;
    int64_t high = low;
    int32_t first = file->rows[0].part;
    int32_t last = first;
    for (size_t i = 1; i < n; i++) {
        const struct sim_row *row = &file->rows[i];
        low = row->key < low ? row->key : low;
        high = row->key > high ? row->key : high;
        first = row->part < first ? row->part : first;
        last = row->part > last ? row->part : last;
    }
    char min_part[32] = "";
    char max_part[32] = "";
    if (!partitioned) {
        (void)snprintf(min_part, sizeof(min_part), ",\"p\":\"%d\"", (int)first);
        (void)snprintf(max_part, sizeof(max_part), ",\"p\":\"%d\"", (int)last);
    }
    (void)snprintf(
        text, size,
        "{\"numRecords\":%zu,\"minValues\":{\"k\":%lld%s},\"maxValues\":{\"k\":%lld%s},\"nullCount\":{\"k\":0%s}}",
        file->n_rows, (long long)low, min_part, (long long)high, max_part, partitioned ? "" : ",\"p\":0");
}

static bool put_data(struct work *work, const struct sim_file *file)
{
    struct sim_actor *actor = work->actor;
    char path[128];
    silt_storage *store = NULL;
    silt_error err = SILT_ERROR_INIT;
    silt_status status = silt_engine_storage(actor->engine, SIM_ROOT, &store, &err);
    (void)snprintf(path, sizeof(path), "%s/%s", SIM_ROOT, file->path);
    for (int i = 0; status == SILT_OK && i < PUT_TRIES; i++) {
        silt_error_reset(&err);
        status = silt_storage_put(store, NULL, path, "rows", 4, &err);
        if (status != SILT_EIO) {
            break;
        }
        status = i + 1 < PUT_TRIES ? SILT_OK : status;
    }
    return call_worked(work, "writing a data file", status, &err);
}

static bool add_file(struct work *work, const struct sim_file *file, bool data_change)
{
    const bool partitioned = work->actor->world->knobs.partitioned;
    char stats[256];
    char part[16];
    make_stats(file, work->actor->world, stats, sizeof(stats));
    (void)snprintf(part, sizeof(part), "%d", (int)file->part);
    silt_value value = {.kind = SILT_TYPE_STRING};
    value.as.bytes.ptr = part;
    value.as.bytes.len = strlen(part);
    const silt_add_file add = {.size = sizeof(add),
                               .path = file->path,
                               .size_bytes = 4,
                               .modified_ms = 1,
                               .partition_values = partitioned ? &value : NULL,
                               .n_partition_values = partitioned ? 1 : 0,
                               .stats = stats,
                               .data_change = data_change,
                               .checks_held = true};
    silt_error err = SILT_ERROR_INIT;
    return call_worked(work, "adding a file", silt_txn_add_file(work->txn, &add, &err), &err);
}

struct sim_file *sim_file_new(struct sim_actor *actor, const struct sim_row *rows, size_t n)
{
    struct sim_world *world = actor->world;
    const size_t index = world->files.n;
    struct sim_file *file = sim_list_push(world, &world->files, sizeof(*file));
    file->txn = actor->writing;
    file->part = rows[0].part;
    file->rows = sim_keep(world, n * sizeof(*rows));
    memcpy(file->rows, rows, n * sizeof(*rows));
    file->n_rows = n;
    if (world->knobs.partitioned) {
        (void)snprintf(file->path, sizeof(file->path), "p=%d/f-%zu.parquet", (int)file->part, index);
    } else {
        (void)snprintf(file->path, sizeof(file->path), "f-%zu.parquet", index);
    }
    return file;
}

/* Writes rows as one file, which the transaction adds. */
static bool write_file(struct work *work, const struct sim_row *rows, size_t n, bool data_change)
{
    struct sim_world *world = work->actor->world;
    if (work->n_staged == sizeof(work->staged) / sizeof(work->staged[0])) {
        sim_break(world, "a transaction has too many files for the simulation");
        return false;
    }
    work->staged[work->n_staged++] = (int32_t)world->files.n;
    const struct sim_file file = *sim_file_new(work->actor, rows, n); /* the list may move while others run */
    return put_data(work, &file) && add_file(work, &file, data_change);
}

/* Through silt, which then answers for the files. */
static bool write_stream(struct work *work, const struct sim_row *rows, size_t n)
{
    struct ArrowArrayStream stream;
    silt_error err = SILT_ERROR_INIT;
    sim_rows_stream(work->actor->world, rows, n, &stream);
    return call_worked(work, "writing rows", silt_txn_write(work->txn, sim_actor_call(work->actor), &stream, &err),
                       &err);
}

/* Rows to files: one for each partition. */
static bool write_rows(struct work *work, const struct sim_row *rows, size_t n, bool data_change)
{
    if (n > 0 && data_change && sim_chance(work->actor->world, 400000)) {
        return write_stream(work, rows, n);
    }
    if (!work->actor->world->knobs.partitioned) {
        return n == 0 || write_file(work, rows, n, data_change);
    }
    for (int32_t part = 0; part < SIM_PARTS && work->good; part++) {
        struct sim_row chosen[MAX_ROWS];
        size_t count = 0;
        for (size_t i = 0; i < n; i++) {
            if (rows[i].part == part) {
                chosen[count++] = rows[i];
            }
        }
        if (count > 0 && !write_file(work, chosen, count, data_change)) {
            return false;
        }
    }
    return work->good;
}

static bool keep_row(struct work *work, struct sim_row row)
{
    if (work->n_kept == MAX_ROWS) {
        sim_break(work->actor->world, "a transaction has too many rows for the simulation");
        work->good = false;
        return false;
    }
    work->kept[work->n_kept++] = row;
    return true;
}

static bool remove_file(struct work *work, int32_t index, bool data_change)
{
    char path[128];
    silt_error err = SILT_ERROR_INIT;
    (void)snprintf(path, sizeof(path), "%s/%s", SIM_ROOT,
                   SIM_AT(&work->actor->world->files, struct sim_file, index)->path);
    return call_worked(work, "removing a file",
                       silt_txn_remove_file(work->txn, sim_actor_call(work->actor), path, data_change, &err), &err);
}

/* Files that are no use to anybody. */
static void remove_staged(struct work *work)
{
    silt_storage *store = NULL;
    silt_error err = SILT_ERROR_INIT;
    if (silt_engine_storage(work->actor->engine, SIM_ROOT, &store, &err) != SILT_OK) {
        return;
    }
    for (size_t i = 0; i < work->n_staged; i++) {
        char path[128];
        (void)snprintf(path, sizeof(path), "%s/%s", SIM_ROOT,
                       SIM_AT(&work->actor->world->files, struct sim_file, work->staged[i])->path);
        (void)!silt_storage_remove(store, NULL, path, &err); /* what stays is litter */
    }
}

/* ---- what it reads ---- */

static struct sim_range choose_range(struct sim_world *world, enum sim_op op)
{
    struct sim_range range = {.kind = SIM_RANGE_KEYS};
    if (op == SIM_UPSERT) {
        range.low = sim_below(world, SIM_KEYS);
        range.high = range.low + 1;
        return range;
    }
    if (op == SIM_OVERWRITE) {
        range.kind = SIM_RANGE_ALL;
        return range;
    }
    const int64_t kind = sim_below(world, 10);
    range.kind = kind == 0 ? SIM_RANGE_ALL : kind < 6 ? SIM_RANGE_PART : SIM_RANGE_KEYS;
    range.part = (int32_t)sim_below(world, SIM_PARTS);
    range.low = sim_below(world, SIM_KEYS);
    range.high = range.low + 1 + sim_below(world, 2);
    return range;
}

/* By the scan, which names the files too, or by the predicate. */
static bool say_read(struct work *work, const struct sim_range *range, const silt_scan *scan)
{
    char text[96];
    silt_error err = SILT_ERROR_INIT;
    silt_expr *predicate = NULL;
    silt_status status = SILT_OK;
    if (work->actor->world->bug == SIM_BUG_FORGET_READ) {
        return true;
    }
    if (sim_chance(work->actor->world, 500000)) {
        return call_worked(work, "saying what was scanned",
                           silt_txn_read_scan(work->txn, sim_actor_call(work->actor), scan, &err), &err);
    }
    if (range->kind == SIM_RANGE_PART) {
        (void)snprintf(text, sizeof(text), "p = '%d'", (int)range->part);
    } else {
        (void)snprintf(text, sizeof(text), "k >= %lld AND k < %lld", (long long)range->low, (long long)range->high);
    }
    if (range->kind != SIM_RANGE_ALL) {
        status = silt_expr_parse(&work->actor->env, text, strlen(text), NULL, &predicate, &err);
    }
    if (status == SILT_OK) {
        status = silt_txn_read_predicate(work->txn, predicate, &err);
    }
    silt_expr_unref(predicate);
    return call_worked(work, "saying what was read", status, &err);
}

/* ---- the operations ---- */

static void set_new_rows(struct work *work, const struct sim_row *rows, size_t n)
{
    struct sim_txn *record = record_of(work);
    record->rows = sim_keep(work->actor->world, (n + 1) * sizeof(*rows));
    if (n > 0) {
        memcpy(record->rows, rows, n * sizeof(*rows));
    }
    record->n_rows = n;
}

static bool insert(struct work *work, size_t most)
{
    struct sim_row rows[4];
    const size_t n = 1 + (size_t)sim_below(work->actor->world, (int64_t)most);
    for (size_t i = 0; i < n; i++) {
        rows[i] = new_row(work->actor);
    }
    set_new_rows(work, rows, n);
    return write_rows(work, rows, n, true);
}

static bool insert_select(struct work *work, const int32_t *files, size_t n)
{
    const struct sim_world *world = work->actor->world;
    const struct sim_range range = record_of(work)->range;
    struct sim_row row = new_row(work->actor);
    row.value = 1;
    for (size_t i = 0; i < n; i++) {
        const struct sim_file *file = SIM_AT(&world->files, struct sim_file, files[i]);
        for (size_t j = 0; j < file->n_rows; j++) {
            row.value += sim_range_has(&range, &file->rows[j]) ? file->rows[j].value : 0;
        }
    }
    set_new_rows(work, &row, 1);
    return write_rows(work, &row, 1, true);
}

/* UPDATE, UPSERT and DELETE: files that hold rows of the range are written again. *n_hit: rows that the range has. */
static bool rewrite(struct work *work, const int32_t *files, size_t n, size_t *n_hit)
{
    const struct sim_world *world = work->actor->world;
    const enum sim_op op = record_of(work)->op;
    const struct sim_range range = record_of(work)->range;
    for (size_t i = 0; i < n && work->good; i++) {
        const struct sim_file file = *SIM_AT(&world->files, struct sim_file, files[i]);
        size_t hit = 0;
        for (size_t j = 0; j < file.n_rows; j++) {
            hit += sim_range_has(&range, &file.rows[j]) ? 1 : 0;
        }
        *n_hit += hit;
        if (hit == 0 || !remove_file(work, files[i], true)) {
            continue;
        }
        for (size_t j = 0; j < file.n_rows; j++) {
            struct sim_row row = file.rows[j];
            const bool has = sim_range_has(&range, &row);
            row.value += has ? 1 : 0;
            if ((!has || op != SIM_DELETE) && !keep_row(work, row)) {
                return false;
            }
        }
    }
    return work->good;
}

static bool change_rows(struct work *work, const int32_t *files, size_t n)
{
    size_t n_hit = 0;
    if (!rewrite(work, files, n, &n_hit)) {
        return false;
    }
    const struct sim_txn *record = record_of(work);
    if (n_hit == 0 && record->op != SIM_UPSERT) {
        work->good = false; /* nothing to do */
        return false;
    }
    if (record->op == SIM_UPSERT) {
        struct sim_row row = new_row(work->actor);
        row.key = record->range.low;
        row.value = 1;
        set_new_rows(work, &row, 1); /* used if the key is not there */
        if (n_hit == 0 && !keep_row(work, row)) {
            return false;
        }
    }
    return write_rows(work, work->kept, work->n_kept, true);
}

static bool overwrite(struct work *work)
{
    silt_error err = SILT_ERROR_INIT;
    return call_worked(work, "removing all files", silt_txn_remove_all(work->txn, sim_actor_call(work->actor), &err),
                       &err) &&
           insert(work, 3);
}

/* Rows of a few files become one file a partition. */
static bool compact(struct work *work, const int32_t *files, size_t n)
{
    const struct sim_world *world = work->actor->world;
    const size_t most = 2 + (size_t)sim_below(work->actor->world, 4);
    if (n < 2) {
        work->good = false;
    }
    for (size_t i = 0; i < n && i < most && work->good; i++) {
        const struct sim_file file = *SIM_AT(&world->files, struct sim_file, files[i]);
        (void)remove_file(work, files[i], false);
        for (size_t j = 0; j < file.n_rows && work->good; j++) {
            (void)keep_row(work, file.rows[j]);
        }
    }
    return work->good && write_rows(work, work->kept, work->n_kept, false);
}

static bool restat(struct work *work, const int32_t *files, size_t n)
{
    struct sim_world *world = work->actor->world;
    if (n == 0) {
        work->good = false;
        return false;
    }
    const struct sim_file file = *SIM_AT(&world->files, struct sim_file, files[sim_below(world, (int64_t)n)]);
    return add_file(work, &file, false);
}

static bool count_up(struct work *work)
{
    char text[32];
    silt_error err = SILT_ERROR_INIT;
    (void)snprintf(text, sizeof(text), "%lld", (long long)record_of(work)->counter + 1);
    return call_worked(work, "setting a property", silt_txn_set_property(work->txn, "sim.counter", text, &err), &err);
}

static silt_status make_schema(const struct sim_actor *actor, int64_t columns, silt_schema **out, silt_error *err)
{
    static const char field[] = "{\"name\":\"%s\",\"type\":\"%s\",\"nullable\":true,\"metadata\":{}}";
    static const char *const names[] = {"id", "k", "v", "p"};
    char text[8192];
    size_t len = (size_t)snprintf(text, sizeof(text), "{\"type\":\"struct\",\"fields\":[");
    for (int64_t i = 0; i < columns && len < sizeof(text) - 256; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "c%lld", (long long)i);
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s", i > 0 ? "," : "");
        len += (size_t)snprintf(text + len, sizeof(text) - len, field, i < 4 ? names[i] : name,
                                i == 3 ? "string" : "long");
    }
    len += (size_t)snprintf(text + len, sizeof(text) - len, "]}");
    return silt_schema_from_json(&actor->env, text, len, out, err);
}

static bool add_column(struct work *work)
{
    silt_schema *schema = NULL;
    silt_error err = SILT_ERROR_INIT;
    silt_status status = make_schema(work->actor, record_of(work)->columns + 1, &schema, &err);
    if (status == SILT_OK) {
        status = silt_txn_set_schema(work->txn, schema, &err);
    }
    silt_schema_unref(schema);
    return call_worked(work, "adding a column", status, &err);
}

static bool reads_rows(enum sim_op op)
{
    return op == SIM_INSERT_SELECT || op == SIM_UPDATE || op == SIM_UPSERT || op == SIM_DELETE;
}

static bool set_domain(struct work *work)
{
    char text[32];
    silt_error err = SILT_ERROR_INIT;
    (void)snprintf(text, sizeof(text), "%lld", (long long)record_of(work)->domain + 1);
    return call_worked(work, "setting a domain", silt_txn_set_domain(work->txn, "sim.domain", text, &err), &err);
}

static bool enable_timestamps(struct work *work)
{
    silt_error err = SILT_ERROR_INIT;
    const char *now = silt_snapshot_property_get(work->actor->snapshot, "delta.enableInCommitTimestamps");
    if (now != NULL && strcmp(now, "true") == 0) {
        work->good = false; /* nothing to do */
        return false;
    }
    return call_worked(work, "enabling timestamps",
                       silt_txn_set_property(work->txn, "delta.enableInCommitTimestamps", "true", &err), &err);
}

static bool do_steps(struct work *work, const struct sim_plan *plan)
{
    switch (record_of(work)->op) {
    case SIM_INSERT:
    case SIM_STREAM: return insert(work, 3);
    case SIM_INSERT_SELECT: return insert_select(work, plan->files, plan->n);
    case SIM_UPDATE:
    case SIM_UPSERT:
    case SIM_DELETE: return change_rows(work, plan->files, plan->n);
    case SIM_OVERWRITE: return overwrite(work);
    case SIM_COMPACT: return compact(work, plan->files, plan->n);
    case SIM_RESTAT: return restat(work, plan->files, plan->n);
    case SIM_COUNT_UP: return count_up(work);
    case SIM_ADD_COLUMN: return add_column(work);
    case SIM_SET_DOMAIN: return set_domain(work);
    case SIM_ENABLE_ICT: return enable_timestamps(work);
    default: return work->good;
    }
}

static bool perform(struct work *work)
{
    const enum sim_op op = record_of(work)->op;
    const struct sim_range all = {.kind = SIM_RANGE_ALL};
    const struct sim_range range = reads_rows(op) ? record_of(work)->range : all;
    struct sim_plan plan = {0};
    if ((reads_rows(op) || op == SIM_COMPACT || op == SIM_RESTAT) &&
        !sim_actor_plan(work->actor, work->actor->snapshot, &range, &plan)) {
        work->good = false;
        return false;
    }
    const bool good = (!reads_rows(op) || say_read(work, &range, plan.scan)) && do_steps(work, &plan);
    silt_scan_unref(plan.scan);
    return good;
}

/* ---- committing ---- */

static size_t new_record(struct sim_actor *actor, enum sim_op op)
{
    struct sim_world *world = actor->world;
    struct sim_txn *record = sim_list_push(world, &world->txns, sizeof(*record));
    *record = (struct sim_txn){.op = op,
                               .actor = actor->index,
                               .read_version = -1,
                               .range = choose_range(world, op),
                               .app = -1,
                               .version = -1,
                               .landed = -1};
    return world->txns.n - 1;
}

/* The transaction's name in the log, by which the checker finds it. */
static bool name_txn(struct work *work)
{
    char name[32];
    silt_error err = SILT_ERROR_INIT;
    (void)snprintf(name, sizeof(name), "sim-%zu", work->index);
    return call_worked(work, "naming", silt_txn_set_user_metadata(work->txn, name, &err), &err);
}

static void note_outcome(struct work *work, silt_status status, const silt_commit_result *result, const silt_error *err)
{
    struct sim_world *world = work->actor->world;
    struct sim_txn *record = record_of(work);
    record->version = result->version;
    switch (result->outcome) {
    case SILT_COMMIT_COMMITTED: record->outcome = SIM_COMMITTED; break;
    case SILT_COMMIT_SKIPPED: record->outcome = SIM_SKIPPED; break;
    case SILT_COMMIT_UNKNOWN: record->outcome = SIM_UNKNOWN; break;
    case SILT_COMMIT_CONFLICT: record->outcome = status == SILT_ECONFLICT ? SIM_CONFLICT : SIM_FAILED; break;
    }
    sim_trace(work->actor, "t%zu %s: %s version %lld, %u attempts %s", work->index, sim_op_name(record->op),
              record->outcome == SIM_COMMITTED  ? "COMMITTED"
              : record->outcome == SIM_SKIPPED  ? "SKIPPED"
              : record->outcome == SIM_UNKNOWN  ? "UNKNOWN"
              : record->outcome == SIM_CONFLICT ? "CONFLICT"
                                                : "FAILED",
              (long long)result->version, result->attempts, status != SILT_OK ? err->message : "");
    if (record->outcome == SIM_COMMITTED && result->version > world->acked) {
        world->acked = result->version;
    }
    world->n_conflicts += record->outcome == SIM_CONFLICT ? 1 : 0;
    world->n_unknown += record->outcome == SIM_UNKNOWN ? 1 : 0;
    const bool blind = record->op == SIM_INSERT || record->op == SIM_STREAM;
    if (blind && record->outcome == SIM_CONFLICT && result->conflict != SILT_CONFLICT_METADATA_CHANGED &&
        result->conflict != SILT_CONFLICT_PROTOCOL_CHANGED &&
        !(work->limited && result->conflict == SILT_CONFLICT_RETRIES_EXHAUSTED) &&
        !(result->conflict == SILT_CONFLICT_CONCURRENT_WRITE &&
          !sim_store_has_commit(world, record->read_version + 1)) &&
        (record->app < 0 || result->conflict != SILT_CONFLICT_CONCURRENT_TRANSACTION)) {
        sim_break(world, "t%zu: a blind append met the conflict %d: %s", work->index, (int)result->conflict,
                  err->message);
    }
    const bool consistent = record->outcome == SIM_UNKNOWN    ? status == SILT_EUNKNOWN
                            : record->outcome == SIM_CONFLICT ? true
                            : record->outcome == SIM_FAILED   ? status != SILT_OK
                                                              : status == SILT_OK;
    if (!consistent) {
        sim_break(world, "t%zu: status %s with outcome %d", work->index, silt_status_name(status),
                  (int)result->outcome);
    }
}

/* Sometimes it gives up early. */
static bool set_limits(struct work *work)
{
    struct sim_world *world = work->actor->world;
    silt_commit_options options = {.size = sizeof(options)};
    silt_error err = SILT_ERROR_INIT;
    if (work->actor->fiber == NULL || !sim_chance(world, world->knobs.limited)) {
        return true;
    }
    work->limited = true;
    options.max_attempts = sim_chance(world, 500000) ? (uint32_t)(1 + sim_below(world, 3)) : 0;
    options.time_limit_us = sim_chance(world, 500000) ? 1 + sim_below(world, 100000) : 0;
    options.resolve_us = sim_chance(world, 500000) ? 1 + sim_below(world, 1000000) : 0;
    return call_worked(work, "setting limits", silt_txn_set_commit_options(work->txn, &options, &err), &err);
}

static void commit(struct work *work)
{
    if (!set_limits(work)) {
        return;
    }
    silt_commit_result result = {.size = sizeof(result), .version = -1};
    silt_error err = SILT_ERROR_INIT;
    const silt_status status = silt_txn_commit(work->txn, sim_actor_call(work->actor), &result, &err);
    note_outcome(work, status, &result, &err);
    if (record_of(work)->outcome == SIM_FAILED) {
        (void)sim_actor_excuse(work->actor, "committing", status, &err);
    }
}

/* Ends the transaction: without a commit nothing of it may ever be seen. */
static void finish(struct work *work)
{
    silt_txn_free(work->txn);
    work->txn = NULL;
    struct sim_txn *record = record_of(work);
    if (record->outcome == SIM_RUNNING) {
        record->outcome = SIM_FAILED;
    }
    const bool may_be_there = record->outcome == SIM_UNKNOWN && work->actor->world->bug != SIM_BUG_CLEAN_UNKNOWN;
    if (record->outcome != SIM_COMMITTED && !may_be_there) {
        remove_staged(work);
    }
}

/* Begins at the snapshot that the actor holds. */
static bool begin(struct work *work)
{
    struct sim_actor *actor = work->actor;
    silt_error err = SILT_ERROR_INIT;
    const silt_status status = silt_txn_begin_at(actor->table, actor->snapshot, sim_op_name(record_of(work)->op),
                                                 &work->txn, &err);
    if (!call_worked(work, "beginning", status, &err)) {
        return false;
    }
    struct sim_txn *record = record_of(work);
    record->read_version = silt_txn_read_version(work->txn);
    record->counter = sim_snapshot_counter(actor->snapshot);
    record->domain = sim_snapshot_domain(actor->snapshot);
    record->columns = (int64_t)silt_schema_field_count(silt_snapshot_schema(actor->snapshot));
    actor->writing = (int32_t)work->index;
    sim_trace(actor, "t%zu %s begins at version %lld", work->index, sim_op_name(record->op),
              (long long)record->read_version);
    return name_txn(work);
}

void sim_do_write(struct sim_actor *actor, enum sim_op op)
{
    /* A snapshot that is old is as good: only conflicts are more likely. */
    const bool old = actor->snapshot != NULL && sim_chance(actor->world, 250000);
    if (!old && !sim_actor_refresh(actor)) {
        return;
    }
    struct work work = {.actor = actor, .index = new_record(actor, op), .good = true};
    if (begin(&work) && perform(&work)) {
        commit(&work);
    }
    finish(&work);
}

bool sim_do_create(struct sim_actor *actor)
{
    const struct sim_world *world = actor->world;
    struct work work = {.actor = actor, .index = new_record(actor, SIM_CREATE), .good = true};
    static const char *const partition[] = {"p"};
    char interval[16];
    (void)snprintf(interval, sizeof(interval), "%d", world->knobs.checkpoint_interval);
    const silt_property properties[] = {
        {"delta.checkpointInterval", interval},
        {"delta.feature.domainMetadata", "supported"},
        {"delta.enableInCommitTimestamps", world->knobs.timestamps ? "true" : "false"},
        {"delta.checkpointPolicy", world->knobs.v2 ? "v2" : "classic"},
        {"delta.enableRowTracking", world->knobs.row_ids ? "true" : "false"},
        {"delta.logRetentionDuration", world->knobs.expires ? "interval 1 day" : "interval 30 days"},
        {"delta.isolationLevel",
         world->knobs.serializable && world->bug != SIM_BUG_WRONG_ISOLATION ? "Serializable" : "WriteSerializable"},
    };
    silt_error err = SILT_ERROR_INIT;
    silt_schema *schema = NULL;
    silt_status status = make_schema(actor, 4, &schema, &err);
    const silt_create_options options = {.size = sizeof(options),
                                         .schema = schema,
                                         .partition_columns = partition,
                                         .n_partition_columns = world->knobs.partitioned ? 1 : 0,
                                         .properties = properties,
                                         .n_properties = sizeof(properties) / sizeof(properties[0])};
    if (status == SILT_OK) {
        status = silt_txn_begin_create(actor->table, sim_actor_call(actor), &options, "CREATE TABLE", &work.txn, &err);
    }
    silt_schema_unref(schema);
    bool there = status == SILT_EEXISTS;
    if (there) {
        sim_trace(actor, "the table is there");
        actor->world->acked = actor->world->acked > 0 ? actor->world->acked : 0;
    } else if (call_worked(&work, "beginning to create", status, &err) && name_txn(&work)) {
        commit(&work);
        there = record_of(&work)->outcome == SIM_COMMITTED;
    }
    finish(&work);
    return there;
}

/* ---- a streaming job ---- */

static void append_epoch(struct sim_actor *actor)
{
    struct work work = {.actor = actor, .index = new_record(actor, SIM_STREAM), .good = true};
    record_of(&work)->app = actor->app;
    record_of(&work)->app_version = actor->epoch;
    silt_error err = SILT_ERROR_INIT;
    if (begin(&work) &&
        call_worked(&work, "setting an application id",
                    silt_txn_set_app_id(work.txn, sim_app_name(actor->app), actor->epoch, &err), &err) &&
        perform(&work)) {
        commit(&work);
    }
    finish(&work);
    const enum sim_outcome outcome = record_of(&work)->outcome;
    if (outcome == SIM_COMMITTED || outcome == SIM_SKIPPED) {
        actor->epoch = -1; /* the next one is chosen by what the table says */
    }
}

/*
 * An epoch is tried until it is in the table, also by the process that comes after a crash, which does not know whether it is. Several
 * actors may have the same id, as when a job was started twice.
 */
void sim_do_stream(struct sim_actor *actor)
{
    if (actor->app < 0) {
        actor->app = (int)sim_below(actor->world, SIM_APPS);
    }
    for (int i = 0; i < 3; i++) {
        if (!sim_actor_refresh(actor)) {
            return;
        }
        if (actor->epoch < 0) {
            actor->epoch = silt_snapshot_app_version(actor->snapshot, sim_app_name(actor->app)) + 1;
        }
        append_epoch(actor);
    }
}
