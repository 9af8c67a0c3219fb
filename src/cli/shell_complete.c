/*
 * Completion in the shell: keywords, tables of the warehouse, and columns of the tables that the statement names. What cannot be read is
 * left out: a key that only helps must not fail.
 */
#include "cli/shell.h"

#include <ctype.h>

#include "cli/table_arg.h"
#include "cli/warehouse.h"
#include "silt/snapshot.h"

#define MAX_TABLES 8

static const char *const KEYWORDS[] = {
    "ALTER",
    "AND",
    "ANTI",
    "AS",
    "ASC",
    "BETWEEN",
    "BY",
    "BY NAME",
    "CASE",
    "CAST",
    "COMMENT",
    "COPY",
    "COUNT",
    "CREATE",
    "CROSS",
    "DATE",
    "DELETE",
    "DESC",
    "DESCRIBE",
    "DETAIL",
    "DISTINCT",
    "DROP TABLE",
    "ELSE",
    "END",
    "EXISTS",
    "EXPLAIN",
    "EXTENDED",
    "FALSE",
    "FROM",
    "FULL",
    "GROUP BY",
    "HAVING",
    "HISTORY",
    "IN",
    "INNER",
    "INSERT",
    "INTERSECT",
    "INTERVAL",
    "INTO",
    "IS",
    "JOIN",
    "LEFT",
    "LIKE",
    "LIMIT",
    "LOCATION",
    "NOT",
    "NULL",
    "OFFSET",
    "ON",
    "OR",
    "ORDER BY",
    "OUTER",
    "OVER",
    "OVERWRITE",
    "PARTITION BY",
    "PARTITIONED BY",
    "QUALIFY",
    "REPLACE TABLE",
    "REPLACE WHERE",
    "RIGHT",
    "SELECT",
    "SEMI",
    "SET",
    "SHOW",
    "SUMMARIZE",
    "TABLE",
    "TBLPROPERTIES",
    "THEN",
    "TIMESTAMP",
    "TIMESTAMP AS OF",
    "TRUE",
    "TRUNCATE TABLE",
    "UNION ALL",
    "USING",
    "USING delta",
    "VALUES",
    "VERSION AS OF",
    "WHEN",
    "WHERE",
    "WINDOW",
    "WITH",
};

static bool is_word_byte(char c)
{
    return isalnum((unsigned char)c) != 0 || c == '_' || c == '.' || ((unsigned char)c & 0x80) != 0;
}

struct completion {
    struct sl_shell *shell;
    struct sl_completions *completions;
    struct sl_str typed;
};

static bool starts_nocase(struct sl_str word, struct sl_str prefix)
{
    return word.len >= prefix.len && sl_str_eq_nocase(sl_str_sub(word, 0, prefix.len), prefix);
}

static void offer(struct completion *completion, struct sl_str word)
{
    if (starts_nocase(word, completion->typed)) {
        sl_completions_add(completion->completions, word);
    }
}

/* A keyword in the case that was typed. */
static void offer_keyword(struct completion *completion, const char *keyword)
{
    char lower[32];
    const struct sl_str typed = completion->typed;
    const struct sl_str word = sl_str_from(keyword);

    if (typed.len == 0 || word.len >= sizeof(lower) || !starts_nocase(word, typed)) {
        return; /* without a letter to go by there are too many */
    }
    const bool to_lower = islower((unsigned char)typed.ptr[typed.len - 1]) != 0;
    for (size_t i = 0; i < word.len; i++) {
        lower[i] = to_lower ? (char)tolower((unsigned char)word.ptr[i]) : word.ptr[i];
    }
    sl_completions_add(completion->completions, sl_str_make(lower, word.len));
}

static void offer_table(void *ctx, const char *name)
{
    offer(ctx, sl_str_from(name));
}

