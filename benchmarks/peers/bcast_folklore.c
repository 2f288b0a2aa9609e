/* Reliable broadcast by diffusion among N processes, at most F of which crash (-DN=4 -DF=1, N at
 * most 6), all reachable states.
 *
 * A state is 3N + N * N bits, from the low end: two planes of N bits for the processes (neither:
 * V0, has nothing to say; LOW: V1, has something to say; HIGH: accepted; both: crashed), who has
 * sent, and for each process from whom it has received. A process that takes a step may receive
 * any of what was sent, and in the same step accepts (and sends to all at once), crashes, or does
 * nothing more.
 */
#include "search.h"

#ifndef N
#define N 3
#endif
#ifndef F
#define F 1
#endif
_Static_assert(N >= 1 && N <= 6, "a state has to fit into 64 bits");
_Static_assert(3 * N * (1 << N) <= MAX_SUCCESSORS, "the successors have to fit into a batch");

#define BIT(position) (UINT64_C(1) << (position))
#define ALL (BIT(N) - 1)

enum { LOW = 0, HIGH = N, SENT = 2 * N, RECEIVED = 3 * N };

/* The steps in which p ends up with `received`; `state` already says so. */
static inline state_t *steps_of(state_t state, int p, state_t received, bool may_crash,
                                state_t *out)
{
    state_t low = BIT(LOW + p);
    state_t high = BIT(HIGH + p);
    *out++ = state;
    if (may_crash)
        *out++ = state | low | high;
    if (!(state & high) && ((state & low) || received))
        *out++ = (state | high | BIT(SENT + p)) & ~low;
    return out;
}

static inline size_t expand(state_t state, state_t *successors)
{
    state_t *out = successors;
    state_t crashed = (state >> LOW) & (state >> HIGH) & ALL;
    state_t sent = state >> SENT & ALL;
    bool may_crash = __builtin_popcountll(crashed) < F;
    for (int p = 0; p < N; p++) {
        if (crashed & BIT(p))
            continue;
        int place = RECEIVED + p * N;
        state_t received = state >> place & ALL;
        state_t waiting = sent & ~received;
        state_t more = 0;
        do {
            out = steps_of(state | more << place, p, received | more, may_crash, out);
            more = (more - waiting) & waiting; /* the next subset, after the last one the empty */
        } while (more);
    }
    return (size_t)(out - successors);
}

/* Who has accepted has sent; who has sent accepted, and may have crashed since; nobody received
 * what was not sent; no more than F crashed. */
static inline bool safe(state_t state)
{
    state_t low = state >> LOW & ALL;
    state_t high = state >> HIGH & ALL;
    state_t sent = state >> SENT & ALL;
    state_t received = 0;
    for (int p = 0; p < N; p++)
        received |= state >> (RECEIVED + p * N) & ALL;
    return !(high & ~low & ~sent) && !(sent & ~high) && !(received & ~sent)
        && __builtin_popcountll(high & low) <= F;
}

int main(void)
{
    const struct model bcast_folklore = {expand, safe};
    state_t initial[1 << N];
    for (state_t saying = 0; saying <= ALL; saying++)
        initial[saying] = saying << LOW;
    return report(search(bcast_folklore, initial, 1 << N));
}
