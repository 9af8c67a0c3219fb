/*
 * Files that a commit names twice; see commit_twins.h.
 */
#include "kernel/log/commit_twins.h"

#include "base/error.h"
#include "kernel/action/action_reader.h"

struct comparison {
    struct sl_commit_rules *rules;
    const struct sl_twin_source *source;
    struct sl_arena arena;
    struct sl_action actions[2];
    size_t lines[2]; /* in the file, from 1 */
};

static size_t count_newlines(struct sl_str bytes)
{
    size_t n = 0;
    for (size_t i = 0; i < bytes.len; i++) {
        n += bytes.ptr[i] == '\n' ? 1 : 0;
    }
    return n;
}

static silt_status load(struct comparison *comparison, uint64_t place, unsigned slot, silt_error *err)
{
    struct sl_twin_lines lines = {.offset = place};
    SL_TRY(comparison->source->load(comparison->source->ctx, place, slot, &lines, err));
    const size_t at = (size_t)(place - lines.offset);
    struct sl_str rest = sl_str_sub(lines.bytes, at, lines.bytes.len);
    struct sl_action_reader reader;
    sl_action_reader_init(&reader, comparison->rules->env, &comparison->arena);
    bool done = false;
    comparison->lines[slot] = lines.first_line + count_newlines(sl_str_sub(lines.bytes, 0, at));
    SL_TRY(sl_action_reader_next(&reader, &rest, &comparison->lines[slot], &comparison->actions[slot], &done, err));
    return done ? sl_fail(err, SILT_ECORRUPT, NULL, "the file changed while it was read") : SILT_OK;
}

static silt_status compare(void *ctx, uint64_t first, uint64_t second, bool *is_same, silt_error *err)
{
    struct comparison *comparison = ctx;
    *is_same = false;
    sl_arena_reset(&comparison->arena);
    SL_TRY(load(comparison, first, 0, err));
    SL_TRY(load(comparison, second, 1, err));
    *is_same = sl_same_file(&comparison->actions[0], &comparison->actions[1]);
    return SILT_OK;
}

silt_status sl_commit_twins_refuse(struct sl_commit_rules *rules, const struct sl_twin_source *source, size_t *line,
                                   silt_error *err)
{
    struct comparison comparison = {.rules = rules, .source = source};
    sl_arena_init(&comparison.arena, rules->env);
    const struct sl_file_twins twins = {.same = compare, .ctx = &comparison};
    bool found = false;
    uint64_t second = 0;
    *line = 0;
    silt_status status = sl_commit_rules_find_twice(rules, &twins, &found, &second, err);
    if (status == SILT_OK && found) {
        status = load(&comparison, second, 1, err);
        if (status == SILT_OK) {
            const struct sl_action *action = &comparison.actions[1];
            const struct sl_str path = action->kind == SL_ACTION_ADD ? action->u.add.path : action->u.remove.path;
            *line = comparison.lines[1];
            status = sl_fail(err, SILT_ECORRUPT, "DELTA_DUPLICATE_ACTIONS_FOUND",
                             "file %.*s has more than one action in the commit", SL_FMT(path));
        }
    }
    sl_arena_release(&comparison.arena);
    return status;
}