/* The columns of a table that the statement names. */
static void offer_columns(struct completion *completion, struct sl_str name)
{
    struct sl_cli *cli = completion->shell->cli;
    struct sl_arena arena;
    silt_snapshot *snapshot = NULL;

    sl_arena_init(&arena, cli->env);
    const char *copy = sl_arena_strdup(&arena, name);
    const struct sl_table_arg arg = {.typed = copy, .name = copy, .version = -1};
    silt_error ignored = SILT_ERROR_INIT;
    if (copy != NULL && sl_table_arg_snapshot(cli, &arg, &snapshot, &ignored) == SILT_OK) {
        const silt_schema *schema = silt_snapshot_schema(snapshot);
        for (size_t i = 0; i < silt_schema_field_count(schema); i++) {
            offer(completion, sl_str_from(silt_field_name(silt_schema_field(schema, i))));
        }
    }
    silt_snapshot_unref(snapshot);
    sl_arena_release(&arena);
}

/* The next word, or what stands in back quotes, from *pos on. */
static bool next_word(struct sl_str text, size_t *pos, struct sl_str *word)
{
    while (*pos < text.len && !is_word_byte(text.ptr[*pos]) && text.ptr[*pos] != '`') {
        *pos += 1;
    }
    if (*pos >= text.len) {
        return false;
    }
    const bool quoted = text.ptr[*pos] == '`';
    const size_t begin = *pos + (quoted ? 1 : 0);
    size_t end = begin;
    while (end < text.len && (quoted ? text.ptr[end] != '`' : is_word_byte(text.ptr[end]))) {
        end++;
    }
    *word = sl_str_sub(text, begin, end);
    *pos = end + (quoted && end < text.len ? 1 : 0);
    return true;
}

static bool names_a_table(struct sl_str word)
{
    static const char *const before[] = {"FROM", "JOIN", "INTO", "OVERWRITE", "TABLE", "HISTORY", "DETAIL", "DESCRIBE"};
    for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
        if (sl_str_eq_nocase(word, sl_str_from(before[i]))) {
            return true;
        }
    }
    return false;
}

/* Words behind FROM, JOIN, INTO …; delta.`path` gives its path. */
static size_t find_tables(struct sl_str text, struct sl_str tables[MAX_TABLES])
{
    struct sl_str word = {0};
    size_t pos = 0;
    size_t n = 0;
    bool wanted = false;

    while (n < MAX_TABLES && next_word(text, &pos, &word)) {
        if (wanted && sl_str_eq_nocase(word, SL_STR("delta."))) {
            continue; /* the path comes next */
        }
        if (names_a_table(word)) {
            wanted = true;
        } else if (wanted) {
            tables[n++] = word;
            wanted = false;
        }
    }
    return n;
}

void sl_shell_complete(void *ctx, struct sl_str before, size_t *begin, struct sl_completions *completions)
{
    struct sl_shell *shell = ctx;
    struct sl_str tables[MAX_TABLES];
    struct sl_str last = {0};
    struct sl_str word = {0};
    size_t pos = 0;
    struct sl_buf text;

    *begin = before.len;
    while (*begin > 0 && is_word_byte(before.ptr[*begin - 1])) {
        *begin -= 1;
    }
    struct completion completion = {shell, completions, sl_str_sub(before, *begin, before.len)};
    sl_buf_init(&text, shell->cli->env);
    sl_buf_put_str(&text, sl_buf_view(&shell->text)); /* lines above this one */
    sl_buf_put_str(&text, sl_str_sub(before, 0, *begin));
    while (next_word(sl_buf_view(&text), &pos, &word)) {
        last = word;
    }
    const bool is_table = names_a_table(last) || (before.len > 1 && before.ptr[0] == '\\');
    if (is_table) {
        sl_warehouse_each(shell->cli, offer_table, &completion);
    } else {
        const size_t n = find_tables(sl_buf_view(&text), tables);
        for (size_t i = 0; i < n; i++) {
            offer_columns(&completion, tables[i]);
        }
    }
    for (size_t i = 0; i < sizeof(KEYWORDS) / sizeof(KEYWORDS[0]) && before.ptr[0] != '\\'; i++) {
        offer_keyword(&completion, KEYWORDS[i]);
    }
    sl_buf_release(&text);
}
