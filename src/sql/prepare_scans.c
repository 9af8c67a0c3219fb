/*
 * From a table reference to a scan in the text: which table it means, at which version, which files its conditions leave, and the subquery
 * that takes the reference's place.
 */
#include "base/arrow.h"
#include "base/error.h"
#include "base/quote.h"
#include "base/time.h"
#include "base/uri.h"
#include "kernel/engine/engine.h"
#include "kernel/log/commit.h"
#include "kernel/scan/metadata_column.h"
#include "schema/value.h"
#include "sql/marks.h"
#include "sql/pins.h"
#include "sql/plane_row.h"
#include "sql/prepare_int.h"
#include "sql/refs.h"
#include "sql/resident.h"
#include "sql/table_name.h"

void sl_prepare_release(struct sl_prepare *prepare)
{
    for (size_t i = 0; i < prepare->splices.len; i++) {
        sl_buf_release(&((struct sl_splice *)sl_vec_at(&prepare->splices, i))->text);
    }
    sl_vec_release(&prepare->splices);
    sl_hidden_release(&prepare->hidden);
    sl_mentioned_release(&prepare->mentioned);
}

/* One value of a query, as text. */
static silt_status evaluate(struct sl_prepare *prepare, struct sl_str sql, struct sl_str *out, silt_error *err)
{
    struct sl_plane_row row;
    silt_value value;
    silt_status status = SILT_OK;

    SL_TRY(sl_plane_row_get(&prepare->query->plane, prepare->call, sql, prepare->params, &row, err));
    if (!sl_plane_row_value(&row, 0, &value) || value.kind != SILT_TYPE_STRING) {
        status = sl_fail(err, SILT_EINVALID, "DELTA_INVALID_TIME_TRAVEL_SPEC",
                         "a version or time to travel to is null");
    } else {
        *out = sl_arena_copy(&prepare->query->arena, sl_value_get_str(&value));
        status = out->ptr != NULL ? SILT_OK : sl_fail_nomem(err);
    }
    sl_plane_row_release(&row);
    return status;
}

/* Time travel by an expression of the query's own language. */
static silt_status travel_to(struct sl_prepare *prepare, struct sl_table_ref *ref, const struct sl_travel_note *note,
                             struct sl_table_name *name, silt_error *err)
{
    struct sl_buf sql;
    struct sl_spelled spelled;
    struct sl_str text = {0};
    silt_status status;
    bool good;

    sl_buf_init(&sql, prepare->session->env);
    sl_spelled_init(&spelled, prepare->session->env);
    spelled.n_marks = note->n_marks;
    status = sl_spell(note->expr, &spelled, err);
    sl_buf_put_c(&sql, "SELECT CAST(CAST((");
    sl_buf_put_str(&sql, sl_buf_view(&spelled.text));
    /* As text and not as BIGINT: that would round 1.5 to a version. */
    sl_buf_put_c(&sql,
                 note->is_version ? ") AS VARCHAR) AS VARCHAR)" : ") AS TIMESTAMPTZ) AT TIME ZONE 'UTC' AS VARCHAR)");
    ref->n_marks = sl_marks_highest(sl_buf_view(&spelled.text));
    sl_marks_put(&sql, ref->n_marks);
    if (status == SILT_OK) {
        status = sl_buf_status(&sql, err);
    }
    if (status == SILT_OK) {
        status = evaluate(prepare, sl_buf_view(&sql), &text, err);
    }
    sl_spelled_release(&spelled);
    sl_buf_release(&sql);
    if (status != SILT_OK && status != SILT_ESCHEMA) {
        return status;
    }
    if (status != SILT_OK) {
        silt_error_reset(err);
        good = false; /* it cannot be cast */
    } else if (note->is_version) {
        name->travel = SL_TRAVEL_VERSION;
        good = sl_str_to_i64(sl_str_trim(text), &name->version);
    } else {
        bool has_zone = false;
        name->travel = SL_TRAVEL_TIMESTAMP;
        name->timestamp_has_zone = true; /* the answer is in UTC */
        good = sl_timestamp_parse(text, &name->timestamp_us, &has_zone);
    }
    return good ? SILT_OK
                : sl_fail(err, SILT_EINVALID, "DELTA_INVALID_TIME_TRAVEL_SPEC", "%.*s is no %s to travel to",
                          SL_FMT(note->expr), note->is_version ? "version" : "time");
}

