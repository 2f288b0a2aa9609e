/* Breadth-first search over states that fit into one 64-bit word: one thread, nothing approximate.
 *
 * A model includes this file, defines the two functions of `struct model` and calls `search`.
 * The seen set holds the states themselves, so the counts are exact. Successors are collected in
 * a small batch before they are looked up: the table is larger than the caches, and the batch
 * gives the memory time to answer.
 */
#ifndef SEARCH_H
#define SEARCH_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

typedef uint64_t state_t; /* any value but the one with all bits set */

enum { BATCH = 64, MAX_SUCCESSORS = 1024, SLOTS_AT_START = 1 << 12 };

struct model {
    /* Writes the successors of a state, at most MAX_SUCCESSORS; returns how many.
     * One for each enabled choice: a step that changes nothing counts too. */
    size_t (*expand)(state_t state, state_t *successors);
    /* Whether the invariant holds. */
    bool (*safe)(state_t state);
};

struct seen_set {
    uint64_t *slots; /* state + 1, or 0 where free */
    size_t mask;     /* number of slots - 1, a power of two - 1 */
    size_t count;
};

struct level {
    state_t *states;
    size_t count;
    size_t room;
};

struct result {
    uint64_t states;
    uint64_t transitions;
    unsigned depth; /* largest distance of a state from the initial ones */
    double seconds;
    bool safe;
};

static void *checked(void *memory)
{
    if (memory == NULL) {
        fputs("out of memory\n", stderr);
        exit(2);
    }
    return memory;
}

/* Free slots, on large pages where the system has them: most of the time goes into cache and page
 * misses of the table. */
static uint64_t *empty_slots(size_t count)
{
    const size_t page = (size_t)1 << 21;
    size_t size = (count * sizeof(uint64_t) + page - 1) / page * page;
    uint64_t *slots = checked(aligned_alloc(page, size));
#ifdef MADV_HUGEPAGE
    (void)madvise(slots, size, MADV_HUGEPAGE);
#endif
    return memset(slots, 0, count * sizeof(uint64_t));
}

static inline uint64_t mixed(uint64_t word)
{
    word *= UINT64_C(0x9e3779b97f4a7c15);
    return word ^ (word >> 32);
}

/* The slot where a key stands, or the free one where it belongs. */
static inline size_t slot_of(const struct seen_set *set, uint64_t key)
{
    size_t slot = mixed(key) & set->mask;
    while (set->slots[slot] != 0 && set->slots[slot] != key)
        slot = (slot + 1) & set->mask;
    return slot;
}

/* Makes sure that `more` states fit in with a quarter of the slots left free. */
static void reserve(struct seen_set *set, size_t more)
{
    size_t room = set->mask + 1;
    while ((set->count + more) * 4 > room * 3)
        room *= 2;
    if (room == set->mask + 1)
        return;
    struct seen_set larger = {empty_slots(room), room - 1, set->count};
    for (size_t slot = 0; slot <= set->mask; slot++)
        if (set->slots[slot] != 0)
            larger.slots[slot_of(&larger, set->slots[slot])] = set->slots[slot];
    free(set->slots);
    *set = larger;
}

/* Adds a state; false if it was there. There has to be room. */
static inline bool insert(struct seen_set *set, state_t state)
{
    size_t slot = slot_of(set, state + 1);
    if (set->slots[slot] != 0)
        return false;
    set->slots[slot] = state + 1;
    set->count++;
    return true;
}

static inline void append(struct level *level, state_t state)
{
    if (level->count == level->room) {
        level->room = level->room * 2 + BATCH;
        level->states = checked(realloc(level->states, level->room * sizeof(state_t)));
    }
    level->states[level->count++] = state;
}

/* Puts what is new among the successors into the seen set and the next level.
 * Returns whether all that is new is safe. */
static inline bool absorb(struct seen_set *seen, struct level *next, struct model model,
                          const state_t *successors, size_t count)
{
    bool safe = true;
    reserve(seen, count);
    for (size_t i = 0; i < count; i++)
        if (insert(seen, successors[i])) {
            safe &= model.safe(successors[i]);
            append(next, successors[i]);
        }
    return safe;
}

/* Expands one level into the next; adds to the transitions. Returns whether all is safe. */
static inline bool expand_level(struct seen_set *seen, const struct level *level,
                                struct level *next, struct model model, uint64_t *transitions)
{
    state_t batch[BATCH + MAX_SUCCESSORS];
    size_t waiting = 0;
    bool safe = true;
    for (size_t i = 0; i < level->count; i++) {
        size_t added = model.expand(level->states[i], batch + waiting);
        for (size_t j = waiting; j < waiting + added; j++)
            __builtin_prefetch(&seen->slots[mixed(batch[j] + 1) & seen->mask]);
        waiting += added;
        *transitions += added;
        if (waiting >= BATCH) {
            safe &= absorb(seen, next, model, batch, waiting);
            waiting = 0;
        }
    }
    return absorb(seen, next, model, batch, waiting) && safe;
}

static inline double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Explores all that is reachable from the initial states, level by level; stops after the first
 * level that holds an unsafe state. */
static inline struct result search(struct model model, const state_t *initial, size_t count)
{
    double start = now();
    struct result result = {.safe = true};
    struct seen_set seen = {empty_slots(SLOTS_AT_START), SLOTS_AT_START - 1, 0};
    struct level level = {0};
    struct level next = {0};
    result.safe = absorb(&seen, &level, model, initial, count);
    while (result.safe) {
        result.safe = expand_level(&seen, &level, &next, model, &result.transitions);
        if (next.count == 0)
            break;
        result.depth++;
        struct level done = level;
        level = next;
        next = done;
        next.count = 0;
    }
    result.states = seen.count;
    free(seen.slots);
    free(level.states);
    free(next.states);
    result.seconds = now() - start;
    return result;
}

/* Prints the result as one JSON object; returns the exit status, 1 if something is unsafe. */
static int report(struct result result)
{
    printf("{\"states\": %" PRIu64 ", \"depth\": %u, \"transitions\": %" PRIu64
           ", \"seconds\": %.6f, \"safe\": %s}\n",
           result.states, result.depth, result.transitions, result.seconds,
           result.safe ? "true" : "false");
    return result.safe ? 0 : 1;
}

#endif
