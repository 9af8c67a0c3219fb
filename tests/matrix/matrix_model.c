/*
 * The model: a table of five small files and what each operation makes of it. An operation is a function of the state that it
 * begins at; what it commits are files that go and files that come, with their rows. Beside the rows every file carries a lineage,
 * which names the operation, the files that it was made from and the metadata that it was made under: two runs that read
 * different files have different lineages, even if the rows happen to be equal.
 */
#include "matrix.h"

#include <string.h>

static const struct {
    const char *name;
} kinds[] = {
#define MX_OP(id, name, what) {name},
#include "matrix_ops.def"
#undef MX_OP
};

/* Where an operation works. `absent` is an id that no row has at first, though a file may; appends add both. */
static const struct place {
    const char *name;
    char part;
    int id;
    int absent;
    int extra; /* id of one more row that appends add, so that their range spans others; 0: none */
    const char *text;
    const char *absent_text;
} places[] = {
    [MX_SAME] = {"same rows", 'a', 1, 5, 0, "p = 'a' AND id = 1", "p = 'a' AND id = 5"},
    [MX_SAME_FILE] = {"same file", 'a', 2, 6, -1, "p = 'a' AND id = 2", "p = 'a' AND id = 6"},
    [MX_UNKNOWN] = {"no statistics", 'a', 21, 25, 0, "p = 'a' AND id = 21", "p = 'a' AND id = 25"},
    [MX_STATS] = {"other statistics", 'a', 11, 15, 0, "p = 'a' AND id = 11", "p = 'a' AND id = 15"},
    [MX_PARTITION] = {"other partition", 'b', 31, 35, 55, "p = 'b' AND id = 31", "p = 'b' AND id = 35"},
};

const char *mx_kind_name(enum mx_kind kind)
{
    return kinds[kind].name;
}

const char *mx_where_name(enum mx_where where)
{
    return places[where].name;
}

static uint64_t mix(uint64_t hash, uint64_t more)
{
    hash ^= more + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2);
    hash *= 0xbf58476d1ce4e5b9u;
    return hash ^ (hash >> 29);
}

const char *mx_reads(const struct mx_op *op)
{
    switch (op->kind) {
    case MX_INSERT_SELECT:
    case MX_UPDATE:
    case MX_DELETE:
    case MX_MERGE:
    case MX_REPLACE_WHERE:
    case MX_DOMAIN_QUERY: return places[op->where].text;
    case MX_UPSERT: return places[op->where].absent_text;
    case MX_DYNAMIC: return places[op->where].part == 'a' ? "p = 'a'" : "p = 'b'";
    case MX_OVERWRITE:
    case MX_TRUNCATE:
    case MX_CONSTRAIN:
    case MX_RESTORE: return "";
    default: return NULL;
    }
}

bool mx_is_blind_append(const struct mx_op *op)
{
    return op->kind == MX_INSERT || op->kind == MX_APP;
}

bool mx_only_moves(const struct mx_op *op)
{
    return op->kind == MX_OPTIMIZE || op->kind == MX_READD || op->kind == MX_BACKFILL;
}

bool mx_rests_on_rows(const struct mx_op *op)
{
    return mx_reads(op) != NULL;
}

bool mx_changes_metadata(const struct mx_op *op)
{
    return op->kind == MX_ALTER || op->kind == MX_CONSTRAIN;
}

int mx_app(const struct mx_op *op, int64_t *version)
{
    static const int64_t versions[] = {[MX_SAME] = 5, [MX_SAME_FILE] = 6, [MX_UNKNOWN] = 5, [MX_STATS] = 4};
    if (op->kind != MX_APP) {
        return -1;
    }
    *version = op->where == MX_PARTITION ? 5 : versions[op->where];
    return op->where == MX_PARTITION || op->where == MX_UNKNOWN ? 1 : 0;
}

int mx_domain(const struct mx_op *op)
{
    if (op->kind != MX_DOMAIN && op->kind != MX_DOMAIN_QUERY) {
        return -1;
    }
    return op->where == MX_SAME ? 0 : 1;
}