/* The version that a reference asks for by a clause that was taken out of the text, by AT, or by a suffix in its name. */
static silt_status read_travel(struct sl_prepare *prepare, struct sl_table_ref *ref, size_t location,
                               struct sl_table_name *name, silt_error *err)
{
    struct sl_str *last = &name->parts[name->n_parts - 1];

    for (size_t i = 0; i < prepare->spelled->travels.len; i++) {
        struct sl_travel_note *note = sl_vec_at(&prepare->spelled->travels, i);
        if (note->table != location) {
            continue;
        }
        note->used = true;
        if (note->is_suffix) {
            (void)sl_travel_suffix_parse(note->expr, name); /* the speller took it because it parses */
            return SILT_OK;
        }
        return travel_to(prepare, ref, note, name, err);
    }
    if (ref->at_clause != NULL) {
        struct sl_str unit = {0};
        struct sl_str text = sl_buf_view(&prepare->spelled->text);
        size_t begin = 0;
        size_t end = 0;
        (void)sl_json_to_str(sl_json_member(ref->at_clause, "unit"), &unit); /* absent fails the comparison */
        if (!sl_prepare_find_at(text, location, &begin, &end)) {
            return sl_fail(err, SILT_ESYNTAX, "PARSE_SYNTAX_ERROR", "cannot find the AT clause of %.*s", SL_FMT(*last));
        }
        const struct sl_travel_note note = {.is_version = sl_str_eq_c(unit, "VERSION"),
                                            .expr = sl_prepare_at_expr(text, begin, end)};
        return travel_to(prepare, ref, &note, name, err);
    }
    for (size_t i = last->len; i > 1; i--) {
        if (last->ptr[i - 1] == '@') {
            if (sl_travel_suffix_parse(sl_str_sub(*last, i, last->len), name)) {
                *last = sl_str_sub(*last, 0, i - 1);
            }
            break;
        }
    }
    return SILT_OK;
}

/* Partition values of timestamps that name no zone are taken in the session's, as Delta Spark does. */
static silt_status local_time(void *ctx, int64_t wall_us, int64_t *instant_us, silt_error *err)
{
    const struct sl_prepare *prepare = ctx;
    return sl_session_local_to_utc(prepare->session, prepare->call, wall_us, instant_us, err);
}

/* All columns, and "_metadata" after them, unless the table has a column of that name itself. */
static silt_status project_metadata(const silt_env *env, const silt_snapshot *snapshot, silt_scan_builder *builder,
                                    bool *added, silt_error *err)
{
    const silt_schema *schema = silt_snapshot_schema(snapshot);
    const size_t n = silt_schema_field_count(schema);
    if (sl_type_find(&schema->root, SL_STR(SL_METADATA_NAME), NULL) != NULL) {
        return SILT_OK;
    }
    struct sl_arena arena;
    sl_arena_init(&arena, env);
    const char **names = sl_arena_alloc_array(&arena, n + 1, sizeof(*names));
    for (size_t i = 0; names != NULL && i < n; i++) {
        names[i] = silt_field_name(silt_schema_field(schema, i));
    }
    if (names != NULL) {
        names[n] = SL_METADATA_NAME;
    }
    const silt_status status = names != NULL ? silt_scan_builder_project(builder, names, n + 1, err)
                                             : sl_fail_nomem(err);
    *added = status == SILT_OK;
    sl_arena_release(&arena);
    return status;
}

