/*
 * silt schema: the columns of a snapshot as a tree, as the JSON of the log, or as rows.
 */
#include "cli/commands.h"

#include "base/error.h"
#include "cli/print.h"
#include "cli/report_error.h"
#include "cli/row_stream.h"
#include "cli/schema_text.h"
#include "cli/sql_text.h"
#include "cli/table_arg.h"
#include "cli/text_width.h"

#define BRANCH "\xE2\x94\x9C\xE2\x94\x80 " /* ├─ */
#define CORNER "\xE2\x94\x94\xE2\x94\x80 " /* └─ */
#define TRUNK "\xE2\x94\x82  "             /* │ */

static bool is_partition(const silt_snapshot *snapshot, const char *name)
{
    for (size_t i = 0; i < silt_snapshot_partition_count(snapshot); i++) {
        if (sl_str_eq_nocase(sl_str_from(silt_snapshot_partition_column(snapshot, i)), sl_str_from(name))) {
            return true;
        }
    }
    return false;
}

/* ---- the tree ---- */

struct tree {
    struct sl_cli *cli;
    const silt_snapshot *snapshot;
    struct sl_buf prefix; /* what stands in front of the lines of this level */
};

static void put_children(struct tree *tree, const silt_type *type);

/* One line, and those below it. field is NULL for elements, keys and values. */
static void put_node(struct tree *tree, const char *name, const silt_type *type, const silt_field *field, bool is_last)
{
    struct sl_buf *out = &tree->cli->out.buf;
    const size_t prefix_len = tree->prefix.len;
    const bool is_top = prefix_len == 0 && field != NULL;

    sl_buf_put_str(out, sl_str_make(sl_buf_cstr(&tree->prefix), prefix_len));
    sl_buf_put_c(out, is_last ? CORNER : BRANCH);
    sl_buf_put_str(out, sl_text_displayable(&tree->cli->arena, sl_str_from(name)));
    sl_buf_put_c(out, ": ");
    sl_schema_put_outline(out, type);
    if (field != NULL) {
        const struct sl_str comment = sl_schema_comment(&tree->cli->arena, tree->cli->env, field);
        sl_buf_put_c(out, silt_field_nullable(field) ? "" : ", not null");
        sl_buf_put_c(out, is_top && is_partition(tree->snapshot, name) ? ", partition" : "");
        if (comment.ptr != NULL) {
            sl_buf_put_c(out, "  -- ");
            sl_buf_put_str(out, sl_text_displayable(&tree->cli->arena, comment));
        }
    }
    sl_buf_put_char(out, '\n');
    sl_out_step(&tree->cli->out);
    if (sl_schema_has_fields(type)) {
        sl_buf_put_c(&tree->prefix, is_last ? "   " : TRUNK);
        put_children(tree, type);
        tree->prefix.len = prefix_len;
    }
}

static void put_children(struct tree *tree, const silt_type *type)
{
    switch (silt_type_get_kind(type)) {
    case SILT_TYPE_STRUCT:
        for (size_t i = 0; i < silt_type_field_count(type); i++) {
            const silt_field *field = silt_type_field(type, i);
            put_node(tree, silt_field_name(field), silt_field_type(field), field, i + 1 == silt_type_field_count(type));
        }
        break;
    case SILT_TYPE_ARRAY: put_node(tree, "element", silt_type_element(type), NULL, true); break;
    case SILT_TYPE_MAP:
        put_node(tree, "key", silt_type_key(type), NULL, false);
        put_node(tree, "value", silt_type_value(type), NULL, true);
        break;
    default: break;
    }
}

static silt_status print_tree(struct sl_cli *cli, const struct sl_table_arg *arg, const silt_snapshot *snapshot,
                              silt_error *err)
{
    const silt_schema *schema = silt_snapshot_schema(snapshot);
    const size_t n = silt_schema_field_count(schema);
    struct tree tree = {.cli = cli, .snapshot = snapshot};

    sl_buf_init(&tree.prefix, cli->env);
    sl_buf_put_str(&cli->out.buf, sl_text_displayable(&cli->arena, sl_str_from(arg->name)));
    sl_buf_printf(&cli->out.buf, ", version %lld\n", (long long)silt_snapshot_version(snapshot));
    for (size_t i = 0; i < n; i++) {
        const silt_field *field = silt_schema_field(schema, i);
        put_node(&tree, silt_field_name(field), silt_field_type(field), field, i + 1 == n);
    }
    const silt_status status = sl_buf_status(&tree.prefix, err);
    sl_buf_release(&tree.prefix);
    return status;
}

/* ---- rows ---- */

struct walk {
    struct sl_cli *cli;
    const silt_snapshot *snapshot;
    struct sl_row_stream rows;
    struct sl_buf path; /* a.element.b */
};

/* A name within a path, quoted if it could be read as several. */
static void put_path_name(struct sl_buf *path, struct sl_str name)
{
    const bool quote = sl_str_find(name, SL_STR(".")) != SIZE_MAX || sl_str_find(name, SL_STR("`")) != SIZE_MAX;
    sl_buf_put_c(path, path->len > 0 ? "." : "");
    if (quote) {
        sl_sql_put_name(path, name);
    } else {
        sl_buf_put_str(path, name);
    }
}

