/*
 * From TABLE to a table, a snapshot or SQL; see table_arg.h.
 */
#include "cli/table_arg.h"

#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time.h"
#include "cli/sql_text.h"
#include "cli/warehouse.h"

#define STAMP_DIGITS 17 /* yyyyMMddHHmmssSSS */

static bool all_digits(struct sl_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9') {
            return false;
        }
    }
    return text.len > 0;
}

/* 20261129120000000 as 2026-11-29 12:00:00.000 */
static const char *stamp_text(struct sl_arena *arena, struct sl_str digits)
{
    const char *d = digits.ptr;
    return sl_arena_printf(arena, "%.4s-%.2s-%.2s %.2s:%.2s:%.2s.%.3s", d, d + 4, d + 6, d + 8, d + 10, d + 12, d + 14);
}

/* Takes @v3 or @<17 digits> off the name. */
static silt_status take_suffix(struct sl_arena *arena, struct sl_table_arg *arg, silt_error *err)
{
    const char *at = strrchr(arg->typed, '@');
    struct sl_str suffix = sl_str_from(at != NULL ? at + 1 : "");

    if (at == NULL || at == arg->typed) {
        return SILT_OK;
    }
    if (suffix.len > 1 && (suffix.ptr[0] == 'v' || suffix.ptr[0] == 'V') &&
        all_digits(sl_str_sub(suffix, 1, suffix.len))) {
        if (!sl_str_to_i64(sl_str_sub(suffix, 1, suffix.len), &arg->version)) {
            return sl_fail(err, SILT_EINVALID, "SILT_USAGE", "%s is no version that can be", suffix.ptr);
        }
    } else if (suffix.len == STAMP_DIGITS && all_digits(suffix)) {
        arg->timestamp = stamp_text(arena, suffix);
        if (arg->timestamp == NULL) {
            return sl_fail_nomem(err);
        }
    } else {
        return SILT_OK; /* a name with an @ in it */
    }
    arg->name = sl_arena_strdup(arena, sl_str_make(arg->typed, (size_t)(at - arg->typed)));
    return arg->name != NULL ? SILT_OK : sl_fail_nomem(err);
}

silt_status sl_table_arg_read(struct sl_cli *cli, struct sl_table_arg *out, silt_error *err)
{
    int64_t us = 0;
    bool has_zone = false;

    *out = (struct sl_table_arg){.typed = cli->args.words[0], .name = cli->args.words[0], .version = -1};
    if (out->typed[0] == '\0') {
        return sl_fail(err, SILT_EINVALID, "SILT_USAGE", "the name of the table is empty");
    }
    SL_TRY(take_suffix(&cli->arena, out, err));
    const int n_given = (out->version >= 0) + (out->timestamp != NULL) + (cli->args.version >= 0) +
                        (cli->args.timestamp != NULL);
    if (n_given > 1) {
        return sl_fail(err, SILT_EINVALID, "SILT_USAGE", "the version of %s is given in more than one way", out->name);
    }
    out->version = cli->args.version >= 0 ? cli->args.version : out->version;
    out->timestamp = cli->args.timestamp != NULL ? cli->args.timestamp : out->timestamp;
    if (out->timestamp != NULL && !sl_timestamp_parse(sl_str_from(out->timestamp), &us, &has_zone)) {
        const silt_status status = sl_fail(err, SILT_EINVALID, "SILT_USAGE", "%s is no time that can be understood",
                                           out->timestamp);
        sl_error_hint(err, "write it as 2026-01-31, '2026-01-31 12:00:00' or 2026-01-31T12:00:00Z");
        return status;
    }
    return SILT_OK;
}

silt_status sl_table_arg_no_travel(const struct sl_table_arg *arg, silt_error *err)
{
    if (arg->version < 0 && arg->timestamp == NULL) {
        return SILT_OK;
    }
    return sl_fail(err, SILT_EINVALID, "SILT_USAGE", "%s takes no version of the table here", arg->typed);
}

silt_status sl_table_arg_table(struct sl_cli *cli, const struct sl_table_arg *arg, silt_table **out, silt_error *err)
{
    silt_session *session = NULL;
    *out = NULL;
    SL_TRY(sl_cli_session(cli, &session, err));
    return silt_session_table(session, arg->name, out, err);
}

static bool is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

void sl_table_arg_hint(struct sl_cli *cli, const struct sl_table_arg *arg, silt_error *err)
{
    const char *at = strrchr(arg->name, '@');

    if (err->status != SILT_ENOTTABLE) {
        return;
    }
    if (is_file(arg->name)) {
        sl_error_hint(err, "%s is a file; silt sql \"FROM '%s'\" reads Parquet, CSV and JSON", arg->name, arg->name);
        return;
    }
    if (at != NULL && at != arg->name && all_digits(sl_str_from(at + 1))) {
        sl_error_hint(err, "a version is written %.*s@v%s", (int)(at - arg->name), arg->name, at + 1);
        return;
    }
    if (strchr(arg->name, '/') != NULL) {
        return;
    }
    const char *near = sl_warehouse_suggest(cli, arg->name);
    if (near != NULL) {
        sl_error_hint(err, "did you mean %s?", near);
    }
}

silt_status sl_table_arg_snapshot(struct sl_cli *cli, const struct sl_table_arg *arg, silt_snapshot **out,
                                  silt_error *err)
{
    silt_table *table = NULL;
    int64_t us = 0;
    bool has_zone = false;
    silt_status status;

    *out = NULL;
    SL_TRY(sl_table_arg_table(cli, arg, &table, err));
    if (arg->version >= 0) {
        status = silt_table_snapshot_at_version(table, &cli->call, arg->version, out, err);
    } else if (arg->timestamp != NULL) {
        /* zone-less times are UTC here: commands that come this way take no --time-zone */
        status = sl_timestamp_parse(sl_str_from(arg->timestamp), &us, &has_zone)
                     ? silt_table_snapshot_at_timestamp(table, &cli->call, us, out, err)
                     : sl_fail(err, SILT_EINVALID, "SILT_USAGE", "%s is no time", arg->timestamp);
    } else {
        status = silt_table_latest_snapshot(table, &cli->call, out, err);
    }
    silt_table_unref(table);
    if (status != SILT_OK) {
        sl_table_arg_hint(cli, arg, err);
    }
    return status;
}

silt_status sl_table_arg_put_sql(struct sl_cli *cli, const struct sl_table_arg *arg, struct sl_buf *out,
                                 silt_error *err)
{
    silt_table *table = NULL;
    SL_TRY(sl_table_arg_table(cli, arg, &table, err));
    sl_buf_put_c(out, "delta.");
    sl_sql_put_name(out, sl_str_from(silt_table_uri(table)));
    silt_table_unref(table);
    if (arg->version >= 0) {
        sl_buf_printf(out, " VERSION AS OF %lld", (long long)arg->version);
    } else if (arg->timestamp != NULL) {
        sl_buf_put_c(out, " TIMESTAMP AS OF ");
        sl_sql_put_string(out, sl_str_from(arg->timestamp));
    }
    return sl_buf_status(out, err);
}