/* The kernel's plan of a reference. */
static silt_status plan_scan(struct sl_prepare *prepare, struct sl_table_ref *ref, struct sl_table_name *name,
                             silt_scan **out, silt_error *err)
{
    silt_session *session = prepare->session;
    bool utc = sl_str_eq_nocase(sl_str_from(session->time_zone), SL_STR("UTC"));
    silt_table *table = NULL;
    silt_snapshot *snapshot = NULL;
    silt_scan_builder *builder = NULL;
    silt_status status = sl_session_snapshot(session, prepare->call, name, &table, &snapshot, err);

    if (status == SILT_OK && silt_schema_field_count(silt_snapshot_schema(snapshot)) == 0) {
        status = sl_fail(err, SILT_ESCHEMA, "DELTA_READ_TABLE_WITHOUT_COLUMNS",
                         "%s has no columns, so there is nothing to read", silt_table_uri(table));
    }
    if (status == SILT_OK) {
        status = silt_scan_builder_new(snapshot, &builder, err);
    }
    if (status == SILT_OK && !utc) {
        status = silt_scan_builder_local_time(builder, local_time, prepare, err);
    }
    if (status == SILT_OK) {
        status = sl_prepare_pruning(prepare, ref, snapshot, builder, err);
    }
    if (status == SILT_OK && ref->wants_metadata) {
        status = project_metadata(session->env, snapshot, builder, &ref->has_metadata, err);
    }
    if (status == SILT_OK) {
        status = silt_scan_builder_build(builder, prepare->call, out, err);
    }
    silt_scan_builder_free(builder);
    silt_snapshot_unref(snapshot);
    silt_table_unref(table);
    return status;
}

/* Does a query say a name that the data plane's tables have beside their columns? */
static bool says_virtual(struct sl_str sql)
{
    static const char *const names[] = SL_DATAPLANE_VIRTUAL;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const size_t len = strlen(names[i]);
        for (size_t at = 0; at + len <= sql.len; at++) {
            if (sl_str_eq_nocase(sl_str_sub(sql, at, at + len), sl_str_make(names[i], len))) {
                return true;
            }
        }
    }
    return false;
}

/* A scan in place of a table's name: the subquery, or the table below it where nothing is selected from that. */
static void put_table(struct sl_buf *out, struct sl_str scan, struct sl_str sql, size_t n_marks)
{
    static const struct sl_str from = {"FROM ", 5};
    if (n_marks > 0) {
        sl_buf_printf(out, "(SELECT * FROM (%.*s)", SL_FMT(scan));
        sl_marks_put(out, n_marks);
        sl_buf_put_char(out, ')');
        return;
    }
    if (sl_str_starts_with(scan, from) && !says_virtual(sql)) {
        sl_buf_put_str(out, sl_str_sub(scan, from.len, scan.len));
        return;
    }
    sl_buf_put_char(out, '(');
    sl_buf_put_str(out, scan);
    sl_buf_put_char(out, ')');
}

silt_status sl_prepare_open(struct sl_prepare *prepare, const silt_scan_plan *plan, silt_scan *scan, struct sl_buf *sql,
                            silt_error *err)
{
    struct sl_prepared_query *query = prepare->query;
    struct sl_buf text;
    silt_scan_plan narrowed = *plan;
    SL_TRY(sl_mentioned_columns(&query->arena, &prepare->mentioned, plan, &narrowed.may_read, err));
    sl_buf_init(&text, prepare->session->env);
    silt_status status = query->plane.vtable->scan_open(query->plane.dp, &narrowed, &query->scans[query->n_scans],
                                                        &text, err);
    if (status == SILT_OK) {
        query->kernel_scans[query->n_scans] = silt_scan_ref(scan);
        query->may_read[query->n_scans] = narrowed.may_read;
        query->n_scans++;
        sl_hidden_put_scan(sql, &prepare->hidden, sl_buf_view(&text), plan);
        status = sl_buf_status(sql, err);
    }
    sl_buf_release(&text);
    return status;
}

