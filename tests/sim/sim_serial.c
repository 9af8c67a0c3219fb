/*
 * Serialisability. Every transaction is a function of the rows that it reads; at its place in the order of versions it must have
 * the result that the function has there.
 *
 * Serializable: the order of versions itself. WriteSerializable: a blind append may stand later than its version says. So a
 * transaction may have passed over a blind append that came between its read version and itself, as if that came after it; then
 * nobody before it in the order may have read the append: that one would have come before and after the transaction.
 */
#include "sim.h"

#include <stdlib.h>
#include <string.h>

struct rows {
    struct sim_row *items;
    size_t n;
};

struct serial {
    struct sim_world *world;
    const struct sim_state *states;
};

static int compare_rows(const void *a, const void *b)
{
    const struct sim_row *x = a;
    const struct sim_row *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static struct sim_txn *txn_of(const struct serial *serial, int64_t version)
{
    return SIM_AT(&serial->world->txns, struct sim_txn, serial->states[version].txn);
}

/* The rows of a version by their ids, with room for some more. */
static struct rows rows_of(const struct serial *serial, int64_t version, size_t more)
{
    struct sim_world *world = serial->world;
    size_t n = 0;
    for (size_t i = 0; version >= 0 && i < world->files.n; i++) {
        n += serial->states[version].live[i] ? SIM_AT(&world->files, struct sim_file, i)->n_rows : 0;
    }
    struct rows rows = {sim_keep(world, (n + more + 1) * sizeof(struct sim_row)), 0};
    for (size_t i = 0; version >= 0 && i < world->files.n; i++) {
        const struct sim_file *file = SIM_AT(&world->files, struct sim_file, i);
        if (serial->states[version].live[i]) {
            memcpy(rows.items + rows.n, file->rows, file->n_rows * sizeof(struct sim_row));
            rows.n += file->n_rows;
        }
    }
    qsort(rows.items, rows.n, sizeof(struct sim_row), compare_rows);
    for (size_t i = 1; i < rows.n; i++) {
        if (rows.items[i].id == rows.items[i - 1].id) {
            sim_break(world, "version %lld has row %d twice", (long long)version, (int)rows.items[i].id);
        }
    }
    return rows;
}

static bool reads_rows(const struct sim_txn *txn)
{
    return txn->op == SIM_INSERT_SELECT || txn->op == SIM_UPDATE || txn->op == SIM_UPSERT || txn->op == SIM_DELETE ||
           txn->op == SIM_OVERWRITE;
}

static bool is_blind(const struct sim_txn *txn)
{
    return txn->op == SIM_INSERT || txn->op == SIM_STREAM;
}

/* Could a row of the append have been read by the transaction? */
static bool concerns(const struct sim_txn *txn, const struct sim_txn *append)
{
    for (size_t i = 0; reads_rows(txn) && i < append->n_rows; i++) {
        if (sim_range_has(&txn->range, &append->rows[i])) {
            return true;
        }
    }
    return false;
}

/* Was the append passed over by the transaction, so that it must come after it? */
static bool passed_over(const struct sim_txn *txn, const struct sim_txn *append)
{
    return is_blind(append) && append->landed > txn->read_version && append->landed < txn->landed &&
           concerns(txn, append);
}

/* Moves the rows of appends that were passed over from `from` to `to`. */
static void split_passed(const struct serial *serial, const struct sim_txn *txn, struct rows *from, struct rows *to)
{
    for (int64_t version = txn->read_version + 1; version < txn->landed; version++) {
        const struct sim_txn *append = txn_of(serial, version);
        if (!passed_over(txn, append)) {
            continue;
        }
        for (size_t i = 0; i < append->n_rows; i++) {
            struct sim_row *row = from->n == 0
                                      ? NULL
                                      : bsearch(&append->rows[i], from->items, from->n, sizeof(*row), compare_rows);
            if (row != NULL) {
                to->items[to->n++] = *row;
                memmove(row, row + 1, (size_t)(from->items + from->n - (row + 1)) * sizeof(*row));
                from->n--;
            }
        }
    }
}

/* What the transaction does to rows. There is room for its new rows. */
static void apply(const struct sim_txn *txn, struct rows *rows)
{
    int64_t sum = 0;
    size_t n_hit = 0;
    size_t n = 0;
    for (size_t i = 0; i < rows->n; i++) {
        struct sim_row row = rows->items[i];
        const bool has = reads_rows(txn) && sim_range_has(&txn->range, &row);
        n_hit += has ? 1 : 0;
        sum += has ? row.value : 0;
        if (has && (txn->op == SIM_UPDATE || txn->op == SIM_UPSERT)) {
            row.value++;
        }
        if (!has || (txn->op != SIM_DELETE && txn->op != SIM_OVERWRITE)) {
            rows->items[n++] = row;
        }
    }
    for (size_t i = 0; i < txn->n_rows; i++) {
        struct sim_row row = txn->rows[i];
        if (txn->op == SIM_INSERT_SELECT) {
            row.value = sum + 1;
        }
        if (txn->op != SIM_UPSERT || n_hit == 0) {
            rows->items[n++] = row;
        }
    }
    rows->n = n;
}

static bool same_row(const struct sim_row *a, const struct sim_row *b)
{
    return a->id == b->id && a->part == b->part && a->key == b->key && a->value == b->value;
}

/* Tells of the first row in which the table differs from what it should be. */
static void compare(const struct serial *serial, const struct sim_txn *txn, const struct rows *expected,
                    const struct rows *actual)
{
    size_t i = 0;
    while (i < expected->n && i < actual->n && same_row(&expected->items[i], &actual->items[i])) {
        i++;
    }
    if (i == expected->n && i == actual->n) {
        return;
    }
    char want[96] = "nothing more";
    char have[96] = "nothing more";
    const struct sim_row *row = &expected->items[i];
    static const char format[] = "row %d (p=%d, k=%lld, v=%lld)";
    if (i < expected->n) {
        (void)snprintf(want, sizeof(want), format, (int)row->id, (int)row->part, (long long)row->key,
                       (long long)row->value);
    }
    row = &actual->items[i];
    if (i < actual->n) {
        (void)snprintf(have, sizeof(have), format, (int)row->id, (int)row->part, (long long)row->key,
                       (long long)row->value);
    }
    sim_break(serial->world,
              "version %lld (%s by a%d, read at %lld) is not what it does at its place: expected %s, found %s",
              (long long)txn->landed, sim_op_name(txn->op), txn->actor, (long long)txn->read_version, want, have);
}

static void check_rows(const struct serial *serial, const struct sim_txn *txn)
{
    struct rows expected = rows_of(serial, txn->landed - 1, txn->n_rows + 1);
    struct rows passed = {sim_keep(serial->world, (expected.n + 1) * sizeof(struct sim_row)), 0};
    const struct rows actual = rows_of(serial, txn->landed, 0);
    if (!serial->world->knobs.serializable) {
        split_passed(serial, txn, &expected, &passed);
    }
    apply(txn, &expected);
    struct rows all = {sim_keep(serial->world, (expected.n + passed.n + 1) * sizeof(struct sim_row)),
                       expected.n + passed.n};
    memcpy(all.items, expected.items, expected.n * sizeof(struct sim_row));
    memcpy(all.items + expected.n, passed.items, passed.n * sizeof(struct sim_row));
    qsort(all.items, all.n, sizeof(struct sim_row), compare_rows);
    compare(serial, txn, &all, &actual);
}

/* Nobody between an append and the transaction that passed it over may have read the append. */
static void check_order(const struct serial *serial, const struct sim_txn *txn)
{
    for (int64_t version = txn->read_version + 1; version < txn->landed; version++) {
        const struct sim_txn *append = txn_of(serial, version);
        if (!passed_over(txn, append)) {
            continue;
        }
        for (int64_t later = version + 1; later < txn->landed; later++) {
            const struct sim_txn *other = txn_of(serial, later);
            if (other->read_version >= version && concerns(other, append)) {
                sim_break(
                    serial->world,
                    "version %lld must come before version %lld, which it passed over, and after version %lld, which read that",
                    (long long)txn->landed, (long long)version, (long long)later);
            }
        }
    }
}

static void check_metadata(const struct serial *serial, const struct sim_txn *txn)
{
    struct sim_world *world = serial->world;
    const struct sim_state *before = txn->landed > 0 ? &serial->states[txn->landed - 1] : NULL;
    const struct sim_state *after = &serial->states[txn->landed];
    if ((before == NULL) != (txn->op == SIM_CREATE)) {
        sim_break(world, "version %lld is %s", (long long)txn->landed, sim_op_name(txn->op));
        return;
    }
    if (before == NULL) {
        return;
    }
    if (before->counter != txn->counter || before->columns != txn->columns) {
        sim_break(
            world,
            "version %lld (%s) rests on counter %lld and %lld columns, but comes after a version with %lld and %lld",
            (long long)txn->landed, sim_op_name(txn->op), (long long)txn->counter, (long long)txn->columns,
            (long long)before->counter, (long long)before->columns);
    }
    if (after->counter != before->counter + (txn->op == SIM_COUNT_UP ? 1 : 0) ||
        after->columns != before->columns + (txn->op == SIM_ADD_COLUMN ? 1 : 0) ||
        after->domain != before->domain + (txn->op == SIM_SET_DOMAIN ? 1 : 0)) {
        sim_break(world, "version %lld (%s) leaves counter %lld, %lld columns, domain %lld after %lld, %lld, %lld",
                  (long long)txn->landed, sim_op_name(txn->op), (long long)after->counter, (long long)after->columns,
                  (long long)after->domain, (long long)before->counter, (long long)before->columns,
                  (long long)before->domain);
    }
}

static void check_app(const struct serial *serial, const struct sim_txn *txn)
{
    if (txn->app >= 0 && serial->states[txn->landed].apps[txn->app] != txn->app_version) {
        sim_break(serial->world, "version %lld does not record %s version %lld", (long long)txn->landed,
                  sim_app_name(txn->app), (long long)txn->app_version);
    }
}

void sim_check_serial(struct sim_world *world, const struct sim_state *states)
{
    const struct serial serial = {world, states};
    for (int64_t version = 0; version < world->store.n_commits && !world->stopping; version++) {
        const struct sim_txn *txn = txn_of(&serial, version);
        check_metadata(&serial, txn);
        check_app(&serial, txn);
        check_rows(&serial, txn);
        if (!world->knobs.serializable && reads_rows(txn)) {
            check_order(&serial, txn);
        }
    }
}
