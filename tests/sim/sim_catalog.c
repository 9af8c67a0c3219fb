/*
 * A catalog that gives versions away, in some histories (silt/committer.h, PROTOCOL.md "Catalog-managed tables"). It decides at one
 * moment, its answers get lost as those of the store do, and it forgets commits that it was told to be published.
 */
#include "sim.h"

#include <string.h>

static silt_catalog_commit describe(const struct sim_world *world, int64_t version)
{
    const struct sim_ratified *commit = &world->catalog.commits[version];
    const bool is_inline = world->knobs.inline_commits;
    return (silt_catalog_commit){.size = sizeof(silt_catalog_commit),
                                 .version = version,
                                 .staged_name = is_inline ? NULL : commit->staged_name,
                                 .size_bytes = (int64_t)commit->len,
                                 .modified_ms = commit->modified_ms,
                                 .content = is_inline ? commit->content : NULL,
                                 .content_len = is_inline ? commit->len : 0};
}

/* ---- slots; impl is the actor ---- */

static void close_catalog(void *impl)
{
    (void)impl; /* the world's */
}

static silt_status ratify(void *impl, const silt_call *call, const silt_ratify_request *request,
                          silt_put_outcome *outcome, silt_error *err)
{
    (void)call; /* an answer comes at once, or never */
    return sim_store_ratify(impl, request, outcome, err);
}

static silt_status get_commits(void *impl, const silt_call *call, const char *table_uri, int64_t from_version,
                               bool (*on_commit)(void *ctx, const silt_catalog_commit *commit), void *ctx,
                               int64_t *latest_version, silt_error *err)
{
    struct sim_actor *actor = impl;
    const struct sim_world *world = actor->world;
    (void)call;      /* as above */
    (void)table_uri; /* it has one table */
    const silt_status status = sim_store_ask(actor, err);
    if (status != SILT_OK) {
        return status;
    }
    const int64_t latest = world->catalog.latest; /* as of this moment */
    const int64_t first = world->catalog.forgotten + 1 > from_version ? world->catalog.forgotten + 1 : from_version;
    *latest_version = latest;
    for (int64_t version = first; version <= latest; version++) {
        const silt_catalog_commit commit = describe(world, version);
        if (!on_commit(ctx, &commit)) {
            break;
        }
    }
    return SILT_OK;
}

static silt_status note_published(void *impl, const silt_call *call, const char *table_uri, int64_t version,
                                  silt_error *err)
{
    (void)call;      /* as above */
    (void)table_uri; /* it has one table */
    return sim_store_note_published(impl, version, err);
}

static const silt_committer_vtable staging = {
    .size = sizeof(silt_committer_vtable),
    .abi_version = SILT_ABI_VERSION,
    .name = "sim",
    .close = close_catalog,
    .ratify = ratify,
    .get_commits = get_commits,
    .note_published = note_published,
};

static const silt_committer_vtable inlining = {
    .size = sizeof(silt_committer_vtable),
    .abi_version = SILT_ABI_VERSION,
    .name = "sim-inline",
    .flags = SILT_COMMITTER_INLINE,
    .close = close_catalog,
    .ratify = ratify,
    .get_commits = get_commits,
    .note_published = note_published,
};

/* ---- the table ---- */

silt_status sim_catalog_open(struct sim_actor *actor, silt_table **out, silt_error *err)
{
    struct sim_world *world = actor->world;
    silt_committer *committer = NULL;
    *out = NULL;
    silt_status status = sim_store_ask(actor, err);
    if (status == SILT_OK) {
        status = silt_committer_new(&actor->env, world->knobs.inline_commits ? &inlining : &staging, actor, &committer,
                                    err);
    }
    if (status != SILT_OK) {
        return status;
    }
    const struct sim_catalog *catalog = &world->catalog;
    silt_catalog_commit *commits = sim_keep(world, (size_t)(catalog->latest + 1) * sizeof(*commits));
    silt_catalog_state state = {.size = sizeof(state), .latest_version = catalog->latest, .commits = commits};
    state.committer = committer;
    for (int64_t version = catalog->forgotten + 1; version <= catalog->latest; version++) {
        commits[state.n_commits++] = describe(world, version);
    }
    status = silt_table_for_catalog(actor->engine, SIM_ROOT, &state, out, err);
    silt_committer_unref(committer);
    return status;
}

void sim_catalog_create(struct sim_world *world)
{
    static const char format[] =
        "{\"commitInfo\":{\"inCommitTimestamp\":1767225600000,\"timestamp\":1767225600000,\"operation\":\"CREATE TABLE\","
        "\"isBlindAppend\":false,\"userMetadata\":\"sim-0\"}}\n"
        "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[\"catalogManaged\","
        "\"vacuumProtocolCheck\"],\"writerFeatures\":[\"catalogManaged\",\"vacuumProtocolCheck\",\"inCommitTimestamp\","
        "\"domainMetadata\"]}}\n"
        "{\"metaData\":{\"id\":\"sim\",\"format\":{\"provider\":\"parquet\",\"options\":{}},\"schemaString\":"
        "\"{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[%s]}\",\"partitionColumns\":[%s],\"configuration\":{"
        "\"delta.enableInCommitTimestamps\":\"true\",\"delta.isolationLevel\":\"%s\","
        "\"delta.checkpointInterval\":\"%d\"},\"createdTime\":0}}\n";
#define COLUMN(name, type)                                                                \
    "{\\\"name\\\":\\\"" name "\\\",\\\"type\\\":\\\"" type "\\\",\\\"nullable\\\":true," \
    "\\\"metadata\\\":{}}"
    static const char columns[] = COLUMN("id", "long") "," COLUMN("k", "long") "," COLUMN("v", "long") "," COLUMN(
        "p", "string");
    const bool serializable = world->knobs.serializable && world->bug != SIM_BUG_WRONG_ISOLATION;
    char *text = sim_keep(world, 4096);
    const int len = snprintf(text, 4096, format, columns, world->knobs.partitioned ? "\"p\"" : "",
                             serializable ? "Serializable" : "WriteSerializable", world->knobs.checkpoint_interval);
    struct sim_txn *record = sim_list_push(world, &world->txns, sizeof(*record));
    *record = (struct sim_txn){.op = SIM_CREATE, .read_version = -1, .app = -1, .landed = -1};
    record->outcome = SIM_COMMITTED;
    struct sim_actor *actor = &world->actors[SIM_MAX_ACTORS];
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    silt_error err = SILT_ERROR_INIT;
    world->knobs.catalog = false; /* version 0 is older than its catalog */
    const silt_status status = sim_storage.put_if_absent(actor, NULL, SIM_LOG "00000000000000000000.json", text,
                                                         (size_t)len, &outcome, &err);
    world->knobs.catalog = true;
    world->acked = 0;
    if (status != SILT_OK || outcome != SILT_PUT_DONE) {
        sim_break(world, "the table of the catalog cannot be created");
    }
}
