/* Two-phase commit with N resource managers (-DN=8, from 2 to 9); messages once sent stay.
 *
 * One process with one loop: no program counter tells states apart, so the states that SPIN stores
 * are the states of the model. Each option is one step, guard and effect in one d_step; nothing
 * but the state is a variable. Sets of resource managers are bit masks, which keeps the state
 * vector short.
 */
#ifndef N
#define N 3
#endif

#define BIT(p) (1 << (p))
#define ALL (BIT(N) - 1)

short prepared, committed, aborted; /* resource managers; the others are working */
short known;                        /* those the transaction manager knows to be prepared */
short sent;                         /* those whose Prepared message was sent */
bit commit_sent, abort_sent;
bit tm_committed, tm_aborted;       /* the transaction manager; undecided if neither */

#define WORKING(p) (!((prepared | committed | aborted) & BIT(p)))
#define UNDECIDED (!tm_committed && !tm_aborted)
#define CHECK assert(!committed || !aborted)

#define RESOURCE_MANAGER(p) \
  :: d_step { WORKING(p) -> prepared = prepared | BIT(p); sent = sent | BIT(p) } \
  :: d_step { WORKING(p) -> aborted = aborted | BIT(p); CHECK } \
  :: d_step { commit_sent -> committed = committed | BIT(p); prepared = prepared & ~BIT(p); \
              aborted = aborted & ~BIT(p); CHECK } \
  :: d_step { abort_sent -> aborted = aborted | BIT(p); prepared = prepared & ~BIT(p); \
              committed = committed & ~BIT(p); CHECK } \
  :: d_step { UNDECIDED && (sent & BIT(p)) -> known = known | BIT(p) }

active proctype system() {
  do
  :: d_step { UNDECIDED && known == ALL -> tm_committed = 1; commit_sent = 1 }
  :: d_step { UNDECIDED -> tm_aborted = 1; abort_sent = 1 }
  RESOURCE_MANAGER(0)
  RESOURCE_MANAGER(1)
#if N > 2
  RESOURCE_MANAGER(2)
#endif
#if N > 3
  RESOURCE_MANAGER(3)
#endif
#if N > 4
  RESOURCE_MANAGER(4)
#endif
#if N > 5
  RESOURCE_MANAGER(5)
#endif
#if N > 6
  RESOURCE_MANAGER(6)
#endif
#if N > 7
  RESOURCE_MANAGER(7)
#endif
#if N > 8
  RESOURCE_MANAGER(8)
#endif
  od
}
