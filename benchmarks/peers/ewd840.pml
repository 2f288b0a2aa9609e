/* Termination detection with a token on a ring of N nodes (-DN=8, from 2 to 10).
 *
 * One process with one loop: no program counter tells states apart. Each option is one step, guard
 * and effect in one d_step; nothing but the state is a variable. Sets of nodes are bit masks.
 *
 * The model starts with any nodes active, any black and the token anywhere, SPIN in one state; the
 * first atomic block chooses, so SPIN stores one state more than there are: the one before that.
 */
#ifndef N
#define N 3
#endif

#define BIT(p) (1 << (p))

short active_ones, black;
byte token_at;
bit token_black = 1;

/* When node 0 holds a white token, is white and passive, all are passive. */
#define CHECK assert(token_at || token_black || ((black | active_ones) & 1) || !active_ones)

#define PASS(i) \
  :: d_step { \
       token_at == i && (!(active_ones & BIT(i)) || (black & BIT(i)) || token_black) -> \
       token_at = i - 1; token_black = token_black || (black & BIT(i)); \
       black = black & ~BIT(i); CHECK }

#define SEND(i, j) \
  :: d_step { \
       (i != j) && (active_ones & BIT(i)) -> \
       active_ones = active_ones | BIT(j); \
       black = ((j > i) -> (black | BIT(i)) : black); CHECK }

#define NODE(i) \
  :: d_step { active_ones & BIT(i) -> active_ones = active_ones & ~BIT(i); CHECK } \
  FOR_ALL(SENDS, N)(i)

#define INPUT(p) \
  if :: active_ones = active_ones | BIT(p) :: true fi; \
  if :: black = black | BIT(p) :: true fi;

#define JOINED(a, b) a##b
#define FOR_ALL(of, count) JOINED(of, count)
#define SENDS2(i) SEND(i, 0) SEND(i, 1)
#define SENDS3(i) SENDS2(i) SEND(i, 2)
#define SENDS4(i) SENDS3(i) SEND(i, 3)
#define SENDS5(i) SENDS4(i) SEND(i, 4)
#define SENDS6(i) SENDS5(i) SEND(i, 5)
#define SENDS7(i) SENDS6(i) SEND(i, 6)
#define SENDS8(i) SENDS7(i) SEND(i, 7)
#define SENDS9(i) SENDS8(i) SEND(i, 8)
#define SENDS10(i) SENDS9(i) SEND(i, 9)
#define INPUTS2 INPUT(0) INPUT(1)
#define INPUTS3 INPUTS2 INPUT(2)
#define INPUTS4 INPUTS3 INPUT(3)
#define INPUTS5 INPUTS4 INPUT(4)
#define INPUTS6 INPUTS5 INPUT(5)
#define INPUTS7 INPUTS6 INPUT(6)
#define INPUTS8 INPUTS7 INPUT(7)
#define INPUTS9 INPUTS8 INPUT(8)
#define INPUTS10 INPUTS9 INPUT(9)

active proctype system() {
  atomic {
    FOR_ALL(INPUTS, N)
    do
    :: token_at < N - 1 -> token_at++
    :: break
    od
  }
  do
  :: d_step {
       token_at == 0 && (token_black || (black & 1)) ->
       token_at = N - 1; token_black = 0; black = black & ~1; CHECK }
  NODE(0)
  NODE(1) PASS(1)
#if N > 2
  NODE(2) PASS(2)
#endif
#if N > 3
  NODE(3) PASS(3)
#endif
#if N > 4
  NODE(4) PASS(4)
#endif
#if N > 5
  NODE(5) PASS(5)
#endif
#if N > 6
  NODE(6) PASS(6)
#endif
#if N > 7
  NODE(7) PASS(7)
#endif
#if N > 8
  NODE(8) PASS(8)
#endif
#if N > 9
  NODE(9) PASS(9)
#endif
  od
}
