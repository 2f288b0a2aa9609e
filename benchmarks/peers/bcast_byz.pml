/* Reliable broadcast by echoes among N processes (-DN=4, from 2 to 6), made for T faults (-DT=1),
 * F of which lie (-DF=1) and take no steps; an echo of theirs can be received at any time.
 *
 * One process with one loop: no program counter tells states apart. Each option is one step in one
 * atomic block, inside which SPIN stores nothing; `fresh` is of no state. Where nothing but
 * receiving would be possible the step is taken back, since there is none that only receives. Sets
 * of processes are bit masks.
 *
 * The model starts with any inputs and any F liars, SPIN in one state; the first atomic block
 * chooses them, so SPIN stores one state more than there are: the one before that.
 */
#ifndef N
#define N 4
#endif
#ifndef T
#define T 1
#endif
#ifndef F
#define F 1
#endif

#define BIT(p) (1 << (p))
#define ALL (BIT(N) - 1)
#define CARD(s) (((s) & 1) + ((s) >> 1 & 1) + ((s) >> 2 & 1) + ((s) >> 3 & 1) + ((s) >> 4 & 1) \
                 + ((s) >> 5 & 1))

byte saying, echoed, accepted; /* V1, SE and AC; the other processes are in V0 */
byte sent, correct;
byte received[N];
hidden byte fresh;

/* A correct process that has echoed or accepted has sent its echo. */
#define CHECK assert(!(correct & (echoed | accepted) & ~sent))

#define MAY_RECEIVE(p, q) \
  if \
  :: (sent | (ALL & ~correct)) & ~received[p] & BIT(q) -> \
     received[p] = received[p] | BIT(q); fresh = fresh | BIT(q) \
  :: true \
  fi;

#define PROCESS(p) \
  :: atomic { \
       (correct & ~accepted & BIT(p)) -> fresh = 0; \
       FOR_ALL(RECEIVE, N)(p) \
       if \
       :: d_step { \
            saying & BIT(p) -> \
            saying = saying & ~BIT(p); echoed = echoed | BIT(p); sent = sent | BIT(p) } \
       :: d_step { \
            !(echoed & BIT(p)) && CARD(received[p]) >= N - 2 * T && CARD(received[p]) < N - T -> \
            saying = saying & ~BIT(p); echoed = echoed | BIT(p); sent = sent | BIT(p) } \
       :: d_step { \
            CARD(received[p]) >= N - T -> \
            saying = saying & ~BIT(p); echoed = echoed & ~BIT(p); \
            accepted = accepted | BIT(p); sent = sent | BIT(p) } \
       :: else -> received[p] = received[p] & ~fresh \
       fi; \
       CHECK }

#define INPUT(p) \
  if :: saying = saying | BIT(p) :: true fi; \
  if \
  :: CARD(correct) < N - F -> correct = correct | BIT(p) \
  :: p - CARD(correct) < F -> true \
  fi;

#define JOINED(a, b) a##b
#define FOR_ALL(of, count) JOINED(of, count)
#define RECEIVE2(p) MAY_RECEIVE(p, 0) MAY_RECEIVE(p, 1)
#define RECEIVE3(p) RECEIVE2(p) MAY_RECEIVE(p, 2)
#define RECEIVE4(p) RECEIVE3(p) MAY_RECEIVE(p, 3)
#define RECEIVE5(p) RECEIVE4(p) MAY_RECEIVE(p, 4)
#define RECEIVE6(p) RECEIVE5(p) MAY_RECEIVE(p, 5)
#define INPUTS2 INPUT(0) INPUT(1)
#define INPUTS3 INPUTS2 INPUT(2)
#define INPUTS4 INPUTS3 INPUT(3)
#define INPUTS5 INPUTS4 INPUT(4)
#define INPUTS6 INPUTS5 INPUT(5)

active proctype system() {
  atomic { FOR_ALL(INPUTS, N) }
  do
  PROCESS(0)
  PROCESS(1)
#if N > 2
  PROCESS(2)
#endif
#if N > 3
  PROCESS(3)
#endif
#if N > 4
  PROCESS(4)
#endif
#if N > 5
  PROCESS(5)
#endif
  od
}
