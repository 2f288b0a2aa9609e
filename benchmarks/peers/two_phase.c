/* Two-phase commit with N resource managers (-DN=8, at most 15), all reachable states.
 *
 * A state is 4N + 4 bits, from the low end: two planes of N bits for the resource managers
 * (neither: working, LOW: prepared, HIGH: committed, both: aborted), those the transaction manager
 * knows to be prepared, the Prepared messages sent, the Commit and the Abort message, and the
 * transaction manager itself (0 undecided, COMMITTED, ABORTED). A message once sent stays.
 */
#include "search.h"

#ifndef N
#define N 3
#endif
_Static_assert(N >= 1 && N <= 15, "a state has to fit into 64 bits");

#define BIT(position) (UINT64_C(1) << (position))
#define ALL (BIT(N) - 1)

enum { LOW = 0, HIGH = N, KNOWN = 2 * N, SENT = 3 * N };

static const state_t COMMIT_SENT = BIT(4 * N);
static const state_t ABORT_SENT = BIT(4 * N + 1);
static const state_t COMMITTED = BIT(4 * N + 2);
static const state_t ABORTED = BIT(4 * N + 3);

static inline size_t expand(state_t state, state_t *successors)
{
    state_t *out = successors;
    bool undecided = !(state & (COMMITTED | ABORTED));
    for (int rm = 0; rm < N; rm++) {
        state_t low = BIT(LOW + rm);
        state_t high = BIT(HIGH + rm);
        if (!(state & (low | high))) {
            *out++ = state | low | BIT(SENT + rm);
            *out++ = state | low | high;
        }
        if (state & COMMIT_SENT)
            *out++ = (state | high) & ~low;
        if (state & ABORT_SENT)
            *out++ = state | low | high;
        if (undecided && (state & BIT(SENT + rm)))
            *out++ = state | BIT(KNOWN + rm);
    }
    if (undecided) {
        *out++ = state | ABORTED | ABORT_SENT;
        if ((state >> KNOWN & ALL) == ALL)
            *out++ = state | COMMITTED | COMMIT_SENT;
    }
    return (size_t)(out - successors);
}

/* Nobody has committed while somebody has aborted. */
static inline bool safe(state_t state)
{
    state_t low = state >> LOW & ALL;
    state_t high = state >> HIGH & ALL;
    return !(high & ~low) || !(high & low);
}

int main(void)
{
    const struct model two_phase = {expand, safe};
    const state_t initial = 0;
    return report(search(two_phase, &initial, 1));
}
