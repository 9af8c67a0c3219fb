/*
 * DROP TABLE. A name is a folder of the warehouse, and the folder goes with the table. A path is data that others may own: as in Delta Spark
 * without a metastore it is not dropped.
 */
#include "base/error.h"
#include "silt/commands.h"
#include "sql/resident.h"
#include "sql/run.h"

static silt_status refuse_path(struct sl_run *run, silt_error *err)
{
    const silt_status status = sl_fail(err, SILT_EUNSUPPORTED, "SILT_UNSUPPORTED_STATEMENT",
                                       "%s is a path: DROP TABLE removes tables of the warehouse, by their names",
                                       sl_table_name_text(run, &run->statement->table));
    sl_error_position(err, run->offset + run->statement->table.begin);
    sl_error_hint(err, "set the warehouse to the folder above it and drop the table by its name, or remove the folder");
    return status;
}

silt_status sl_run_drop(struct sl_run *run, silt_error *err)
{
    struct sl_table_name *name = &run->statement->table;
    bool is_temporary = false;
    silt_table *table = NULL;

    SL_TRY(sl_session_is_temporary(run->session, run->call, name, &is_temporary, err));
    if (is_temporary && !name->is_path) {
        return sl_run_query(run, err);
    }
    if (name->travel != SL_TRAVEL_NONE) {
        return sl_fail(err, SILT_EINVALID, "DELTA_TIME_TRAVEL_INVALID_WRITE", "cannot drop an older version of %s",
                       sl_table_name_text(run, name));
    }
    if (name->is_path) {
        return refuse_path(run, err);
    }
    run->result->kind = SILT_RESULT_NONE;
    sl_session_forget_resident(run->session);
    SL_TRY(sl_session_open_table(run->session, name, &table, err));
    silt_status status = silt_table_drop(table, run->call, err);
    if (status == SILT_ENOTTABLE && run->statement->if_exists) {
        silt_error_reset(err);
        status = SILT_OK;
    }
    silt_table_unref(table);
    return status;
}
