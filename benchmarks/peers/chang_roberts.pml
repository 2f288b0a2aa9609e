/* Election of the smallest initiator on a ring of N nodes in one direction (-DN=7, from 2 to 8).
 *
 * One process with one loop: no program counter tells states apart. Each option is one step, guard
 * and effect in one d_step; nothing but the state is a variable. Sets of nodes are bit masks; the
 * messages to a node are a set of ids, and taking one removes it.
 *
 * The model starts with any initiators, SPIN in one state; the first atomic block chooses them, so
 * SPIN stores one state more than there are: the one before that.
 */
#ifndef N
#define N 3
#endif

#define BIT(p) (1 << (p))
#define NEXT(p) (((p) + 1) % N)

byte initiators, running, lost, won; /* neither lost nor won: a candidate */
byte inbox[N];

/* Nobody wins but the initiator with the smallest id. */
#define CHECK(p) assert((initiators & BIT(p)) && !(initiators & (BIT(p) - 1)))

#define START(p) \
  :: d_step { \
       !(running & BIT(p)) -> \
       running = running | BIT(p); \
       inbox[NEXT(p)] = inbox[NEXT(p)] | (initiators & BIT(p)) }

#define TAKE(p, id) \
  :: d_step { \
       (running & BIT(p)) && (inbox[p] & BIT(id)) -> \
       inbox[p] = inbox[p] & ~BIT(id); \
       if \
       :: (lost & BIT(p)) || id < p -> \
          lost = lost | BIT(p); won = won & ~BIT(p); inbox[NEXT(p)] = inbox[NEXT(p)] | BIT(id) \
       :: else -> \
          if \
          :: id == p -> won = won | BIT(p); CHECK(p) \
          :: else -> skip \
          fi \
       fi }

#define JOINED(a, b) a##b
#define FOR_ALL(of, count) JOINED(of, count)
#define NODE(p) START(p) FOR_ALL(TAKES, N)(p)
#define TAKES2(p) TAKE(p, 0) TAKE(p, 1)
#define TAKES3(p) TAKES2(p) TAKE(p, 2)
#define TAKES4(p) TAKES3(p) TAKE(p, 3)
#define TAKES5(p) TAKES4(p) TAKE(p, 4)
#define TAKES6(p) TAKES5(p) TAKE(p, 5)
#define TAKES7(p) TAKES6(p) TAKE(p, 6)
#define TAKES8(p) TAKES7(p) TAKE(p, 7)
#define INPUT(p) \
  if \
  :: initiators = initiators | BIT(p) \
  :: lost = lost | BIT(p) \
  fi;
#define INPUTS2 INPUT(0) INPUT(1)
#define INPUTS3 INPUTS2 INPUT(2)
#define INPUTS4 INPUTS3 INPUT(3)
#define INPUTS5 INPUTS4 INPUT(4)
#define INPUTS6 INPUTS5 INPUT(5)
#define INPUTS7 INPUTS6 INPUT(6)
#define INPUTS8 INPUTS7 INPUT(7)

active proctype system() {
  atomic { FOR_ALL(INPUTS, N) }
  do
  NODE(0)
  NODE(1)
#if N > 2
  NODE(2)
#endif
#if N > 3
  NODE(3)
#endif
#if N > 4
  NODE(4)
#endif
#if N > 5
  NODE(5)
#endif
#if N > 6
  NODE(6)
#endif
#if N > 7
  NODE(7)
#endif
  od
}