static bool reads_row(const struct mx_op *op, char part, int id)
{
    const struct place *place = &places[op->where];
    const char *reads = mx_reads(op);
    if (reads == NULL || reads[0] == '\0') {
        return reads != NULL;
    }
    return part == place->part && (op->kind == MX_DYNAMIC || id == (op->kind == MX_UPSERT ? place->absent : place->id));
}

bool mx_file_may_match(const struct mx_op *op, const struct mx_file *file)
{
    const struct place *place = &places[op->where];
    const char *reads = mx_reads(op);
    if (reads == NULL || reads[0] == '\0') {
        return reads != NULL;
    }
    if (file->part != place->part) {
        return false;
    }
    if (op->kind == MX_DYNAMIC || file->no_stats) {
        return true;
    }
    const int wanted = op->kind == MX_UPSERT ? place->absent : place->id;
    int low = file->rows[0].id;
    int high = low;
    for (size_t i = 1; i < file->n_rows; i++) {
        low = file->rows[i].id < low ? file->rows[i].id : low;
        high = file->rows[i].id > high ? file->rows[i].id : high;
    }
    return low <= wanted && wanted <= high;
}

const struct mx_file *mx_find(const struct mx_state *state, uint64_t lineage)
{
    for (size_t i = 0; i < state->n_files; i++) {
        if (state->files[i].lineage == lineage) {
            return &state->files[i];
        }
    }
    return NULL;
}

static void add_row(struct mx_file *file, int id, int64_t value)
{
    if (file->n_rows < MX_MAX_ROWS) {
        file->rows[file->n_rows++] = (struct mx_row){id, value};
    }
}

void mx_first_state(struct mx_state *state)
{
    static const struct {
        char part;
        int first_id;
    } files[] = {{'a', 1}, {'a', 11}, {'a', 21}, {'b', 31}, {'b', 41}};
    memset(state, 0, sizeof(*state));
    state->metadata.lineage = 1;
    state->protocol.lineage = 1;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        struct mx_file *file = &state->files[state->n_files++];
        file->lineage = mix(7, i);
        file->path = mx_next_path();
        file->part = files[i].part;
        add_row(file, files[i].first_id, 10 * files[i].first_id);
        add_row(file, files[i].first_id + 1, 10 * files[i].first_id + 1);
        add_row(file, files[i].first_id + 8, 10 * files[i].first_id + 8);
    }
}

/* ---- running ---- */

/* The same for every result of a run: who, from which files, under which metadata and which obligations. */
static uint64_t lineage_of(const struct mx_op *op, const struct mx_state *snapshot, const struct mx_effect *effect)
{
    uint64_t hash = mix(mix((uint64_t)op->id, snapshot->metadata.lineage),
                        snapshot->protocol.value & MX_FEATURE_BINDING);
    uint64_t files = 0;
    for (size_t i = 0; i < effect->n_reads; i++) {
        files += mix(11, effect->reads[i]); /* a set: the order does not matter */
    }
    if (op->kind == MX_RESTORE) { /* rests on all that there is */
        hash = mix(hash, snapshot->protocol.lineage);
        for (size_t i = 0; i <= MX_MAX_OPS; i++) {
            hash = mix(hash, snapshot->marks[i]);
        }
        hash = mix(hash, snapshot->apps[0].lineage ^ snapshot->apps[1].lineage);
        hash = mix(hash, snapshot->domains[0].lineage ^ snapshot->domains[1].lineage);
    }
    return mix(hash, files);
}

static struct mx_file *add_file(struct mx_effect *effect, uint64_t lineage, char part)
{
    struct mx_file *file = &effect->adds[effect->n_adds];
    memset(file, 0, sizeof(*file));
    file->lineage = mix(lineage, effect->n_adds);
    file->path = mx_next_path();
    file->part = part;
    effect->n_adds++;
    return file;
}

