/*
 * Creates in hierarchical accounts before answers that contradict what was done: each odd answer to each step, after its effect and without, with the name free and
 * taken. Whatever is answered, what is told as done is there, what is told as failed is not, and what others have is not touched.
 */
#include <string.h>

#include "azure_rig.h"
#include "silt/version.h"

static const char *const odd[] = {
    "code=200",
    "code=201",
    "code=202",
    "code=203",
    "code=204",
    "code=206",
    "code=301",
    "code=304",
    "code=307",
    "code=400",
    "code=400&name=InvalidInput",
    "code=400&name=InvalidFlushPosition",
    "code=401",
    "code=403",
    "code=403&name=AuthorizationPermissionMismatch",
    "code=404",
    "code=404&name=PathNotFound",
    "code=404&name=FilesystemNotFound",
    "code=404&name=RenameDestinationParentPathNotFound",
    "code=404&name=SourcePathNotFound",
    "code=405",
    "code=408",
    "code=409",
    "code=409&name=PathAlreadyExists",
    "code=409&name=SourcePathIsBeingDeleted",
    "code=409&name=InvalidSourceOrDestinationResourceType",
    "code=410",
    "code=412",
    "code=412&name=ConditionNotMet",
    "code=412&name=LeaseIdMissing",
    "code=413",
    "code=416",
    "code=429",
    "code=500",
    "code=500&name=InternalError",
    "code=500&name=OperationTimedOut",
    "code=502",
    "code=503&name=ServerBusy",
    "code=504",
    "code=0",
};
#define N_ODD (sizeof(odd) / sizeof(odd[0]))

enum step {
    MAKE,
    APPEND,
    FLUSH,
    RENAME,
    N_STEPS
};

static const char *const requests[N_STEPS] = {"method=PUT&has=resource=file", "method=PATCH&has=action=append",
                                              "method=PATCH&has=action=flush", "method=PUT&has=k.json"};

/* One create. */
struct creation {
    struct azure_rig *rig;
    bool effect; /* the step does what it is asked for before the odd answer */
    bool taken;
    char path[64];
    char what[300];
    silt_status status;
    silt_put_outcome outcome;
    char text[16]; /* under the name afterwards */
};

static struct creation begin(struct azure_rig *rig, enum step step, size_t number)
{
    struct creation c = {.rig = rig, .effect = number % 2 == 0, .taken = number / 2 % 2 == 1};
    (void)snprintf(c.path, sizeof(c.path), "az://tree/t%d/%zu/k.json", (int)step, number);
    (void)snprintf(c.what, sizeof(c.what), "%s to %s %s, the name %s", odd[number / 4], requests[step],
                   c.effect ? "after its effect" : "without effect", c.taken ? "taken" : "free");
    if (c.taken) {
        assert_int_equal(store_put_new(rig->store, c.path, "theirs"), SILT_PUT_DONE);
    }
    return c;
}

static void run(struct creation *c, silt_error *err)
{
    void *data = NULL;
    size_t len = 0;
    const silt_call call = azure_call_within(3000);
    *err = (silt_error)SILT_ERROR_INIT;
    c->status = silt_storage_put_if_absent(c->rig->store, &call, c->path, "ours", 4, &c->outcome, err);
    azure_set(c->rig->stub, "code=200&method=NONE&times=1"); /* what was not asked for is none of the next one's */
    c->text[0] = '\0';
    if (silt_storage_read(c->rig->store, NULL, c->path, &data, &len, NULL) == SILT_OK) {
        (void)snprintf(c->text, sizeof(c->text), "%.*s", (int)len, (const char *)data);
        silt_storage_free(c->rig->store, data, len);
    }
}

static void judge(const struct creation *c, bool says_taken)
{
    const bool done = c->status == SILT_OK && c->outcome == SILT_PUT_DONE;
    const bool exists = c->status == SILT_OK && c->outcome == SILT_PUT_EXISTS;
    const bool ours = strcmp(c->text, "ours") == 0;
    const bool theirs = strcmp(c->text, "theirs") == 0;
    if (c->taken != theirs || (done && !ours) || (exists && !theirs && !says_taken) || (exists && ours) ||
        (c->status != SILT_OK && ours)) {
        fail_msg("%s: status %s, outcome %d, and there is \"%s\"", c->what, silt_status_name(c->status),
                 (int)c->outcome, c->text);
    }
}

/* An answer that says yes is believed: that it was no is not for us to find out. */
static bool is_lie(const struct creation *c, enum step step, const char *answer)
{
    const bool yes = strcmp(answer, "code=200") == 0 || strcmp(answer, "code=201") == 0 ||
                     (step == FLUSH && strcmp(answer, "code=202") == 0);
    return yes && ((step == FLUSH && !c->effect) || (step == RENAME && (!c->effect || c->taken)));
}

/* Every stride-th of the answers with states of the name. */
static void try_step(struct azure_rig *rig, enum step step, size_t stride)
{
    for (size_t i = 0; i < 4 * N_ODD; i += stride) {
        char fault[200];
        silt_error err;
        const char *answer = odd[i / 4];
        struct creation c = begin(rig, step, i);
        if (is_lie(&c, step, answer)) {
            continue;
        }
        (void)snprintf(fault, sizeof(fault), "%s&%s&times=1%s", answer, requests[step], c.effect ? "&after=1" : "");
        azure_set(rig->stub, fault);
        run(&c, &err);
        const bool says_taken = step == RENAME && (strstr(answer, "409") != NULL || strstr(answer, "412") != NULL);
        judge(&c, says_taken);
    }
}

static void an_odd_answer_to_a_rename_is_no_lie_told(void **state)
{
    struct azure_rig rig;
    rig_open_with_key(&rig, *state);
    try_step(&rig, RENAME, 1);
    assert_int_equal(azure_count_names(rig.stub, ".silt-"), 0);
    rig_close(&rig);
}

static void an_odd_answer_to_what_is_before_the_rename_is_none_either(void **state)
{
    struct azure_rig rig;
    rig_open_with_key(&rig, *state);
    for (enum step step = MAKE; step < RENAME; step++) {
        try_step(&rig, step, 3);
    }
    assert_int_equal(azure_count_names(rig.stub, ".silt-"), 0);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(an_odd_answer_to_a_rename_is_no_lie_told, azure_set_up),
        cmocka_unit_test_setup(an_odd_answer_to_what_is_before_the_rename_is_none_either, azure_set_up),
    };
    return cmocka_run_group_tests(tests, azure_group_set_up, azure_group_tear_down);
}