static silt_status add_row(struct walk *walk, const silt_field *field, bool is_top, silt_error *err)
{
    struct sl_buf type;
    sl_buf_init(&type, walk->cli->env);
    sl_schema_put_type(&type, silt_field_type(field));
    silt_status status = sl_buf_status(&type, err);
    if (status == SILT_OK) {
        status = sl_row_stream_text(&walk->rows, sl_str_make(sl_buf_cstr(&walk->path), walk->path.len), err);
    }
    if (status == SILT_OK) {
        status = sl_row_stream_text(&walk->rows, sl_buf_view(&type), err);
    }
    sl_buf_release(&type);
    SL_TRY(status);
    SL_TRY(sl_row_stream_int(&walk->rows, silt_field_nullable(field), err));
    SL_TRY(sl_row_stream_int(&walk->rows, is_top && is_partition(walk->snapshot, silt_field_name(field)), err));
    return sl_row_stream_text(&walk->rows, sl_schema_comment(&walk->cli->arena, walk->cli->env, field), err);
}

static silt_status add_field(struct walk *walk, const silt_field *field, silt_error *err);

/* Fields inside a type; arrays and maps put their own step into the path. */
static silt_status add_inner(struct walk *walk, const char *step, const silt_type *type, silt_error *err)
{
    const size_t path_len = walk->path.len;
    if (!sl_schema_has_fields(type)) {
        return SILT_OK;
    }
    if (step != NULL) {
        put_path_name(&walk->path, sl_str_from(step));
    }
    switch (silt_type_get_kind(type)) {
    case SILT_TYPE_STRUCT:
        for (size_t i = 0; i < silt_type_field_count(type); i++) {
            SL_TRY(add_field(walk, silt_type_field(type, i), err));
        }
        break;
    case SILT_TYPE_ARRAY: SL_TRY(add_inner(walk, "element", silt_type_element(type), err)); break;
    case SILT_TYPE_MAP:
        SL_TRY(add_inner(walk, "key", silt_type_key(type), err));
        SL_TRY(add_inner(walk, "value", silt_type_value(type), err));
        break;
    default: break;
    }
    walk->path.len = path_len;
    return SILT_OK;
}

static silt_status add_field(struct walk *walk, const silt_field *field, silt_error *err)
{
    const size_t path_len = walk->path.len;
    put_path_name(&walk->path, sl_str_from(silt_field_name(field)));
    SL_TRY(sl_buf_status(&walk->path, err));
    SL_TRY(add_row(walk, field, path_len == 0, err));
    SL_TRY(add_inner(walk, NULL, silt_field_type(field), err));
    walk->path.len = path_len;
    return SILT_OK;
}

static silt_status print_json(struct sl_cli *cli, const silt_snapshot *snapshot, silt_error *err)
{
    const char *json = silt_schema_json(silt_snapshot_schema(snapshot));
    if (json == NULL) {
        return sl_fail_nomem(err);
    }
    sl_buf_put_c(&cli->out.buf, json);
    sl_buf_put_char(&cli->out.buf, '\n');
    return SILT_OK;
}

static silt_status print_rows(struct sl_cli *cli, const silt_snapshot *snapshot, silt_error *err)
{
    static const struct sl_row_stream_column columns[] = {
        {"name", "u"}, {"type", "u"}, {"nullable", "b"}, {"partition", "b"}, {"comment", "u"}};
    const silt_schema *schema = silt_snapshot_schema(snapshot);
    struct walk walk = {.cli = cli, .snapshot = snapshot};
    struct ArrowArrayStream stream = {0};
    silt_status status;

    sl_buf_init(&walk.path, cli->env);
    status = sl_row_stream_open(&walk.rows, cli->env, columns, sizeof(columns) / sizeof(columns[0]), err);
    for (size_t i = 0; status == SILT_OK && i < silt_schema_field_count(schema); i++) {
        status = add_field(&walk, silt_schema_field(schema, i), err);
    }
    if (status == SILT_OK) {
        status = sl_row_stream_take(&walk.rows, &stream, err);
    }
    if (status == SILT_OK) {
        status = sl_print_stream(cli, sl_cli_format(cli), &stream, NULL, err);
    }
    sl_row_stream_close(&walk.rows);
    sl_buf_release(&walk.path);
    return status;
}

static silt_status show_schema(struct sl_cli *cli, silt_error *err)
{
    struct sl_table_arg table;
    silt_snapshot *snapshot = NULL;
    silt_status status;

    SL_TRY(sl_table_arg_read(cli, &table, err));
    SL_TRY(sl_table_arg_snapshot(cli, &table, &snapshot, err));
    switch (sl_cli_format(cli)) {
    case SL_FORMAT_TABLE: status = print_tree(cli, &table, snapshot, err); break;
    case SL_FORMAT_JSON: status = print_json(cli, snapshot, err); break;
    default: status = print_rows(cli, snapshot, err); break;
    }
    silt_snapshot_unref(snapshot);
    return status;
}

int sl_cmd_schema(struct sl_cli *cli)
{
    silt_error err = SILT_ERROR_INIT;
    return show_schema(cli, &err) == SILT_OK ? SL_EXIT_DONE : sl_report_error(cli, &err, (struct sl_str){0});
}
