/*
 * The table of DynamoDB that entries are in: made when the first commit finds none, by the same keys as Spark makes it. When entries expire is for
 * their reader's administrator to set up (time to live by expireTime): neither Spark nor silt does. Any thread; several may do this at once.
 */
#include "base/env.h"
#include "base/error.h"
#include "storage/remote/s3/dynamo_int.h"

#define POLL_US INT64_C(500000)
#define MAX_POLLS 120 /* a minute: it usually takes seconds */

static silt_status create(const struct sl_dynamo *dynamo, const silt_call *call, silt_error *err)
{
    struct sl_dynamo_ask ask;
    struct sl_exchange exchange;
    sl_dynamo_arm(dynamo, "CreateTable", &ask, &exchange);
    sl_dynamo_write_create(&ask.body, dynamo->table, dynamo->read_units, dynamo->write_units);
    silt_status status = sl_dynamo_run(call, &ask, &exchange, err);
    if (sl_dynamo_said(&ask, &exchange, "ResourceInUseException")) { /* another was faster, or an attempt before */
        silt_error_reset(err);
        status = SILT_OK;
    }
    sl_dynamo_release(&ask, &exchange);
    return status;
}

static silt_status look(const struct sl_dynamo *dynamo, const silt_call *call, enum sl_dynamo_table_state *state,
                        silt_error *err)
{
    struct sl_dynamo_ask ask;
    struct sl_exchange exchange;
    *state = SL_DYNAMO_TABLE_CREATING;
    sl_dynamo_arm(dynamo, "DescribeTable", &ask, &exchange);
    sl_dynamo_write_describe(&ask.body, dynamo->table);
    silt_status status = sl_dynamo_run(call, &ask, &exchange, err);
    if (status == SILT_OK) {
        status = sl_dynamo_read_table(dynamo->context->env, sl_buf_view(&exchange.request.answer), state, err);
    } else if (status == SILT_ENOTFOUND) { /* it has been made, and is not told of yet */
        silt_error_reset(err);
        status = SILT_OK;
    }
    sl_dynamo_release(&ask, &exchange);
    return status;
}

silt_status sl_dynamo_make_table(const struct sl_dynamo *dynamo, const silt_call *call, silt_error *err)
{
    enum sl_dynamo_table_state state = SL_DYNAMO_TABLE_CREATING;
    SL_TRY(create(dynamo, call, err));
    for (int i = 0; i < MAX_POLLS && state == SL_DYNAMO_TABLE_CREATING; i++) {
        if (i > 0) {
            SL_TRY(sl_call_sleep(dynamo->context->env, call, POLL_US, err));
        }
        SL_TRY(look(dynamo, call, &state, err));
    }
    return state == SL_DYNAMO_TABLE_READY
               ? SILT_OK
               : sl_fail(err, SILT_EIO, NULL, "DynamoDB table %s cannot be used: it is %s", dynamo->table,
                         state == SL_DYNAMO_TABLE_CREATING ? "still being created" : "neither active nor updating");
}
