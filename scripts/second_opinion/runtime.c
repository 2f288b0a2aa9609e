/* What every translated system needs: executions by replayed choices, values, the state graph, and
   the product of it with an automaton and the fairness constraints.  The system itself is in front
   of this text, behind `values.h`. */

#define NODE 28
typedef struct { int started, accepting, state, values, q, waits, dead; } Node;

/* ---- the successors of a state ---- */

static unsigned char *next_; static int *next_label, next_count, next_room;
static int faults;
static unsigned long enabled_[CONSTRAINTS / 64];

static void pack(unsigned char *out) {
  int at = 0; memset(out, 0, BYTES);
  for (int i = 0; i < CELLS; i++) {
    unsigned v = (unsigned)S[i] - (unsigned)LEAST[i];
    for (int b = 0; b < WIDE[i]; b++, at++) if (v >> b & 1) out[at / 8] |= 1 << at % 8;
  }
}
static void unpack(const unsigned char *in, int *to) {
  int at = 0;
  for (int i = 0; i < CELLS; i++) {
    unsigned v = 0;
    for (int b = 0; b < WIDE[i]; b++, at++) v |= (unsigned)(in[at / 8] >> at % 8 & 1) << b;
    to[i] = (int)v + LEAST[i];
  }
}
static void emit(int label) {
  if (next_count == next_room) {
    next_room = next_room ? 2 * next_room : 256;
    next_ = realloc(next_, (size_t)next_room * BYTES); next_label = realloc(next_label, next_room * sizeof(int));
  }
  next_label[next_count] = label; pack(next_ + (size_t)BYTES * next_count++);
}
static void all(void (*f)(void), const int *from) {
  tape_length = 0;
  do {
    memcpy(S, from, sizeof S); label_now = -1;
    int how = run(f);
    if (how == DONE) emit(label_now);
    if (how == FAULTED) faults++;
    if (how != REMOVED && label_now >= 0) enabled_[label_now / 64] |= 1UL << label_now % 64;
  } while (advance());
}
static void initial(void) { next_count = 0; all(begin, START); }
static void expand(const unsigned char *packed) {
  int from[CELLS + 1]; unpack(packed, from);
  next_count = 0; memset(enabled_, 0, sizeof enabled_);
  for (int a = 0; a < ACTIONS; a++) all(action[a], from);
}
static int is_enabled(const unsigned long *e, int c) { return e[c / 64] >> c % 64 & 1; }
static int just_in(const unsigned char *packed) { /* a bit for each justice that holds */
  just_now = 0; unpack(packed, S); tape_length = 0; run(justice); return just_now;
}
static int is_end(const unsigned char *packed) {
  unsigned long owed[CONSTRAINTS / 64]; memcpy(owed, enabled_, sizeof owed);
  for (int i = 0; i < next_count; i++)
    if (next_label[i] >= 0 && !memcmp(next_ + (size_t)BYTES * i, packed, BYTES))
      owed[next_label[i] / 64] &= ~(1UL << next_label[i] % 64);
  for (int i = 0; i < CONSTRAINTS / 64; i++) if (owed[i]) return 0;
  return just_in(packed) == (1 << JUSTICE) - 1;
}

/* ---- the search for states: a node is `1`, and a packed state ---- */

static long expanded, ways, ends, most, unevaluable; static char bad_seen[PROPERTIES + 1];
static void summary(void) {
  printf("second opinion: expanded %ld ways %ld ends %ld faults %d unevaluable %ld bad %s\n", expanded, ways, ends,
         faults, unevaluable, bad_seen);
}
static void inspect(const unsigned char *packed) {
  for (int i = 0; i < PROPERTIES; i++) {
    if (bad_seen[i] != '0') continue;
    unpack(packed, S); tape_length = 0; hit = 0;
    if (run(bad[i]) != DONE) unevaluable++;
    else if (hit) bad_seen[i] = '1';
  }
}
static int state_successors(const unsigned char *node) {
  static unsigned char last[BYTES + 1]; static int known, count;
  if (known && !memcmp(last, node, BYTES + 1)) return count;
  if (!known) { memset(bad_seen, '0', PROPERTIES); atexit(summary); }
  known = 1; memcpy(last, node, BYTES + 1);
  if (!node[0]) initial();
  else {
    expand(node + 1); expanded++; ways += next_count; ends += is_end(node + 1);
    inspect(node + 1);
  }
  count = 0;
  for (int i = 0; i < next_count; i++) { /* each once */
    int j = 0;
    while (j < count && memcmp(next_ + (size_t)BYTES * j, next_ + (size_t)BYTES * i, BYTES)) j++;
    if (j == count) memmove(next_ + (size_t)BYTES * count++, next_ + (size_t)BYTES * i, BYTES);
  }
  return count;
}