/* Opens the scan in the data plane and notes the subquery. The conditions stay in the text: the plan only prunes files. */
static silt_status open_scan(struct sl_prepare *prepare, struct sl_table_ref *ref, silt_scan *scan, size_t begin,
                             size_t end, silt_error *err)
{
    silt_scan_plan plan = *silt_scan_get_plan(scan);
    struct sl_splice *splice = sl_prepare_add_splice(prepare, begin, end);

    if (splice == NULL) {
        return sl_fail_nomem(err);
    }
    plan.filter = NULL;
    struct sl_buf text;
    sl_buf_init(&text, prepare->session->env);
    const silt_status status = sl_prepare_open(prepare, &plan, scan, &text, err);
    if (status == SILT_OK) {
        ref->scan = scan;
        put_table(&splice->text, sl_buf_view(&text), sl_buf_view(&prepare->spelled->text), ref->n_marks);
    }
    sl_buf_release(&text);
    if (status != SILT_OK) {
        return status;
    }
    if (ref->alias.ptr == NULL) {
        sl_buf_put_c(&splice->text, " AS ");
        sl_quote_put(&splice->text, ref->table, '"');
    }
    return sl_buf_status(&splice->text, err);
}

/* A path whose last part has neither an ending nor a wildcard: no file that the data plane could tell the kind of. */
static bool names_a_folder(const struct sl_table_name *name)
{
    const struct sl_str path = name->parts[0];
    size_t begin = path.len;

    if (!name->is_path || sl_str_find(path, SL_STR("/")) == SIZE_MAX) {
        return false;
    }
    while (begin > 0 && path.ptr[begin - 1] != '/') {
        begin--;
    }
    for (size_t i = begin; i < path.len; i++) {
        if (memchr(".*?[", path.ptr[i], 4) != NULL) {
            return false;
        }
    }
    return true;
}

/*
 * Opens the table at a location, if there is one, instead of only looking whether there is: the statement is about to read it, and looking would
 * be a round by itself.
 */
static silt_status open_ours(struct sl_prepare *prepare, struct sl_str uri, bool *out, silt_error *err)
{
    silt_table *table = NULL;
    silt_snapshot *snapshot = NULL;
    SL_TRY(silt_table_for_path(prepare->session->engine, uri.ptr, &table, err));
    silt_status status = sl_session_newest(prepare->session, prepare->call, table, &snapshot, err);
    if (status == SILT_OK) {
        status = sl_session_pin(prepare->session, snapshot, err);
        *out = true;
    } else {
        *out = status != SILT_ENOTTABLE; /* what is wrong with a table, who opens it once more says */
        silt_error_reset(err);
        status = SILT_OK;
    }
    silt_snapshot_unref(snapshot);
    silt_table_unref(table);
    return status;
}

static silt_status is_table(struct sl_prepare *prepare, const struct sl_table_name *name, struct sl_str uri, bool *out,
                            silt_error *err)
{
    silt_storage *storage = NULL;
    if (sl_session_pinned(prepare->session, uri.ptr) != NULL || sl_session_is_resident(prepare->session, uri)) {
        *out = true; /* has it been dropped meanwhile? Its opening says so */
        return SILT_OK;
    }
    SL_TRY(sl_engine_storage(prepare->session->engine, uri.ptr, &storage, err));
    return !name->is_path && name->travel == SL_TRAVEL_NONE &&
                   sl_engine_asks_at_once(prepare->session->engine, storage, uri.ptr)
               ? open_ours(prepare, uri, out, err)
               : sl_session_is_table(prepare->session, prepare->call, uri, out, err);
}

/* Is this name a Delta table of ours? What is not is left to the data plane. */
static silt_status is_ours(struct sl_prepare *prepare, const struct sl_table_ref *ref, struct sl_table_name *name,
                           bool *out, silt_error *err)
{
    struct sl_str uri = {0};
    silt_status status;

    *out = false;
    if (ref->schema.ptr != NULL && sl_str_eq_nocase(ref->schema, SL_STR("delta"))) {
        *out = true;
        return SILT_OK;
    }
    bool is_temporary = false;
    SL_TRY(sl_session_is_temporary(prepare->session, prepare->call, name, &is_temporary, err));
    if (is_temporary) {
        return SILT_OK;
    }
    if (names_a_folder(name)) {
        *out = true; /* whether a table is there, its opening says: a store need not be asked twice */
        return SILT_OK;
    }
    status = sl_session_resolve(prepare->session, &prepare->query->arena, name, &uri, err);
    if (status == SILT_OK) {
        status = is_table(prepare, name, uri, out, err);
    }
    if (status == SILT_EINVALID || status == SILT_EUNSUPPORTED) {
        /* No place where a table of ours could be: the data plane says what it is. A store that fails is no such answer. */
        silt_error_reset(err);
        status = SILT_OK;
        *out = false;
    }
    return status;
}