static void add_new_rows(const struct mx_op *op, struct mx_effect *effect, uint64_t lineage, int64_t value)
{
    const struct place *place = &places[op->where];
    struct mx_file *file = add_file(effect, lineage, place->part);
    file->no_stats = op->where == MX_UNKNOWN && (op->kind == MX_INSERT || op->kind == MX_INSERT_SELECT);
    if (op->kind == MX_UPSERT) {
        add_row(file, place->absent, value);
        return;
    }
    if (place->extra != 0 && mx_is_blind_append(op)) {
        add_row(file, place->extra, value);
    }
    add_row(file, place->id, value);
    if (op->kind == MX_INSERT || op->kind == MX_APP) {
        add_row(file, place->absent, value);
    }
}

/* The rows that the operation reads, and the files that may hold them. */
static int64_t look(const struct mx_op *op, const struct mx_state *snapshot, struct mx_effect *effect, size_t *n_rows)
{
    int64_t sum = 0;
    *n_rows = 0;
    for (size_t i = 0; i < snapshot->n_files; i++) {
        const struct mx_file *file = &snapshot->files[i];
        if (!mx_file_may_match(op, file)) {
            continue;
        }
        effect->reads[effect->n_reads++] = file->lineage;
        for (size_t r = 0; r < file->n_rows; r++) {
            if (reads_row(op, file->part, file->rows[r].id)) {
                sum += file->rows[r].value;
                (*n_rows)++;
            }
        }
    }
    return sum;
}

/* Files with such rows go; what is left of them comes back. */
static void rewrite(const struct mx_op *op, const struct mx_state *snapshot, struct mx_effect *effect, uint64_t lineage)
{
    const bool keeps = op->kind == MX_UPDATE || op->kind == MX_MERGE || op->kind == MX_UPSERT;
    for (size_t i = 0; i < snapshot->n_files; i++) {
        const struct mx_file *file = &snapshot->files[i];
        struct mx_file left = {.n_rows = 0};
        bool touched = false;
        for (size_t r = 0; r < file->n_rows; r++) {
            const bool hit = reads_row(op, file->part, file->rows[r].id);
            touched = touched || hit;
            if (!hit) {
                add_row(&left, file->rows[r].id, file->rows[r].value);
            } else if (keeps) {
                add_row(&left, file->rows[r].id, op->kind == MX_UPDATE ? file->rows[r].value + op->id : 1000 * op->id);
            }
        }
        if (!touched) {
            continue;
        }
        effect->removes[effect->n_removes++] = file->lineage;
        if (left.n_rows > 0) {
            struct mx_file *added = add_file(effect, lineage, file->part);
            memcpy(added->rows, left.rows, sizeof(left.rows));
            added->n_rows = left.n_rows;
        }
    }
}

static bool in_place(const struct mx_op *op, const struct mx_file *file)
{
    if (file->part != places[op->where].part) {
        return false;
    }
    if (op->where == MX_PARTITION || op->where == MX_SAME) {
        return true; /* the whole partition */
    }
    const int first = op->where == MX_SAME_FILE ? 1 : places[op->where].id;
    return file->n_rows > 0 && file->rows[0].id >= first && file->rows[0].id < first + 10;
}

void mx_choose_sources(struct mx_op *op, const struct mx_state *snapshot)
{
    op->n_sources = 0;
    for (size_t i = 0; i < snapshot->n_files; i++) {
        if (op->kind == MX_BACKFILL || in_place(op, &snapshot->files[i])) {
            op->sources[op->n_sources++] = snapshot->files[i].lineage;
        }
    }
}

static void optimize(const struct mx_op *op, const struct mx_state *snapshot, struct mx_effect *effect)
{
    effect->moves = true;
    for (size_t i = 0; i < op->n_sources; i++) {
        if (mx_find(snapshot, op->sources[i]) != NULL) {
            effect->removes[effect->n_removes++] = op->sources[i];
            effect->reads[effect->n_reads++] = op->sources[i];
        }
    }
    const uint64_t lineage = lineage_of(op, snapshot, effect);
    effect->mark = lineage;
    if (effect->n_removes == 0) {
        return;
    }
    struct mx_file *to = add_file(effect, lineage, places[op->where].part);
    for (size_t i = 0; i < effect->n_removes; i++) {
        const struct mx_file *from = mx_find(snapshot, effect->removes[i]);
        to->no_stats = to->no_stats || from->no_stats;
        for (size_t r = 0; r < from->n_rows; r++) {
            add_row(to, from->rows[r].id, from->rows[r].value);
        }
    }
}