/* ---- the state graph, as numbers, for the search for cycles ---- */

typedef struct { int to, label; } Edge;
typedef struct { Edge *edges; int count, just; unsigned long *enabled, *truth; } State;
static State *states; static unsigned char *rows; static int state_count, state_room, *slots, slot_count;
static int *starts, start_count, property_, assignments;

static int number(const unsigned char *packed) {
  if (2 * state_count >= slot_count) {
    slot_count = slot_count ? 2 * slot_count : 1024; slots = realloc(slots, slot_count * sizeof(int));
    memset(slots, -1, slot_count * sizeof(int));
    for (int i = 0; i < state_count; i++) {
      unsigned long h = 14695981039346656037UL;
      for (int j = 0; j < BYTES; j++) h = (h ^ rows[(size_t)BYTES * i + j]) * 1099511628211UL;
      while (slots[h % slot_count] >= 0) h++;
      slots[h % slot_count] = i;
    }
  }
  unsigned long h = 14695981039346656037UL;
  for (int j = 0; j < BYTES; j++) h = (h ^ packed[j]) * 1099511628211UL;
  for (; slots[h % slot_count] >= 0; h++)
    if (!memcmp(rows + (size_t)BYTES * slots[h % slot_count], packed, BYTES)) return slots[h % slot_count];
  if (state_count == state_room) {
    state_room = state_room ? 2 * state_room : 1024;
    states = realloc(states, state_room * sizeof(State)); rows = realloc(rows, (size_t)state_room * BYTES);
  }
  memset(&states[state_count], 0, sizeof(State));
  memcpy(rows + (size_t)BYTES * state_count, packed, BYTES); slots[h % slot_count] = state_count;
  return state_count++;
}
static void truths(int s) { /* which propositions hold, for each assignment of the parameters */
  int from[CELLS + 1], room = 0; unpack(rows + (size_t)BYTES * s, from);
  tape_length = 0; assignments = 0;
  do {
    memcpy(S, from, sizeof S); true_now = 0;
    int how = run(propositions[property_]);
    if (how == REMOVED) continue;
    if (how == FAULTED) unevaluable++;
    if (assignments == room) states[s].truth = realloc(states[s].truth, (room = 2 * room + 4) * sizeof(long));
    states[s].truth[assignments++] = true_now;
  } while (advance());
}
static void graph(void) {
  initial(); start_count = 0; starts = malloc((next_count + 1) * sizeof(int));
  for (int i = 0; i < next_count; i++) starts[start_count++] = number(next_ + (size_t)BYTES * i);
  for (int s = 0; s < state_count; s++) {
    expand(rows + (size_t)BYTES * s);
    Edge *edges = malloc((next_count + 1) * sizeof(Edge)); int n = 0;
    for (int i = 0; i < next_count; i++) {
      Edge e = { number(next_ + (size_t)BYTES * i), next_label[i] };
      int j = 0;
      while (j < n && memcmp(&edges[j], &e, sizeof e)) j++;
      if (j == n) edges[n++] = e;
    }
    edges[n++] = (Edge){ s, -1 }; /* staying there, which fairness admits or not */
    states[s].edges = edges; states[s].count = n;
    states[s].enabled = malloc(sizeof enabled_); memcpy(states[s].enabled, enabled_, sizeof enabled_);
    states[s].just = just_in(rows + (size_t)BYTES * s);
    truths(s);
  }
}

