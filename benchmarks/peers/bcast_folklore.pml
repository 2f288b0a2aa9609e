/* Reliable broadcast by diffusion among N processes (-DN=4, from 2 to 6), at most F of which crash
 * (-DF=1).
 *
 * One process with one loop: no program counter tells states apart, so the states that SPIN stores
 * are the states of the model. Each option is one step in one atomic block, inside which SPIN
 * stores nothing; nothing but the state is a variable. Sets of processes are bit masks.
 *
 * The model starts with any set of processes that have something to say, SPIN in one state. So a
 * process may get something to say as long as nothing has happened: what that reaches are just
 * the initial states of the model, and no state is added.
 */
#ifndef N
#define N 3
#endif
#ifndef F
#define F 1
#endif

#define BIT(p) (1 << (p))

byte saying, accepted, crashed; /* V1, AC and CR; the other processes are in V0 */
byte crashes;
byte sent;
byte received[N];

#define UNTOUCHED (!sent && !crashed)

/* Who has accepted has sent; who has sent accepted, and may have crashed since; p received nothing
 * that was not sent; no more than F crashed. */
#define CHECK(p) assert(!(accepted & ~sent) && !(sent & ~(accepted | crashed)) \
                        && !(received[p] & ~sent) && crashes <= F)

#define MAY_RECEIVE(p, q) \
  if \
  :: sent & ~received[p] & BIT(q) -> received[p] = received[p] | BIT(q) \
  :: true \
  fi;

#if N == 2
#define MAY_RECEIVE_ALL(p) MAY_RECEIVE(p, 0) MAY_RECEIVE(p, 1)
#elif N == 3
#define MAY_RECEIVE_ALL(p) MAY_RECEIVE(p, 0) MAY_RECEIVE(p, 1) MAY_RECEIVE(p, 2)
#elif N == 4
#define MAY_RECEIVE_ALL(p) \
  MAY_RECEIVE(p, 0) MAY_RECEIVE(p, 1) MAY_RECEIVE(p, 2) MAY_RECEIVE(p, 3)
#elif N == 5
#define MAY_RECEIVE_ALL(p) \
  MAY_RECEIVE(p, 0) MAY_RECEIVE(p, 1) MAY_RECEIVE(p, 2) MAY_RECEIVE(p, 3) MAY_RECEIVE(p, 4)
#else
#define MAY_RECEIVE_ALL(p) \
  MAY_RECEIVE(p, 0) MAY_RECEIVE(p, 1) MAY_RECEIVE(p, 2) MAY_RECEIVE(p, 3) MAY_RECEIVE(p, 4) \
  MAY_RECEIVE(p, 5)
#endif

/* A step of p: it receives, and does nothing more, accepts or crashes. */
#define PROCESS(p) \
  :: d_step { UNTOUCHED && !(saying & BIT(p)) -> saying = saying | BIT(p) } \
  :: atomic { \
       !(crashed & BIT(p)) -> \
       MAY_RECEIVE_ALL(p) \
       if \
       :: true \
       :: d_step { \
            !(accepted & BIT(p)) && ((saying & BIT(p)) || received[p]) -> \
            saying = saying & ~BIT(p); accepted = accepted | BIT(p); sent = sent | BIT(p) } \
       :: d_step { \
            crashes < F -> \
            saying = saying & ~BIT(p); accepted = accepted & ~BIT(p); \
            crashed = crashed | BIT(p); crashes = crashes + 1 } \
       fi; \
       CHECK(p) }

active proctype system() {
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