static void add_again(const struct mx_op *op, const struct mx_state *snapshot, struct mx_effect *effect)
{
    effect->readds = true;
    effect->moves = true;
    for (size_t i = 0; i < op->n_sources; i++) {
        const struct mx_file *file = mx_find(snapshot, op->sources[i]);
        if (file != NULL) {
            effect->adds[effect->n_adds++] = *file;
        }
    }
    effect->mark = lineage_of(op, snapshot, effect);
}

/* Cells are written as a whole: what the snapshot had, and what the operation adds to it. */
static void write_cells(const struct mx_op *op, const struct mx_state *snapshot, int64_t sum, uint64_t lineage,
                        struct mx_effect *effect)
{
    if (mx_changes_metadata(op)) {
        effect->metadata = (struct mx_cell){snapshot->metadata.value | ((uint64_t)1 << op->id), lineage};
        effect->constraint = op->kind == MX_CONSTRAIN;
    }
    if (op->kind == MX_FEATURE || op->kind == MX_BINDING) {
        const uint64_t bit = op->kind == MX_FEATURE ? MX_FEATURE_HARMLESS : MX_FEATURE_BINDING;
        effect->protocol = (struct mx_cell){snapshot->protocol.value | bit, mix(lineage, snapshot->protocol.lineage)};
    }
    int64_t version = 0;
    const int app = mx_app(op, &version);
    if (app >= 0) {
        effect->app_index = app;
        effect->app = (struct mx_cell){(uint64_t)version, mix(lineage, snapshot->apps[app].value)};
    }
    const int domain = mx_domain(op);
    if (domain >= 0) {
        effect->domain_index = domain;
        effect->domain = (struct mx_cell){(uint64_t)(op->kind == MX_DOMAIN ? op->id : sum + op->id),
                                          mix(lineage, snapshot->domains[domain].lineage)};
    }
}

void mx_run(const struct mx_op *op, const struct mx_state *snapshot, struct mx_effect *out)
{
    memset(out, 0, sizeof(*out));
    int64_t app_version = 0;
    const int app = mx_app(op, &app_version);
    if (app >= 0 && (int64_t)snapshot->apps[app].value >= app_version) {
        out->nothing = true;
        return;
    }
    if (op->kind == MX_OPTIMIZE) {
        optimize(op, snapshot, out);
        return;
    }
    if (op->kind == MX_READD || op->kind == MX_BACKFILL) {
        add_again(op, snapshot, out);
        return;
    }
    size_t n_rows = 0;
    const int64_t sum = look(op, snapshot, out, &n_rows);
    const uint64_t lineage = lineage_of(op, snapshot, out);
    out->mark = lineage;
    write_cells(op, snapshot, sum, lineage, out);
    switch (op->kind) {
    case MX_INSERT:
    case MX_APP: add_new_rows(op, out, lineage, 100 * op->id); break;
    case MX_INSERT_SELECT: add_new_rows(op, out, lineage, sum + op->id); break;
    case MX_UPSERT:
        rewrite(op, snapshot, out, lineage);
        if (n_rows == 0) {
            add_new_rows(op, out, lineage, 100 * op->id);
        }
        break;
    case MX_UPDATE:
    case MX_DELETE:
    case MX_MERGE:
    case MX_TRUNCATE: rewrite(op, snapshot, out, lineage); break;
    case MX_OVERWRITE:
    case MX_RESTORE:
    case MX_REPLACE_WHERE:
    case MX_DYNAMIC:
        rewrite(op, snapshot, out, lineage);
        add_new_rows(op, out, lineage, 100 * op->id);
        break;
    default: break;
    }
}

/* ---- applying ---- */

static void take_out(struct mx_state *state, int path)
{
    size_t n = 0;
    for (size_t i = 0; i < state->n_files; i++) {
        if (state->files[i].path != path) {
            state->files[n++] = state->files[i];
        }
    }
    state->n_files = n;
}