/* ---- the product: a run is fair and accepted if its nodes are accepting infinitely often ---- */

static Node found[MOST_NODES]; static int found_count;
static void add(Node n) {
  for (int i = 0; i < found_count; i++) if (!memcmp(&found[i], &n, sizeof n)) return;
  if (found_count == MOST_NODES) { fflush(stdout); _exit(77); }
  found[found_count++] = n;
}
/* Conditions that a fair, accepted run meets infinitely often, one after another: sets of the
   automaton, justice, constraints.  A strong constraint may be declared dead instead, where it is
   not enabled: then no later state enables it. */
static void wait_for(Node n, int s, int label, int i) {
  int sets = accepting_sets[property_], conditions = sets + JUSTICE + constraint_count;
  for (; i < conditions; i++) {
    int c = i - sets - JUSTICE;
    if (i < sets ? accepts[property_][i] >> n.q & 1 : c < 0 ? states[n.state].just >> (i - sets) & 1 : label == c) continue;
    if (c >= 0 && !constraint_strong[c] && !is_enabled(states[s].enabled, c)) continue;
    if (c >= 0 && constraint_strong[c]) {
      int bit_ = 1 << constraint_strong[c];
      if (n.dead & bit_) continue;
      if (!is_enabled(states[n.state].enabled, c)) { Node m = n; m.dead |= bit_; wait_for(m, s, label, i + 1); }
    }
    n.waits = i + 1; add(n); return;
  }
  n.waits = 1; n.accepting = 1; add(n);
}
static void read_(Node n, int s, int label, int committed) {
  unsigned long truth = states[n.state].truth[n.values];
  int from = n.q;
  for (const Reading *r = readings[property_]; r->from >= 0; r++) {
    if (r->from != from || (truth & r->yes) != r->yes || truth & r->no) continue;
    n.q = r->to;
    if (n.waits) { wait_for(n, s, label, n.waits - 1); continue; }
    add(n);
    if (!committed) { Node m = n; m.waits = 1; add(m); }
  }
}
static int product_successors(const Node *node) {
  static Node last; static int known;
  if (known && !memcmp(&last, node, sizeof last)) return found_count;
  if (!known) {
    property_ = atoi(getenv("SECOND_OPINION") + 1); graph();
    int strong = 0;
    for (int c = 0; c < constraint_count; c++) if (constraint_strong[c]) constraint_strong[c] = ++strong;
    if (strong > 30) { fflush(stdout); _exit(78); }
  }
  known = 1; last = *node; found_count = 0;
  if (!node->started) {
    for (int i = 0; i < start_count; i++)
      for (int a = 0; a < assignments; a++) read_((Node){ 1, 0, starts[i], a, 0, 0, 0 }, -1, -1, 1);
    return found_count;
  }
  State *here = &states[node->state];
  for (int i = 0; i < here->count; i++) {
    Node n = *node; n.accepting = 0; n.state = here->edges[i].to;
    int lives = 1;
    for (int c = 0; c < constraint_count && lives; c++)
      if (constraint_strong[c] && n.dead >> constraint_strong[c] & 1 && is_enabled(states[n.state].enabled, c)) lives = 0;
    if (lives) read_(n, node->state, here->edges[i].label, 0);
  }
  return found_count;
}

/* ---- what the process in Promela calls ---- */

static int is_product(void) { const char *how = getenv("SECOND_OPINION"); return how && how[0] == 'L'; }
int so_has(unsigned char *node, int k, int options) {
  int count = is_product() ? product_successors((Node *)node) : state_successors(node);
  if (count > options) { fflush(stdout); _exit(77); }
  return k < count;
}
void so_take(unsigned char *node, int k) {
  if (!so_has(node, k, k + 1 < MOST_NODES ? MOST_NODES : k + 1)) abort();
  if (is_product()) { memcpy(node, &found[k], sizeof(Node)); return; }
  node[0] = 1; memcpy(node + 1, next_ + (size_t)BYTES * k, BYTES);
}
int so_accepting(unsigned char *node) { return ((Node *)node)->accepting; }
