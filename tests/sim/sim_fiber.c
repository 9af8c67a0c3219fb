/*
 * Fibers on ucontext. AddressSanitizer is told of every change of stacks, so that it works in them as elsewhere.
 */
#include "sim_fiber.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#if defined(__SANITIZE_ADDRESS__)
#define SIM_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SIM_ASAN 1
#endif
#endif
#ifdef SIM_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

#define STACK_SIZE ((size_t)2 * 1024 * 1024)
#define GUARD_SIZE ((size_t)65536)

struct sim_fiber {
    ucontext_t self;
    ucontext_t caller;
    void (*fn)(void *arg);
    void *arg;
    bool ended;
    char *stack; /* a guard, then STACK_SIZE bytes */
    struct sim_fiber *next;
    void *fake;        /* of the fiber while it does not run */
    void *caller_fake; /* of the main stack meanwhile */
    const void *caller_stack;
    size_t caller_size;
};

static struct sim_fiber *spare;

static void leave_for(void **fake, const void *stack, size_t size)
{
#ifdef SIM_ASAN
    __sanitizer_start_switch_fiber(fake, stack, size);
#else
    (void)fake;
    (void)stack;
    (void)size;
#endif
}

static void arrive(void *fake, const void **stack, size_t *size)
{
#ifdef SIM_ASAN
    __sanitizer_finish_switch_fiber(fake, stack, size);
#else
    (void)fake;
    (void)stack;
    (void)size;
#endif
}

/* makecontext passes ints only. */
static void enter(unsigned high, unsigned low)
{
    struct sim_fiber *fiber = (struct sim_fiber *)(((uintptr_t)high << 32) | (uintptr_t)low);
    arrive(NULL, &fiber->caller_stack, &fiber->caller_size);
    fiber->fn(fiber->arg);
    fiber->ended = true;
    leave_for(NULL, fiber->caller_stack, fiber->caller_size);
    (void)setcontext(&fiber->caller);
}

struct sim_fiber *sim_fiber_new(void (*fn)(void *arg), void *arg)
{
    struct sim_fiber *fiber = spare;
    if (fiber != NULL) {
        spare = fiber->next;
    } else {
        fiber = calloc(1, sizeof(*fiber));
        if (fiber == NULL) {
            return NULL;
        }
        fiber->stack = mmap(NULL, GUARD_SIZE + STACK_SIZE, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (fiber->stack == MAP_FAILED || mprotect(fiber->stack, GUARD_SIZE, PROT_NONE) != 0 ||
            getcontext(&fiber->self) != 0) {
            free(fiber);
            return NULL;
        }
    }
    fiber->fn = fn;
    fiber->arg = arg;
    fiber->ended = false;
    fiber->self.uc_stack.ss_sp = fiber->stack + GUARD_SIZE;
    fiber->self.uc_stack.ss_size = STACK_SIZE;
    fiber->self.uc_link = NULL;
    makecontext(&fiber->self, (void (*)(void))enter, 2, (unsigned)((uintptr_t)fiber >> 32), (unsigned)(uintptr_t)fiber);
    return fiber;
}

bool sim_fiber_resume(struct sim_fiber *fiber)
{
    leave_for(&fiber->caller_fake, fiber->stack + GUARD_SIZE, STACK_SIZE);
    if (swapcontext(&fiber->caller, &fiber->self) != 0) {
        abort();
    }
    arrive(fiber->caller_fake, NULL, NULL);
    return !fiber->ended;
}

void sim_fiber_pause(struct sim_fiber *fiber)
{
    leave_for(&fiber->fake, fiber->caller_stack, fiber->caller_size);
    if (swapcontext(&fiber->self, &fiber->caller) != 0) {
        abort();
    }
    arrive(fiber->fake, &fiber->caller_stack, &fiber->caller_size);
}

void sim_fiber_free(struct sim_fiber *fiber)
{
    if (fiber != NULL) {
        fiber->next = spare;
        spare = fiber;
    }
}

void sim_fiber_drop_all(void)
{
    while (spare != NULL) {
        struct sim_fiber *fiber = spare;
        spare = fiber->next;
        (void)munmap(fiber->stack, GUARD_SIZE + STACK_SIZE); /* a program that ends */
        free(fiber);
    }
}