static void put_cell(struct mx_cell *cell, const struct mx_cell *with)
{
    if (with->lineage != 0) {
        *cell = *with;
    }
}

void mx_apply(const struct mx_op *op, const struct mx_effect *effect, struct mx_state *state)
{
    for (size_t i = 0; i < effect->n_removes; i++) {
        const struct mx_file *file = mx_find(state, effect->removes[i]);
        if (file != NULL) {
            take_out(state, file->path);
        }
    }
    for (size_t i = 0; i < effect->n_adds; i++) {
        const struct mx_file *file = &effect->adds[i];
        if (op->kind == MX_BACKFILL && mx_find(state, file->lineage) == NULL) {
            continue; /* leaves out what is gone: the rebase of a backfill */
        }
        take_out(state, file->path);
        if (state->n_files < MX_MAX_FILES) {
            state->files[state->n_files++] = *file;
        }
    }
    put_cell(&state->metadata, &effect->metadata);
    put_cell(&state->protocol, &effect->protocol);
    put_cell(&state->apps[effect->app_index], &effect->app);
    put_cell(&state->domains[effect->domain_index], &effect->domain);
    state->marks[op->id] = effect->mark;
    state->constraint = state->constraint || effect->constraint;
}

bool mx_breaks_constraint(const struct mx_state *state)
{
    for (size_t i = 0; state->constraint && i < state->n_files; i++) {
        for (size_t r = 0; r < state->files[i].n_rows; r++) {
            if (state->files[i].rows[r].id >= MX_LIMIT) {
                return true;
            }
        }
    }
    return false;
}

/* ---- comparing ---- */

struct flat_row {
    char part;
    struct mx_row row;
};

static size_t flatten(const struct mx_state *state, struct flat_row *out)
{
    size_t n = 0;
    for (size_t i = 0; i < state->n_files; i++) {
        for (size_t r = 0; r < state->files[i].n_rows; r++) {
            out[n++] = (struct flat_row){state->files[i].part, state->files[i].rows[r]};
        }
    }
    return n;
}

static bool same_row(const struct flat_row *a, const struct flat_row *b)
{
    return a->part == b->part && a->row.id == b->row.id && a->row.value == b->row.value;
}

static bool same_values(const struct mx_cell *a, const struct mx_cell *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (a[i].value != b[i].value) {
            return false;
        }
    }
    return true;
}

bool mx_same_rows(const struct mx_state *a, const struct mx_state *b)
{
    struct flat_row left[MX_MAX_FILES * MX_MAX_ROWS];
    struct flat_row right[MX_MAX_FILES * MX_MAX_ROWS];
    const size_t n = flatten(a, left);
    size_t m = flatten(b, right);
    for (size_t i = 0; i < n; i++) {
        size_t j = 0;
        while (j < m && !same_row(&left[i], &right[j])) {
            j++;
        }
        if (j == m) {
            return false;
        }
        right[j] = right[--m];
    }
    return m == 0 && same_values(&a->metadata, &b->metadata, 1) && same_values(&a->protocol, &b->protocol, 1) &&
           same_values(a->apps, b->apps, MX_APPS) && same_values(a->domains, b->domains, MX_DOMAINS);
}

static bool same_cells(const struct mx_cell *a, const struct mx_cell *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (a[i].lineage != b[i].lineage) {
            return false;
        }
    }
    return true;
}

bool mx_same_files(const struct mx_state *a, const struct mx_state *b)
{
    bool same = a->n_files == b->n_files;
    for (size_t i = 0; same && i < a->n_files; i++) {
        same = mx_find(b, a->files[i].lineage) != NULL;
    }
    return same && same_cells(&a->metadata, &b->metadata, 1) && same_cells(&a->protocol, &b->protocol, 1) &&
           same_cells(a->apps, b->apps, MX_APPS) && same_cells(a->domains, b->domains, MX_DOMAINS) &&
           memcmp(a->marks, b->marks, sizeof(a->marks)) == 0;
}
