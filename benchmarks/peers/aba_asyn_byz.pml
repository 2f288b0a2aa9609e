/* Asynchronous Byzantine agreement by echo and ready among N processes (-DN=4, from 2 to 6), made
 * for T faults (-DT=1), at most F of which happen (-DF=0); messages are counted.
 *
 * One process with one loop: no program counter tells states apart. Each option is one step, guard
 * and effect in one d_step; nothing but the state is a variable.
 *
 * The model starts with any inputs, SPIN in one state; the first atomic block chooses them, so
 * SPIN stores one state more than there are: the one before that.
 */
#ifndef N
#define N 4
#endif
#ifndef T
#define T 1
#endif
#ifndef F
#define F 0
#endif

#define V0 0
#define V1 1
#define ECHOED 2
#define READY 3
#define ACCEPTED 4
#define BYZANTINE 5

byte pc[N];
byte echoes_here[N], readies_here[N]; /* so many were received */
byte echoes, readies, liars;          /* so many were sent; so many turned Byzantine */

#define ENOUGH(p) (echoes_here[p] >= (N + T + 2) / 2 || readies_here[p] >= T + 1)

/* Nobody accepts unless 2T + 1 were ready or Byzantine, of whom there never get to be fewer. */
#define CHECK assert(readies + liars >= 2 * T + 1)

#define PROCESS(p) \
  :: d_step { pc[p] <= V1 && liars < F -> pc[p] = BYZANTINE; liars++ } \
  :: d_step { echoes_here[p] < echoes + liars -> echoes_here[p]++ } \
  :: d_step { readies_here[p] < readies + liars -> readies_here[p]++ } \
  :: d_step { pc[p] == V1 || (pc[p] == V0 && ENOUGH(p)) -> pc[p] = ECHOED; echoes++ } \
  :: d_step { pc[p] == ECHOED && ENOUGH(p) -> pc[p] = READY; readies++ } \
  :: d_step { pc[p] == READY && readies_here[p] >= 2 * T + 1 -> pc[p] = ACCEPTED; CHECK }

#define INPUT(p) if :: pc[p] = V1 :: true fi;

#define JOINED(a, b) a##b
#define FOR_ALL(of, count) JOINED(of, count)
#define INPUTS2 INPUT(0) INPUT(1)
#define INPUTS3 INPUTS2 INPUT(2)
#define INPUTS4 INPUTS3 INPUT(3)
#define INPUTS5 INPUTS4 INPUT(4)
#define INPUTS6 INPUTS5 INPUT(5)
#define PROCESSES2 PROCESS(0) PROCESS(1)
#define PROCESSES3 PROCESSES2 PROCESS(2)
#define PROCESSES4 PROCESSES3 PROCESS(3)
#define PROCESSES5 PROCESSES4 PROCESS(4)
#define PROCESSES6 PROCESSES5 PROCESS(5)

active proctype system() {
  atomic { FOR_ALL(INPUTS, N) }
  do
  FOR_ALL(PROCESSES, N)
  od
}
