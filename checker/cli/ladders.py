"""The ladders of the library: a protocol's variants that lack one rule each, in the order of
`specs/replication/README.md`."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class Rung(Struct, frozen=True):
    """A check of a variant, in a ``file`` of the library, and the ``rule`` that it lacks."""

    file: str
    check: str
    rule: str


class Ladder(Struct, frozen=True):
    """The rungs of one protocol, under a ``title``, with some sentences on it."""

    title: str
    said: str
    rungs: tuple[Rung, ...]


def _in(file: str, rules: Mapping[str, str]) -> tuple[Rung, ...]:
    return tuple(Rung(file, check, rule) for check, rule in rules.items())


LADDERS = (
    Ladder(
        "Kafka's partition",
        "Followers copy a leader's log and truncate what the next leader does not have. Many "
        "of the rules were added after a loss was found. A variant lacks one of them.",
        (
            *_in(
                "replication/kafka_ladder.bcast",
                {
                    "high_watermark": "a follower asks the leader where to truncate to",
                    "first_larger_epoch": "the answer names the epoch that the leader has",
                    "asks_once": "and where the follower has none of that epoch, it asks again",
                    "fetch_unfenced": "a fetch carries the epoch, and is refused with another one",
                    "truncation_unfenced": "so does the question where to truncate to",
                    "lagging_high_watermark": "who joins has come to where the leader's epoch "
                    "begins",
                    "counts_confirmed": "a leader counts everybody that it has asked the "
                    "controller to take in",
                    "unclean": "only who is in sync is elected",
                    "acks_1": "a record is acknowledged when all in sync have it",
                    "one_copy": "at least two are in sync",
                },
            ),
            *_in(
                "replication/kafka_partition.bcast",
                {
                    "two": "a new leader does not tell its high watermark "
                    "before it has come to where its epoch begins",
                },
            ),
            *_in(
                "replication/kafka_progress.bcast",
                {
                    "nobody_leaves": "who is down leaves the ISR",
                    "nobody_tries_again": "who asks too soon is told to ask again",
                },
            ),
        ),
    ),
    Ladder(
        "Kafka's clients",
        "A producer sends again what may be lost, and brokers recognise the copies. A "
        "transaction writes to several partitions, or to none.",
        (
            *_in(
                "replication/kafka_producer.bcast",
                {
                    "without_numbers": "records have numbers",
                    "numbers_beside_the_log": "what is known of a producer is read off the log",
                    "larger_is_enough": "the number that is taken is the next one",
                    "restarts": "a producer that crashes keeps its identity (KIP-98 "
                    "has no such rule)",
                },
            ),
            *_in(
                "replication/kafka_transactions_ladder.bcast",
                {
                    "zombie": "partitions refuse an older epoch",
                    "offsets_outside": "offsets are in the transaction",
                    "read_uncommitted": "readers leave out what is open or aborted",
                    "welcomed_too_soon": "a worker begins when the transaction before is over",
                    "markers_first": "the outcome is in the log before markers are sent",
                    "late_write": "each transaction has an epoch",
                    "late_end": "each transaction has an epoch",
                    "late_marker": "a marker has a later epoch than what it ends",
                },
            ),
        ),
    ),
    Ladder(
        "Raft",
        "A leader is elected for a term and its log is copied. The rules say what a vote "
        "needs, what is on disk when, and who is a member.",
        (
            *_in(
                "replication/raft.bcast",
                {
                    "vote_forgotten": "a vote is on disk before it is sent",
                    "any_candidate": "a vote only for whose log is at least as complete",
                    "any_predecessor": "an entry follows only the entry that it followed "
                    "at the leader",
                    "figure_8": "only entries of the own term are committed by counting",
                },
            ),
            *_in(
                "replication/raft_disk.bcast",
                {
                    "reset_first": "term and vote are stored together, or the term first",
                    "before_disk": "an entry is on disk before it is acknowledged",
                    "disk_lost": "who has lost its disk comes back under another name",
                    "half": "a quorum is more than half",
                },
            ),
            *_in(
                "replication/raft_snapshots.bcast",
                {
                    "beyond_commit": "a snapshot ends at what is committed",
                    "term_forgotten": "it keeps the term of its last entry",
                    "keeps_the_rest": "what is behind an installed snapshot stays only "
                    "where it fits",
                    "discards_the_rest": "and there it has to stay",
                },
            ),
            *_in(
                "replication/raft_membership.bcast",
                {
                    "several_at_once": "one server at a time",
                    "does_not_wait": "one change after the other",
                    "bug_of_2015": "a leader first commits an entry of its own term",
                    "leaves_too_soon": "the joint configuration is committed before it is left",
                },
            ),
            *_in(
                "replication/raft_progress.bcast",
                {
                    "in_silence": "who is in a later term answers, and says its term",
                },
            ),
        ),
    ),
    Ladder(
        "Zab",
        "A new leader takes the latest history, brings it to its followers, and then "
        "broadcasts. The order of these three phases is the protocol.",
        (
            *_in(
                "replication/zab.bcast",
                {
                    "own_history": "a leader takes the latest history of a majority",
                    "epoch_first": "a history is on disk before its epoch is",
                    "proposes_too_soon": "proposals go only to those to whom the history was sent",
                },
            ),
            *_in(
                "replication/zab_progress.bcast",
                {
                    "refuses_in_silence": "who is in a later epoch answers, and says its epoch",
                    "leaves_in_silence": "and so does who follows another leader by now",
                },
            ),
        ),
    ),
    Ladder(
        "Viewstamped Replication",
        "Replicas change their view when the primary is silent. The log of the new view has "
        "to contain what was committed in the old one.",
        (
            *_in(
                "replication/viewstamped.bcast",
                {
                    "truncates_first": "a replica is in the later view only when it has "
                    "that view's log",
                    "keeps_its_log": "nor does it vote with its own log meanwhile",
                },
            ),
            *_in(
                "replication/viewstamped_progress.bcast",
                {
                    "tells_the_primary": "who leaves for a later view tells everybody",
                    "drops_what_is_early": "what comes too early is asked for again",
                },
            ),
        ),
    ),
    Ladder(
        "Chain replication",
        "Updates go down a chain, and the tail answers. All of it rests on links that keep "
        "the order and on a detector that is never wrong.",
        (
            *_in(
                "replication/chain.bcast",
                {
                    "nothing_again": "what has no acknowledgement goes to the new successor again",
                    "head_answers": "the tail answers",
                    "links_without_order": "links keep the order",
                    "wrong_suspicion": "who is suspected has crashed",
                },
            ),
        ),
    ),
    Ladder(
        "BookKeeper's ledger",
        "A writer may still be at work when a recovery closes its ledger. Fencing decides "
        "which of the two is too late.",
        (
            *_in(
                "replication/bookkeeper.bcast",
                {
                    "reads_do_not_fence": "a bookie that answers a recovery read takes no "
                    "more adds",
                    "nothing_fences": "a recovery fences",
                },
            ),
        ),
    ),
    Ladder(
        "The Paxos family",
        "Multi-Paxos, Flexible Paxos, Fast Paxos and Paxos Commit. In each, quorums have to "
        "meet, and a new leader has to propose what they may have chosen.",
        (
            *_in(
                "replication/multi_paxos.bcast",
                {
                    "adopts_nothing": "Multi-Paxos: a new leader proposes again what the "
                    "promises tell it",
                    "adopts_any": "and of several the one of the highest ballot",
                    "forgets_promise": "a promise is on disk before it is sent",
                    "gaps_stay": "gaps are filled, with commands that do nothing",
                },
            ),
            *_in(
                "consensus/flexible_paxos.bcast",
                {
                    "halves": "Flexible Paxos: a quorum of promises meets each "
                    "quorum of acceptances",
                },
            ),
            *_in(
                "consensus/fast_paxos.bcast",
                {
                    "fast_majority": "Fast Paxos: a classic quorum and two fast ones "
                    "have a common member",
                    "picks_any": "after a collision the value that a fast quorum may "
                    "have chosen is proposed",
                    "nobody_recovers": "somebody recovers",
                },
            ),
            *_in(
                "commit/paxos_commit.bcast",
                {
                    "one_acceptor": "Paxos Commit: more than one remembers the votes",
                    "aborts_at_once": "who takes over asks for the votes",
                    "asks_one": "and asks a majority",
                    "late_votes": "an acceptor that has promised takes no vote of ballot 0",
                },
            ),
        ),
    ),
    Ladder(
        "A replicated state machine",
        "Commands have one order, and replicas execute them. What is left is what a replica "
        "stores, and what it tells the clients that ask again.",
        (
            *_in(
                "replication/state_machine.bcast",
                {
                    "gap_skipped": "an entry is executed after all before it",
                    "place_first": "state and place are stored together, or the state first",
                    "place_first_answered": "state and place are stored together, or the state "
                    "first",
                    "table_left_out": "the table of clients is in the snapshot",
                    "results_left_out": "so are the results",
                    "asks_once": "a client asks again",
                },
            ),
        ),
    ),
    Ladder(
        "Total order with crash and recovery",
        "Message k is what consensus k decides. A process that comes back has to know what it "
        "has decided and what it has delivered.",
        (
            *_in(
                "total_order/crash_and_recovery.bcast",
                {
                    "decides_twice": "a decision is on disk before it is told",
                    "logged_too_late": "a delivery is logged with it",
                    "logged_too_early": "and not before it",
                    "not_logged": "what is delivered is on disk",
                },
            ),
        ),
    ),
    Ladder(
        "Reliable links where processes crash and links lose",
        "Sending lasts until nothing can lose the message. Each variant lets the sender "
        "return too soon, or never.",
        (
            *_in(
                "links/crashes_and_losses.bcast",
                {
                    "returns_at_once": "a sender waits until others have the message",
                    "held_by_half": "those are a majority",
                    "half_may_crash": "those are a majority",
                    "not_passed_on": "whoever has it passes it on",
                },
            ),
        ),
    ),
    Ladder(
        "Registers",
        "A majority holds the value of a register. Reads and writes are atomic only if "
        "readers write, too, and numbers order the writes.",
        (
            *_in(
                "registers/abd.bcast",
                {
                    "without_write_back": "a reader tells a majority what it returns",
                    "many_without_write_back": "a reader tells a majority what it returns",
                    "half_is_enough": "a majority has it",
                    "half_of_many": "a majority has it",
                    "number_again": "each write has a number of its own",
                    "same_number": "each write has a number of its own",
                    "without_asking": "which is larger than those of the writes before it",
                },
            ),
        ),
    ),
)
"""In the order of the protocols' chapters."""
