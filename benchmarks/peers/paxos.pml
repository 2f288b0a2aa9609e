/* Paxos for one value, three acceptors, ballots 0 to TOP (-DTOP=1), values 1 to VALUES (-DVALUES=2);
 * leaders have no state, messages once sent stay.
 *
 * One process with one loop: no program counter tells states apart. Each option is one step, guard
 * and effect in one d_step; nothing but the state is a variable. Sets of ballots are bit masks. An
 * acceptor promises a ballot once and a ballot has one proposal, so messages are kept by that:
 * a promise is 0 where there is none, or 1 more than the number of the vote that it tells of, and
 * the vote for v in ballot b has number (b + 1) (VALUES + 1) + v, none has number 0.
 */
#ifndef TOP
#define TOP 1
#endif
#ifndef VALUES
#define VALUES 2
#endif

#define BIT(p) (1 << (p))
#define BALLOTS (TOP + 1)

byte opened;                     /* 1a */
byte promise[3 * (TOP + 1)];     /* 1b, by acceptor and ballot */
byte proposal[TOP + 1];          /* 2a, by ballot: the value, or 0 */
byte votes[3];                   /* 2b, by acceptor: ballots */
byte next[3];                    /* no ballot smaller than that is taken part in: maxBal + 1 */
byte vote[3];                    /* number of the last vote */

#define OF(a, b) promise[(a) * BALLOTS + (b)]
#define LARGER(x, y) ((x) > (y) -> (x) : (y))

/* The largest vote that the quorum { p, q } told of in ballot b leaves the choice, or is for v. */
#define LEAVES(b, v, p, q) \
  (OF(p, b) && OF(q, b) && \
   (LARGER(OF(p, b), OF(q, b)) == 1 || (LARGER(OF(p, b), OF(q, b)) - 1) % (VALUES + 1) == v))

#define MAJORITY(b) (((votes[0] >> (b)) & 1) + ((votes[1] >> (b)) & 1) + ((votes[2] >> (b)) & 1) > 1)

/* No two values are ever chosen. */
#define SAME(b, c) (!MAJORITY(b) || !MAJORITY(c) || proposal[b] == proposal[c])
#if TOP == 1
#define CHECK assert(SAME(0, 1))
#elif TOP == 2
#define CHECK assert(SAME(0, 1) && SAME(0, 2) && SAME(1, 2))
#else
#define CHECK assert(SAME(0, 1) && SAME(0, 2) && SAME(1, 2) && SAME(0, 3) && SAME(1, 3) && SAME(2, 3))
#endif

#define PROPOSE(b, v) \
  :: d_step { \
       !proposal[b] && (LEAVES(b, v, 0, 1) || LEAVES(b, v, 0, 2) || LEAVES(b, v, 1, 2)) -> \
       proposal[b] = v }

#define ACCEPTOR(a, b) \
  :: d_step { (opened & BIT(b)) && b >= next[a] -> next[a] = b + 1; OF(a, b) = vote[a] + 1 } \
  :: d_step { \
       proposal[b] && b + 1 >= next[a] -> \
       next[a] = b + 1; vote[a] = (b + 1) * (VALUES + 1) + proposal[b]; \
       votes[a] = votes[a] | BIT(b); CHECK }

#define JOINED(a, b) a##b
#define FOR_ALL(of, count) JOINED(of, count)
#define PROPOSE1(b) PROPOSE(b, 1)
#define PROPOSE2(b) PROPOSE1(b) PROPOSE(b, 2)
#define PROPOSE3(b) PROPOSE2(b) PROPOSE(b, 3)
#define PROPOSE4(b) PROPOSE3(b) PROPOSE(b, 4)

#define BALLOT(b) \
  :: d_step { !(opened & BIT(b)) -> opened = opened | BIT(b) } \
  FOR_ALL(PROPOSE, VALUES)(b) \
  ACCEPTOR(0, b) ACCEPTOR(1, b) ACCEPTOR(2, b)

active proctype system() {
  do
  BALLOT(0)
  BALLOT(1)
#if TOP > 1
  BALLOT(2)
#endif
#if TOP > 2
  BALLOT(3)
#endif
  od
}
