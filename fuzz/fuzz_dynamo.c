/*
 * Answers of DynamoDB: whatever comes, an entry that is taken is of the table and file that were asked for, its temporary file stays in the log's
 * folder, and written as a request it is read back the same; pages of names ascend and go on.
 */
#include "base/arena.h"
#include "storage/remote/s3/dynamo_answer.h"
#include "storage/remote/s3/dynamo_request.h"
#include "support/fuzz.h"

#define TABLE SL_STR("s3a://b/t")
#define NAME SL_STR("00000000000000000007.json")

static void check_entry(const struct sl_dynamo_entry *entry)
{
    FUZZ_CHECK(sl_str_eq(entry->table_path, TABLE));
    FUZZ_CHECK(sl_dynamo_is_name(entry->file_name));
    FUZZ_CHECK(sl_dynamo_is_inner(entry->temp_path));
    FUZZ_CHECK(entry->temp_path.ptr[0] != '/' && sl_str_find(entry->temp_path, SL_STR("//")) == SIZE_MAX);
    FUZZ_CHECK(!sl_str_starts_with(entry->temp_path, SL_STR("../")));
    FUZZ_CHECK(sl_str_find(entry->temp_path, SL_STR("/../")) == SIZE_MAX);
}

/* The request that puts the entry has it as "Item", as an answer has. */
static void check_again(struct sl_arena *arena, const struct sl_dynamo_entry *entry)
{
    struct sl_buf body;
    struct sl_dynamo_entry again;
    bool found = false;
    sl_buf_init(&body, fuzz_env());
    sl_dynamo_write_put(&body, "table", entry, SL_DYNAMO_IF_SAME);
    FUZZ_CHECK(sl_buf_status(&body, NULL) == SILT_OK);
    FUZZ_CHECK(sl_dynamo_read_item(arena, sl_buf_view(&body), TABLE, entry->file_name, &again, &found, NULL) ==
               SILT_OK);
    FUZZ_CHECK(found && again.complete == entry->complete && again.expire_time_s == entry->expire_time_s);
    FUZZ_CHECK(sl_str_eq(again.temp_path, entry->temp_path));
    sl_buf_release(&body);
}

static void try_entries(struct sl_str body)
{
    struct sl_arena arena;
    struct sl_dynamo_entry entry;
    bool found = false;
    sl_arena_init(&arena, fuzz_env());
    silt_status status = sl_dynamo_read_item(&arena, body, TABLE, NAME, &entry, &found, NULL);
    FUZZ_CHECK(status == SILT_OK || status == SILT_EIO || status == SILT_ECORRUPT);
    FUZZ_CHECK(status == SILT_OK || !found);
    if (found) {
        FUZZ_CHECK(sl_str_eq(entry.file_name, NAME));
        check_entry(&entry);
        check_again(&arena, &entry);
    }
    status = sl_dynamo_read_newest(&arena, body, TABLE, &entry, &found, NULL);
    FUZZ_CHECK(status == SILT_OK || status == SILT_EIO || status == SILT_ECORRUPT);
    FUZZ_CHECK(status == SILT_OK || !found);
    if (found) {
        check_entry(&entry);
        check_again(&arena, &entry);
    }
    sl_arena_release(&arena);
}

struct seen {
    struct sl_arena arena;
    struct sl_str last;
};

static silt_status on_name(void *ctx, struct sl_str name)
{
    struct seen *seen = ctx;
    FUZZ_CHECK(sl_str_compare(name, seen->last) > 0);
    seen->last = sl_arena_copy(&seen->arena, name);
    return SILT_OK;
}

static void try_names(struct sl_str body)
{
    struct seen seen = {.last = SL_STR("")};
    struct sl_str last;
    sl_arena_init(&seen.arena, fuzz_env());
    const silt_status status = sl_dynamo_read_names(&seen.arena, body, TABLE, SL_STR(""), on_name, &seen, &last, NULL);
    FUZZ_CHECK(status == SILT_OK || status == SILT_EIO);
    FUZZ_CHECK(status != SILT_OK || last.ptr == NULL || last.len > 0);
    sl_arena_release(&seen.arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct sl_str body = {(const char *)data, size};
    enum sl_dynamo_table_state state = SL_DYNAMO_TABLE_OTHER;
    char fault[SL_DYNAMO_FAULT_SIZE];
    try_entries(body);
    try_names(body);
    const silt_status status = sl_dynamo_read_table(fuzz_env(), body, &state, NULL);
    FUZZ_CHECK(status == SILT_OK || status == SILT_EIO || status == SILT_EUNSUPPORTED);
    sl_dynamo_read_fault(fuzz_env(), body, fault);
    for (size_t i = 0; fault[i] != '\0'; i++) {
        FUZZ_CHECK(i + 1 < SL_DYNAMO_FAULT_SIZE &&
                   (sl_is_digit(fault[i]) || ((fault[i] | 0x20) >= 'a' && (fault[i] | 0x20) <= 'z')));
    }
    return 0;
}