/* The name parts of a reference. 'path' and "path" look alike in the tree: what has a slash or a scheme, or stands in single quotes, is one. */
static void name_of(const struct sl_table_ref *ref, char first_byte, struct sl_table_name *name)
{
    *name = (struct sl_table_name){0};
    if (ref->schema.ptr != NULL && sl_str_eq_nocase(ref->schema, SL_STR("delta")) && ref->catalog.ptr == NULL) {
        name->parts[name->n_parts++] = ref->table;
        name->is_path = true;
        return;
    }
    if (ref->catalog.ptr != NULL) {
        name->parts[name->n_parts++] = ref->catalog;
    }
    if (ref->schema.ptr != NULL) {
        name->parts[name->n_parts++] = ref->schema;
    }
    name->parts[name->n_parts++] = ref->table;
    name->quoted_path = name->n_parts == 1 && (first_byte == '\'' || first_byte == '"');
    name->is_path = name->quoted_path && (first_byte == '\'' || sl_str_find(ref->table, SL_STR("/")) != SIZE_MAX ||
                                          sl_uri_scheme(ref->table).ptr != NULL);
}

static silt_status prepare_ref(struct sl_prepare *prepare, struct sl_table_ref *ref, size_t base, silt_error *err)
{
    struct sl_str text = sl_buf_view(&prepare->spelled->text);
    size_t location = base + ref->location;
    struct sl_table_name name = {0};
    silt_scan *scan = NULL;
    size_t begin = 0;
    size_t end = 0;
    bool ours = false;
    silt_status status;

    if (ref->location == SIZE_MAX || location >= text.len) {
        return SILT_OK;
    }
    if (ref->kind != SL_REF_TABLE) {
        status = sl_prepare_changes(prepare, ref, location, err);
        if (status != SILT_OK) {
            sl_error_position(err, prepare->query->offset + sl_offset_map_back(prepare->query->spelling, location));
        }
        return status;
    }
    name_of(ref, text.ptr[location], &name);
    status = read_travel(prepare, ref, location, &name, err);
    if (status == SILT_OK) {
        status = is_ours(prepare, ref, &name, &ours, err);
    }
    if (status == SILT_OK && ours) {
        status = plan_scan(prepare, ref, &name, &scan, err);
    }
    if (status == SILT_OK && !ours) {
        return SILT_OK;
    }
    if (status != SILT_OK) {
        sl_error_position(err, prepare->query->offset + sl_offset_map_back(prepare->query->spelling, location));
        return status;
    }
    status = open_scan(prepare, ref, scan, location, sl_prepare_name_end(text, location), err);
    if (status == SILT_OK && ref->at_clause != NULL && sl_prepare_find_at(text, location, &begin, &end) &&
        sl_prepare_add_splice(prepare, begin, end) == NULL) {
        status = sl_fail_nomem(err);
    }
    silt_scan_unref(scan);
    return status;
}

silt_status sl_prepare_scans(struct sl_prepare *prepare, struct sl_vec *refs, size_t base, silt_error *err)
{
    struct sl_prepared_query *query = prepare->query;

    query->scans = sl_arena_alloc_array(&query->arena, 2 * refs->len + 1, sizeof(*query->scans));
    query->kernel_scans = sl_arena_alloc_array(&query->arena, 2 * refs->len + 1, sizeof(*query->kernel_scans));
    query->may_read = sl_arena_alloc_array(&query->arena, 2 * refs->len + 1, sizeof(*query->may_read));
    if (query->scans == NULL || query->kernel_scans == NULL || query->may_read == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < refs->len; i++) {
        SL_TRY(prepare_ref(prepare, sl_vec_at(refs, i), base, err));
    }
    query->reads_delta_tables = query->n_scans > 0;
    return SILT_OK;
}
