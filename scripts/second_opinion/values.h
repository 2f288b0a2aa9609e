#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
typedef long long L;
enum { DONE, REMOVED, FAULTED };
#define CONSTRAINTS 512
#define MOST_NODES 4096

static jmp_buf out_;
static void fault(void) { longjmp(out_, FAULTED); }
static void removed(void) { longjmp(out_, REMOVED); }

/* An execution makes the choices on the tape, and further ones by taking the first member. */
static int tape[4096], sizes[4096], tape_length, tape_at;
static long choose(long n) {
  if (n <= 0) removed();
  if (tape_at == 4096) abort();
  if (tape_at == tape_length) { tape[tape_length] = 0; sizes[tape_length++] = (int)n; }
  return tape[tape_at++];
}
static int advance(void) {
  while (tape_length && tape[tape_length - 1] + 1 >= sizes[tape_length - 1]) tape_length--;
  if (!tape_length) return 0;
  tape[tape_length - 1]++;
  return 1;
}
static int run(void (*f)(void)) {
  tape_at = 0;
  int how = setjmp(out_);
  if (!how) f();
  return how;
}

static int label_now, just_now, hit; static unsigned long true_now;
typedef struct { int from, to; unsigned long yes, no; } Reading;

/* A fairness constraint is a group and the values of a key. */
#define KEYS 64
static int constraint_key[CONSTRAINTS][KEYS], constraint_strong[CONSTRAINTS], constraint_count;
static void subject(int group, int strong, const int *key, int n) {
  int all_[KEYS] = {0};
  all_[0] = group; memcpy(all_ + 1, key, n * sizeof(int));
  int c = 0;
  while (c < constraint_count && memcmp(constraint_key[c], all_, sizeof all_)) c++;
  if (c == CONSTRAINTS) { fflush(stdout); _exit(78); }
  if (c == constraint_count) { memcpy(constraint_key[constraint_count++], all_, sizeof all_); constraint_strong[c] = strong; }
  label_now = c;
}

static L within(L v, L lo, L hi) { if (v < lo || v > hi) fault(); return v; }
static long rank(L v, L lo, L hi) { return v < lo || v > hi ? -1 : v - lo; }
static int *entry(int *p, long at, long n, int w) { if (at < 0 || at >= n) fault(); return p + at * w; }
static int *item(int *p, L at, int w) { if (at < 0 || at >= p[0]) fault(); return p + 1 + at * w; }
static int *last(int *p, int w) { return item(p, p[0] - 1, w); }
static int *got(int *p) { if (!p[0]) fault(); return p + 1; }
static L div_(L a, L b) { if (!b) fault(); L q = a / b; return q - (a % b && (a < 0) != (b < 0)); }
static L mod_(L a, L b) { return a - b * div_(a, b); }

static int bit(int *p, long i) { return p[i / 31] >> i % 31 & 1; }
static int bit_(int *p, long i) { return i >= 0 && bit(p, i); }
static void put(int *p, long i) { if (i < 0) fault(); p[i / 31] |= 1 << i % 31; }
static void drop_bit(int *p, long i) { if (i >= 0) p[i / 31] &= ~(1 << i % 31); }
static L card(int *p, int w) { L n = 0; for (int i = 0; i < w; i++) n += __builtin_popcount(p[i]); return n; }
static int subset(int *p, int *q, int w) { for (int i = 0; i < w; i++) if (p[i] & ~q[i]) return 0; return 1; }
static L min(int *p, long n) { for (long i = 0; i < n; i++) if (bit(p, i)) return i; fault(); return 0; }
static L max(int *p, long n) { while (n--) if (bit(p, n)) return n; fault(); return 0; }
static void subset_of(int *to, int *of, long mask, long n) {
  for (long i = 0, k = 0; i < n; i++) if (bit(of, i) && mask >> k++ & 1) put(to, i);
}

static void append(int *p, int *x, int cap, int w) {
  if (p[0] >= cap) fault();
  memcpy(p + 1 + w * p[0]++, x, w * sizeof(int));
}
static void delete_at(int *p, L at, int w) {
  item(p, at, w);
  memmove(p + 1 + at * w, p + 1 + (at + 1) * w, (p[0] - at - 1) * w * sizeof(int));
  memset(p + 1 + --p[0] * w, 0, w * sizeof(int));
}
static void take(int *p, L n, int w) {
  if (n < 0 || n > p[0]) fault();
  memset(p + 1 + n * w, 0, (p[0] - n) * w * sizeof(int)); p[0] = (int)n;
}
static void drop(int *p, L n, int w) {
  if (n < 0 || n > p[0]) fault();
  while (n--) delete_at(p, 0, w);
}
static void concat(int *p, int *q, int cap, int w) { for (int i = 0; i < q[0]; i++) append(p, q + 1 + i * w, cap, w); }
static L find(int *p, int *x, int w) {
  for (int i = 0; i < p[0]; i++) if (!memcmp(p + 1 + i * w, x, w * sizeof(int))) return i;
  return -1;
}
static int in(int *p, int *x, int w) { return find(p, x, w) >= 0; }
static L index_of(int *p, int *x, int w) { L i = find(p, x, w); if (i < 0) fault(); return i; }
static L bag_count(int *p, int *x, int w) {
  L n = 0;
  for (int i = 0; i < p[0]; i++) n += !memcmp(p + 1 + i * w, x, w * sizeof(int));
  return n;
}
static int prefix(int *p, int *q, int w) { return p[0] <= q[0] && !memcmp(p + 1, q + 1, p[0] * w * sizeof(int)); }
static int less(int *p, int *q, int w) { for (int i = 0; i < w; i++) if (p[i] != q[i]) return p[i] < q[i]; return 0; }
static void bag_add(int *p, int *x, int cap, int w, int once) {
  if (once && in(p, x, w)) return;
  if (p[0] >= cap) fault();
  int at = p[0]++;
  while (at && less(x, p + 1 + (at - 1) * w, w)) { memcpy(p + 1 + at * w, p + 1 + (at - 1) * w, w * sizeof(int)); at--; }
  memcpy(p + 1 + at * w, x, w * sizeof(int));
}
static void bag_remove(int *p, int *x, int w) { L i = find(p, x, w); if (i >= 0) delete_at(p, i, w); }
