"""Every check of the protocol library gives what it expects, by every engine and step size."""

from __future__ import annotations

import itertools
import math
import tomllib
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from checker.engines.native.search import tiered_jit
from checker.resources import specs
from checker.results.verdict import Report
from checker.session.pipeline import Options, read_spec, run_check
from tests.finite_checks import finite_checks
from tests.library.manifest import difference
from tests.render.every_view import draw_all
from tests.selection import left_out
from tests.shared_runs import sharing

# The reference engine does some hundred states a second, fewer where properties are many. These
# checks take too long by it; all others are asked of both engines.
NATIVE_ONLY = {
    "chance/ben_or_rounds-one_more_round": "`terminates` is asked of both",
    "chance/ben_or_rounds-three_rounds": "`terminates` is asked of both",
    "chance/ben_or_rounds-terminates": "`herman_ring-three` is asked of both",
    "chance/shared_coin-four": "`two` is asked of both",
    "broadcast/causal_waiting-crash_one": "`no_fault` and a crash of causal_past are asked of both",
    "broadcast/eager_reliable-crash_two": "`crash_one` is asked of both",
    "broadcast/gossip-two_rounds_crash_two": "`two_rounds_crash_one` is asked of both engines",
    "broadcast/lazy_reliable-crash_two": "`crash_one` is asked of both",
    "broadcast/lazy_reliable-wrong_suspicions": "`crash_one` is asked of both",
    "broadcast/uniform_all_ack-majority_may_crash": "`half_may_crash` is asked of both",
    "broadcast/uniform_all_ack-missed_crash": "`wrong_once` is asked of both",
    "broadcast/uniform_all_ack-no_fault": "`half_may_crash` is asked of both",
    "broadcast/uniform_majority_ack-majority_may_crash": "`half_may_crash` is asked of both",
    "byzantine/bracha-four": "`consistent_echo-three` is asked of both",
    "byzantine/bracha-four.any_sender": "`consistent_echo-three` is asked of both",
    "byzantine/bracha-four.few_echoes": "`consistent_echo-three` is asked of both",
    "byzantine/bracha-four.joined_by_nobody": "`consistent_echo-three` is asked of both",
    "byzantine/bracha-four.few_readies": "`consistent_echo-three` is asked of both",
    "registers/abd-one_writer_crash.no_majority": "`half_is_enough` is asked of both",
    "registers/abd-one_writer_crash.all_must_answer": "`half_is_enough` is asked of both",
    "replication/raft-two_terms.any_candidate": "`one_term` is asked of both",
    "replication/raft-four_servers.one_speaks_for_all": "`half_is_enough` is asked of both",
    "replication/raft-two_entries.any_length": "`one_term` is asked of both",
    "replication/raft-five_servers.keeps_its_term": "`one_term` is asked of both",
    "replication/kafka_partition-any_order.answers_of_any_epoch": "`left_out` is asked of both",
    "replication/kafka_partition-comes_back.nobody_registers": "`left_out` is asked of both",
    "byzantine/bracha-joins_too_soon": "`consistent_echo-three` is asked of both",
    "byzantine/bracha-three": "`consistent_echo-three` is asked of both",
    "byzantine/bracha-too_few_echoes": "`consistent_echo-three` is asked of both",
    "byzantine/bracha-too_few_readies": "`consistent_echo-three` is asked of both",
    "byzantine/consistent_echo-forged_senders": "`three` is asked of both",
    "byzantine/consistent_echo-four": "`three` is asked of both",
    "byzantine/echo-built_for_one_with_none": "four processes are what the table is about",
    "byzantine/echo-built_for_one_with_one": "four processes are what the table is about",
    "byzantine/echo-built_for_one_with_two": "four processes are what the table is about",
    "byzantine/echo-built_for_two_with_none": "four processes are what the table is about",
    "byzantine/echo-built_for_two_with_one": "four processes are what the table is about",
    "byzantine/echo-built_for_two_with_three": "four processes are what the table is about",
    "byzantine/echo-built_for_two_with_two": "four processes are what the table is about",
    "byzantine/echo-forged_senders": "`consistent_echo-three` is asked of both",
    "byzantine/pbft_round-four": "`consistent_echo-three` is asked of both",
    "byzantine/pbft_round-three": "`consistent_echo-three` is asked of both",
    "byzantine/pbft_round-too_few_prepares": "`consistent_echo-three` is asked of both",
    "byzantine/pbft_round-two_phases": "`consistent_echo-three` is asked of both",
    "byzantine/pbft_round-without_prepares": "`consistent_echo-three` is asked of both",
    "commit/paxos_commit-aborts_at_once": "`one_acceptor` is asked of both",
    "commit/paxos_commit-all_say_yes": "`one_acceptor` is asked of both",
    "commit/paxos_commit-any_votes": "`one_acceptor` is asked of both",
    "commit/paxos_commit-asks_one": "`one_acceptor` is asked of both",
    "commit/paxos_commit-late_votes": "`one_acceptor` is asked of both",
    "commit/paxos_commit-leader_and_acceptor_die": "`one_acceptor` is asked of both",
    "commit/paxos_commit-nobody_dies": "`one_acceptor` is asked of both",
    "commit/paxos_commit-one_says_no": "`one_acceptor` is asked of both",
    "commit/three_phase_commit-crash_one": "`wrong_suspicions` is asked of both",
    "consensus/ben_or-one_proposal_is_not_enough": "`unlucky_coins` is asked of both",
    "consensus/ben_or-one_round": "`unlucky_coins` is asked of both",
    "consensus/ben_or-unanimous": "`unlucky_coins` is asked of both",
    "consensus/fast_paxos-fast_majority": "`paxos_commit-one_acceptor` is asked of both",
    "consensus/fast_paxos-four": "`paxos_commit-one_acceptor` is asked of both",
    "consensus/fast_paxos-nobody_recovers": "`paxos_commit-one_acceptor` is asked of both",
    "consensus/fast_paxos-one_of_three_dies": "`paxos_commit-one_acceptor` is asked of both",
    "consensus/fast_paxos-picks_any": "`paxos_commit-one_acceptor` is asked of both",
    "consensus/fast_paxos-three": "`paxos_commit-one_acceptor` is asked of both",
    "consensus/flexible_paxos-all_and_one": "`paxos_commit-one_acceptor` is asked of both",
    "consensus/flexible_paxos-halves": "`paxos_commit-one_acceptor` is asked of both",
    "consensus/flexible_paxos-one_acceptor_dies": "`paxos_commit-one_acceptor` is asked of both",
    "consensus/flexible_paxos-three_and_two": "`paxos_commit-one_acceptor` is asked of both",
    "consensus/flexible_paxos-three_ballots": "`paxos_commit-one_acceptor` is asked of both",
    "consensus/flexible_paxos-two_acceptors_die": "`paxos_commit-one_acceptor` is asked of both",
    "consensus/flood_set-two_crashes_three_rounds": "`two_rounds` is asked of both",
    "consensus/flood_set-without_rounds": "`one_round` is asked of both",
    "consensus/hierarchical-crash_one": "`no_fault` is asked of both",
    "consensus/hierarchical-wrong_detector": "`no_fault` is asked of both",
    "consensus/paxos-anything_goes": "three acceptors are the fewest of which two are a majority",
    "consensus/paxos-crash_and_loss": "two proposers, two acceptors, and any of them may crash",
    "consensus/paxos-quorums_that_miss_each_other": "two proposers, two acceptors",
    "consensus/rotating_coordinator-crash_one": "`any_detector` is asked of both",
    "consensus/rotating_coordinator-settles": "`any_detector` is asked of both",
    "consensus/wait_for_all_but_one-crash_one": "three processes must propose for one to be missed",
    "consensus/wait_for_all_but_one-same_inputs": "the same with equal inputs",
    "detectors/heartbeat-asynchronous": "`synchronous` is asked of both",
    "flp/rounds-coins": "three processes are the fewest of which one is late",
    "flp/rounds-no_coins": "three processes are the fewest of which one is late",
    "flp/rounds-same_inputs": "three processes are the fewest of which one is late",
    "for_every_n/ben_or_round-two_with_a_crash": "`two_of_two` is asked of both",
    "for_every_n/bosco-four": "fewer than four are never too few for one liar",
    "for_every_n/folklore_broadcast-three": "`two_messages_three` is asked of both",
    "for_every_n/hybrid_broadcast-four_with_a_liar": "`three_with_a_liar` is asked of both",
    "for_every_n/hybrid_broadcast-three_with_a_crash": "`three_with_a_liar` is asked of both",
    "for_every_n/naive_voting-five": "four and five are what it is about",
    "for_every_n/naive_voting-four": "four and five are what it is about",
    "for_every_n/one_communication_step-three": "three are the fewest of which one is a third",
    "for_every_n/one_step_consensus-three": "`one_communication_step-three` is much the same",
    "incidents/acknowledged_before_sync-killed": "`transaction_forgotten` is asked of both",
    "incidents/acknowledged_before_sync-synced_later": "`transaction_forgotten` is asked of both",
    "incidents/acknowledged_before_sync-synced_first": "`vote_before_sync` is asked of both",
    "incidents/acknowledged_before_sync-three_terms": "`transaction_forgotten` is asked of both",
    "incidents/lock_holder_pauses-paused": "`calm` is asked of both",
    "incidents/lock_holder_pauses-tokens": "`calm` is asked of both",
    "incidents/pre_vote_older_term-answers_in_the_term_asked_for": "`crash` is asked of both",
    "incidents/pre_vote_older_term-cut_off": "`crash` is asked of both",
    "incidents/pre_vote_older_term-in_its_own_term": "`crash` is asked of both",
    "incidents/pre_vote_older_term-lost_messages": "`crash` is asked of both",
    "incidents/pre_vote_older_term-slow_links": "`crash` is asked of both",
    "incidents/queue_recreated-three_stand": "`one_stands` is asked of both",
    "incidents/queue_recreated-two_stand": "`one_stands` is asked of both",
    "incidents/queue_recreated-queues_have_identities": "`transaction_forgotten` is asked of both",
    "incidents/queue_recreated-same_name": "`transaction_forgotten` is asked of both",
    "incidents/stale_leader_read-asked_before": "`answers_at_once` is asked of both",
    "incidents/stale_leader_read-asks_then_answers": "`answers_at_once` is asked of both",
    "links/sliding_window-reordering": "the four checks of the alternating bit are asked of both",
    "registers/abd-half_of_many": "`half_is_enough` is asked of both",
    "registers/abd-many_without_write_back": "`half_is_enough` is asked of both",
    "registers/abd-number_again": "`half_is_enough` is asked of both",
    "registers/abd-one_reader": "`two_reads` is asked of both",
    "registers/abd-one_writer_crash": "`two_reads` is asked of both",
    "registers/abd-same_number": "`half_is_enough` is asked of both",
    "registers/abd-two_writers": "`two_reads` is asked of both",
    "registers/abd-two_writes": "`two_reads` is asked of both",
    "registers/abd-without_asking": "`half_is_enough` is asked of both",
    "registers/abd-without_write_back": "`half_is_enough` is asked of both",
    "registers/paxos-forgets": "three servers are the fewest of which two are a majority",
    "registers/paxos-two_clients": "three servers are the fewest of which two are a majority",
    "registers/paxos-two_leaders": "three servers are the fewest of which two are a majority",
    "replication/bookkeeper-a_bookie_dies": "`paxos_commit-one_acceptor` is asked of both",
    "replication/bookkeeper-nothing_fences": "`paxos_commit-one_acceptor` is asked of both",
    "replication/bookkeeper-one_entry": "`paxos_commit-one_acceptor` is asked of both",
    "replication/bookkeeper-reads_do_not_fence": "`paxos_commit-one_acceptor` is asked of both",
    "replication/bookkeeper-two_entries": "`paxos_commit-one_acceptor` is asked of both",
    "replication/bookkeeper-nobody_recovers": "`paxos_commit-one_acceptor` is asked of both",
    "replication/kafka_ladder-asks_once": "`unclean` and `acks_1` are asked of both",
    "replication/kafka_ladder-counts_confirmed": "`unclean` and `acks_1` are asked of both",
    "replication/kafka_ladder-fetch_unfenced": "`unclean` and `acks_1` are asked of both",
    "replication/kafka_ladder-first_larger_epoch": "`unclean` and `acks_1` are asked of both",
    "replication/kafka_ladder-high_watermark": "`unclean` and `acks_1` are asked of both",
    "replication/kafka_ladder-lagging_high_watermark": "three brokers: one has to be left out",
    "replication/kafka_ladder-truncation_unfenced": "three brokers: two of them have led before",
    "replication/kafka_partition-crash_one": "`kafka_ladder-acks_1` is much the same",
    "replication/kafka_partition-three": "`kafka_ladder-acks_1` is much the same",
    "replication/kafka_partition-three_crash": "`kafka_ladder-one_copy` is asked of both",
    "replication/kafka_partition-three_shrinking": "`kafka_ladder-acks_1` is much the same",
    "replication/kafka_partition-three_two_epochs": "`kafka_ladder-acks_1` is much the same",
    "replication/kafka_partition-three_two_records": "`kafka_ladder-acks_1` is much the same",
    "replication/kafka_partition-two": "`kafka_ladder-acks_1` is much the same",
    "replication/kafka_partition-two_copies": "`kafka_ladder-one_copy` is asked of both",
    "replication/kafka_partition-two_four_epochs": "`kafka_ladder-acks_1` is much the same",
    "replication/kafka_partition-any_order": "`left_out` is asked of both",
    "replication/kafka_partition-comes_back": "`left_out` is asked of both",
    "replication/multi_paxos-a_process_comes_back": "`paxos_commit-one_acceptor` is asked of both",
    "replication/multi_paxos-adopts_any": "`paxos_commit-one_acceptor` is asked of both",
    "replication/multi_paxos-adopts_nothing": "`paxos_commit-one_acceptor` is asked of both",
    "replication/multi_paxos-forgets_promise": "`paxos_commit-one_acceptor` is asked of both",
    "replication/multi_paxos-gaps_stay": "`paxos_commit-one_acceptor` is asked of both",
    "replication/multi_paxos-leader_detector": "`paxos_commit-one_acceptor` is asked of both",
    "replication/multi_paxos-three_ballots": "`paxos_commit-one_acceptor` is asked of both",
    "replication/multi_paxos-two_ballots": "`paxos_commit-one_acceptor` is asked of both",
    "replication/kafka_transactions-coordinator_crashes": "`one_session` is asked of both",
    "replication/kafka_transactions-none_hangs": "`one_session` is asked of both",
    "replication/kafka_transactions-one_worker": "`one_session` is asked of both",
    "replication/kafka_transactions-takeover": "`one_session` is asked of both",
    "replication/kafka_transactions_ladder-late_end": "`read_uncommitted` is asked",
    "replication/kafka_transactions_ladder-late_marker": "`read_uncommitted` is asked",
    "replication/kafka_transactions_ladder-late_write": "`read_uncommitted` is asked",
    "replication/kafka_transactions_ladder-markers_first": "`read_uncommitted` is asked",
    "replication/kafka_transactions_ladder-offsets_outside": "`read_uncommitted` is asked",
    "replication/kafka_transactions_ladder-welcomed_too_soon": "`read_uncommitted` is asked",
    "replication/kafka_transactions_ladder-zombie": "`read_uncommitted` is asked",
    "replication/raft-any_candidate": "`vote_forgotten` is asked of both",
    "replication/raft-any_predecessor": "`vote_forgotten` is asked of both",
    "replication/raft-figure_8": "`vote_forgotten` is asked of both",
    "replication/raft-one_term": "`vote_forgotten` is asked of both",
    "replication/raft-two_entries": "`vote_forgotten` is asked of both",
    "replication/raft-five_servers": "`vote_forgotten` is asked of both",
    "replication/raft-two_terms": "`vote_forgotten` is asked of both",
    "replication/state_machine-asks_once": "`table_left_out` is asked of both",
    "replication/state_machine-gap_skipped": "`table_left_out` is asked of both",
    "replication/state_machine-one_client": "`table_left_out` is asked of both",
    "replication/state_machine-place_first": "`table_left_out` is asked of both",
    "replication/state_machine-place_first_answered": "`table_left_out` is asked of both",
    "replication/state_machine-results_left_out": "`table_left_out` is asked of both",
    "replication/state_machine-state_first": "`table_left_out` is asked of both",
    "replication/state_machine-two_clients": "`table_left_out` is asked of both",
    "replication/state_machine-two_commands": "`table_left_out` is asked of both",
    "replication/raft_disk-before_disk": "`half` is asked of both",
    "replication/raft_disk-disk_lost": "`half` is asked of both",
    "replication/raft_disk-four": "`half` is asked of both",
    "replication/raft_disk-reset_first": "`half` is asked of both",
    "replication/raft_disk-term_first": "`half` is asked of both",
    "replication/raft_membership-bug_of_2015": "`raft-vote_forgotten` is asked of both",
    "replication/raft_membership-does_not_wait": "`raft-vote_forgotten` is asked of both",
    "replication/raft_membership-four": "`raft-vote_forgotten` is asked of both",
    "replication/raft_membership-joint": "`raft-vote_forgotten` is asked of both",
    "replication/raft_membership-leaves_too_soon": "`raft-vote_forgotten` is asked of both",
    "replication/raft_membership-one_at_a_time": "`raft-vote_forgotten` is asked of both",
    "replication/raft_membership-one_term": "`raft-vote_forgotten` is asked of both",
    "replication/raft_membership-several_at_once": "`raft-vote_forgotten` is asked of both",
    "replication/raft_progress-in_silence": "`two` is asked of both",
    "replication/raft_progress-led": "`two` is asked of both",
    "replication/raft_progress-recovers": "`two` is asked of both",
    "replication/raft_progress-recovers.silent": "`two` is asked of both",
    "replication/raft_snapshots-beyond_commit": "`raft-vote_forgotten` is asked of both",
    "replication/raft_snapshots-one_term": "`raft-vote_forgotten` is asked of both",
    "replication/raft_snapshots-discards_the_rest": "`raft-vote_forgotten` is asked of both",
    "replication/raft_snapshots-keeps_the_rest": "`raft-vote_forgotten` is asked of both",
    "replication/raft_snapshots-term_forgotten": "`raft-vote_forgotten` is asked of both",
    "replication/raft_snapshots-three_terms": "`raft-vote_forgotten` is asked of both",
    "replication/raft_snapshots-two_entries": "`raft-vote_forgotten` is asked of both",
    "replication/raft_snapshots-two_terms": "`raft-vote_forgotten` is asked of both",
    "replication/viewstamped-keeps_its_log": "`two_views` is asked of both",
    "replication/raft_cut_off-checks_quorum": "`asks_first` is asked of both",
    "replication/raft_cut_off-one_way": "`asks_first` is asked of both",
    "replication/raft_cut_off-two_ways": "`asks_first` is asked of both",
    "replication/viewstamped-three_views": "`two_views` is asked of both",
    "replication/viewstamped-truncates_first": "`two_views` is asked of both",
    "replication/viewstamped-two_entries": "`two_views` is asked of both",
    "replication/viewstamped_messages-as_published": "`viewstamped-two_views` is asked of both",
    "replication/viewstamped_messages-three_views": "`viewstamped-two_views` is asked of both",
    "replication/viewstamped_messages-truncates_first": "`viewstamped-two_views` is asked of both",
    "replication/viewstamped_messages-two_views": "`viewstamped-two_views` is asked of both",
    "replication/kafka_progress-three": "`two` is asked of both",
    "replication/viewstamped_progress-watched": "`viewstamped-two_views` is asked of both",
    "replication/viewstamped_progress-drops_what_is_early": "`viewstamped-two_views` is",
    "replication/zab_progress-led": "`zab-one_epoch` is asked of both",
    "replication/zab_progress-refuses_in_silence": "`zab-one_epoch` is asked of both",
    "replication/zab_progress-leaves_in_silence": "`zab-one_epoch` is asked of both",
    "replication/zab-a_server_comes_back": "`one_epoch` is asked of both",
    "replication/zab-epoch_first": "`one_epoch` is asked of both",
    "replication/zab-own_history": "`one_epoch` is asked of both",
    "replication/zab-proposes_too_soon": "`one_epoch` is asked of both",
    "replication/zab-three_epochs": "`one_epoch` is asked of both",
    "replication/zab-two_epochs": "`one_epoch` is asked of both",
    "replication/zab-two_transactions": "`one_epoch` is asked of both",
    "replication/zab-two_transactions_and_a_crash": "`one_epoch` is asked of both",
    "time/leases-asked_again": "`within_the_bound` is asked of both",
    "time/leases-more_drift_than_planned": "`beyond_the_bound` is asked of both",
    "time/leases-within_the_bound": "`beyond_the_bound` and `no_drift` are asked of both",
    "total_order/crash_and_recovery-three_processes": "`two_crashes` is asked of both",
    "total_order/from_consensus-over_a_real_consensus": "over oracles both engines are asked",
    "total_order/from_consensus-over_any_consensus_crash_one": "without the crash both are asked",
    "total_order/from_consensus-without_subtracting": "over oracles both engines are asked",
    "total_order/lamport_clock-three": "the smaller check `no_fault` is asked of both",
    "total_order/sequencer_takeover-crash_one": "`no_fault` is asked of both",
}

# A multicast to three receivers is four steps instead of one: millions of states in these.
COARSE_ONLY = {
    "incidents/pre_vote_older_term-cut_off": "`crash` is asked by fine steps, too",
    "incidents/pre_vote_older_term-slow_links": "`crash` is asked by fine steps, too",
    "incidents/queue_recreated-three_stand": "`one_stands` is asked by fine steps, too",
    "chance/shared_coin-four": "`two` is asked by fine steps, too",
    "broadcast/lazy_reliable-crash_two": "`crash_one` is asked by fine steps, too",
    "byzantine/bracha-four": "`three` is asked by fine steps, too",
    "byzantine/bracha-four.any_sender": "`three` is asked by fine steps, too",
    "byzantine/bracha-four.few_echoes": "`three` is asked by fine steps, too",
    "byzantine/bracha-four.joined_by_nobody": "`three` is asked by fine steps, too",
    "byzantine/bracha-four.few_readies": "`three` is asked by fine steps, too",
    "registers/abd-one_writer_crash.no_majority": "`half_is_enough` is asked by fine steps, too",
    "registers/abd-one_writer_crash.all_must_answer": "`half_is_enough` is asked so, too",
    "replication/raft-two_terms.any_candidate": "`one_term` is asked by fine steps, too",
    "replication/raft-four_servers.one_speaks_for_all": "`half_is_enough` is asked so, too",
    "replication/raft-two_entries.any_length": "`one_term` is asked by fine steps, too",
    "replication/raft-five_servers.keeps_its_term": "`one_term` is asked by fine steps, too",
    "byzantine/bracha-joins_too_soon": "`three` is asked by fine steps, too",
    "byzantine/bracha-too_few_echoes": "`three` is asked by fine steps, too",
    "byzantine/bracha-too_few_readies": "`three` is asked by fine steps, too",
    "byzantine/consistent_echo-four": "`three` is asked by fine steps, too",
    "byzantine/echo-built_for_one_with_none": "`forged_senders` is asked by fine steps, too",
    "byzantine/echo-built_for_one_with_one": "`forged_senders` is asked by fine steps, too",
    "byzantine/echo-built_for_one_with_two": "`forged_senders` is asked by fine steps, too",
    "byzantine/echo-built_for_two_with_none": "`forged_senders` is asked by fine steps, too",
    "byzantine/echo-built_for_two_with_one": "`forged_senders` is asked by fine steps, too",
    "byzantine/echo-built_for_two_with_three": "`forged_senders` is asked by fine steps, too",
    "byzantine/echo-built_for_two_with_two": "`forged_senders` is asked by fine steps, too",
    "byzantine/pbft_round-four": "`three` is asked by fine steps, too",
    "byzantine/pbft_round-too_few_prepares": "`three` is asked by fine steps, too",
    "byzantine/pbft_round-two_phases": "`three` is asked by fine steps, too",
    "byzantine/pbft_round-without_prepares": "`three` is asked by fine steps, too",
    "commit/paxos_commit-aborts_at_once": "`one_acceptor` is asked by fine steps, too",
    "commit/paxos_commit-all_say_yes": "`one_acceptor` is asked by fine steps, too",
    "commit/paxos_commit-any_votes": "`one_acceptor` is asked by fine steps, too",
    "commit/paxos_commit-asks_one": "`one_acceptor` is asked by fine steps, too",
    "commit/paxos_commit-late_votes": "`one_acceptor` is asked by fine steps, too",
    "commit/paxos_commit-leader_and_acceptor_die": "`one_acceptor` is asked by fine steps, too",
    "commit/paxos_commit-nobody_dies": "`one_acceptor` is asked by fine steps, too",
    "commit/paxos_commit-one_says_no": "`one_acceptor` is asked by fine steps, too",
    "consensus/ben_or-unanimous": "`one_round` is asked by fine steps, too",
    "consensus/fast_paxos-fast_majority": "`nobody_recovers` is asked by fine steps, too",
    "consensus/fast_paxos-four": "`nobody_recovers` is asked by fine steps, too",
    "consensus/fast_paxos-one_of_three_dies": "`nobody_recovers` is asked by fine steps, too",
    "consensus/fast_paxos-picks_any": "`nobody_recovers` is asked by fine steps, too",
    "consensus/fast_paxos-three": "`nobody_recovers` is asked by fine steps, too",
    "consensus/flexible_paxos-halves": "`all_and_one` is asked by fine steps, too",
    "consensus/flexible_paxos-one_acceptor_dies": "`all_and_one` is asked by fine steps, too",
    "consensus/flexible_paxos-three_and_two": "`all_and_one` is asked by fine steps, too",
    "consensus/flexible_paxos-three_ballots": "`all_and_one` is asked by fine steps, too",
    "consensus/flexible_paxos-two_acceptors_die": "`all_and_one` is asked by fine steps, too",
    "flp/rounds-coins": "`no_coins` is asked by fine steps, too",
    "for_every_n/bosco-four": "`one_communication_step-three` is asked by fine steps, too",
    "for_every_n/hybrid_broadcast-four_with_a_liar": "`three_with_a_liar` is asked so, too",
    "for_every_n/naive_voting-five": "`one_communication_step-three` is asked so, too",
    "for_every_n/naive_voting-four": "`one_communication_step-three` is asked so, too",
    "registers/abd-half_of_many": "`half_is_enough` is asked by fine steps, too",
    "registers/abd-many_without_write_back": "`half_is_enough` is asked so, too",
    "registers/abd-number_again": "`half_is_enough` is asked by fine steps, too",
    "registers/abd-one_writer_crash": "`two_reads` is asked by fine steps, too",
    "registers/abd-two_writes": "`two_reads` is asked by fine steps, too",
    "registers/abd-without_asking": "`half_is_enough` is asked by fine steps, too",
    "registers/abd-without_write_back": "`half_is_enough` is asked so, too",
    "registers/paxos-forgets": "`abd-two_writers` is asked by fine steps",
    "registers/paxos-two_clients": "`abd-two_writers` is asked by fine steps",
    "registers/paxos-two_leaders": "`abd-two_writers` is asked by fine steps",
    "replication/bookkeeper-a_bookie_dies": "`reads_do_not_fence` is asked by fine steps, too",
    "replication/bookkeeper-nothing_fences": "`reads_do_not_fence` is asked by fine steps, too",
    "replication/bookkeeper-one_entry": "`reads_do_not_fence` is asked by fine steps, too",
    "replication/bookkeeper-two_entries": "`reads_do_not_fence` is asked by fine steps, too",
    "replication/bookkeeper-nobody_recovers": "`reads_do_not_fence` is asked by fine steps, too",
    "replication/kafka_ladder-asks_once": "`first_larger_epoch` is asked so, too",
    "replication/kafka_ladder-lagging_high_watermark": "`high_watermark` is asked so, too",
    "replication/kafka_ladder-truncation_unfenced": "`fetch_unfenced` is asked so, too",
    "replication/kafka_partition-crash_one": "`two_copies` is asked by fine steps, too",
    "replication/kafka_partition-three": "`two` is asked by fine steps, too",
    "replication/kafka_partition-three_crash": "`two_copies` is asked by fine steps, too",
    "replication/kafka_partition-three_shrinking": "`two` is asked by fine steps, too",
    "replication/kafka_partition-three_two_epochs": "`two` is asked by fine steps, too",
    "replication/kafka_partition-three_two_records": "`two` is asked by fine steps, too",
    "replication/kafka_partition-two_four_epochs": "`two` is asked by fine steps, too",
    "replication/kafka_partition-comes_back": "`two` is asked by fine steps, too",
    "replication/multi_paxos-a_process_comes_back": "`adopts_nothing` is asked by fine steps, too",
    "replication/multi_paxos-adopts_any": "`adopts_nothing` is asked by fine steps, too",
    "replication/multi_paxos-forgets_promise": "`adopts_nothing` is asked by fine steps, too",
    "replication/multi_paxos-gaps_stay": "`adopts_nothing` is asked by fine steps, too",
    "replication/multi_paxos-leader_detector": "`adopts_nothing` is asked by fine steps, too",
    "replication/multi_paxos-three_ballots": "`adopts_nothing` is asked by fine steps, too",
    "replication/multi_paxos-two_ballots": "`adopts_nothing` is asked by fine steps, too",
    "replication/raft-figure_8": "`vote_forgotten` is asked by fine steps, too",
    "replication/raft-two_terms": "`vote_forgotten` is asked by fine steps, too",
    "replication/raft-two_entries": "`vote_forgotten` is asked by fine steps, too",
    "replication/raft-five_servers": "`vote_forgotten` is asked by fine steps, too",
    "replication/state_machine-asks_once": "`table_left_out` is asked by fine steps, too",
    "replication/state_machine-gap_skipped": "`table_left_out` is asked by fine steps, too",
    "replication/state_machine-one_client": "`table_left_out` is asked by fine steps, too",
    "replication/state_machine-place_first": "`table_left_out` is asked by fine steps, too",
    "replication/state_machine-place_first_answered": "`table_left_out` is asked so, too",
    "replication/state_machine-results_left_out": "`table_left_out` is asked by fine steps, too",
    "replication/state_machine-state_first": "`table_left_out` is asked by fine steps, too",
    "replication/state_machine-two_clients": "`table_left_out` is asked by fine steps, too",
    "replication/state_machine-two_commands": "`table_left_out` is asked by fine steps, too",
    "replication/raft_disk-before_disk": "`reset_first` is asked so, too",
    "replication/raft_disk-disk_lost": "`reset_first` is asked so, too",
    "replication/raft_disk-term_first": "`reset_first` is asked so, too",
    "replication/raft_membership-bug_of_2015": "`one_term` is asked so, too",
    "replication/raft_membership-does_not_wait": "`one_term` is asked so, too",
    "replication/raft_membership-four": "`one_term` is asked so, too",
    "replication/raft_membership-leaves_too_soon": "`one_term` is asked so, too",
    "replication/raft_membership-joint": "`one_term` is asked so, too",
    "replication/raft_membership-one_at_a_time": "`one_term` is asked so, too",
    "replication/raft_membership-several_at_once": "`one_term` is asked so, too",
    "replication/raft_progress-in_silence": "`two` is asked so, too",
    "replication/raft_progress-led": "`two` is asked so, too",
    "replication/raft_progress-recovers": "`two` is asked so, too",
    "replication/raft_progress-recovers.silent": "`two` is asked so, too",
    "replication/raft_snapshots-beyond_commit": "`one_term` is asked so, too",
    "replication/raft_snapshots-discards_the_rest": "`one_term` is asked so, too",
    "replication/raft_snapshots-keeps_the_rest": "`one_term` is asked so, too",
    "replication/raft_snapshots-term_forgotten": "`one_term` is asked so, too",
    "replication/raft_snapshots-three_terms": "`one_term` is asked so, too",
    "replication/raft_snapshots-two_entries": "`one_term` is asked so, too",
    "replication/raft_snapshots-two_terms": "`one_term` is asked so, too",
    "replication/viewstamped-three_views": "`two_views` is asked by fine steps, too",
    "replication/viewstamped-two_entries": "`two_views` is asked by fine steps, too",
    "replication/viewstamped_messages-as_published": "`two_views` is asked so, too",
    "replication/viewstamped_messages-three_views": "`two_views` is asked so, too",
    "replication/viewstamped_messages-truncates_first": "`two_views` is asked so, too",
    "replication/kafka_progress-three": "`two` is asked so, too",
    "replication/viewstamped_progress-watched": "`viewstamped-two_views` is asked so, too",
    "replication/viewstamped_progress-drops_what_is_early": "`viewstamped-two_views` is",
    "replication/zab_progress-led": "`zab-one_epoch` is asked so, too",
    "replication/zab_progress-refuses_in_silence": "`zab-one_epoch` is asked so, too",
    "replication/zab_progress-leaves_in_silence": "`zab-one_epoch` is asked so, too",
    "replication/zab-a_server_comes_back": "`two_epochs` is asked by fine steps, too",
    "replication/zab-epoch_first": "`two_epochs` is asked by fine steps, too",
    "replication/zab-three_epochs": "`two_epochs` is asked by fine steps, too",
    "replication/zab-two_transactions": "`two_epochs` is asked by fine steps, too",
    "replication/zab-two_transactions_and_a_crash": "`two_epochs` is asked by fine steps, too",
    "total_order/from_consensus-over_a_real_consensus": "over oracles fine steps are asked, too",
    "total_order/from_consensus-without_subtracting": "over oracles fine steps are asked, too",
}


IN_THE_FULL_RUN = {
    "bookkeeper", "bookkeeper_power", "bracha", "fast_paxos", "flexible_paxos", "kafka_ladder",
    "kafka_power", "kafka_transactions", "multi_paxos", "one_communication_step",
    "one_step_consensus", "root_contention", "viewstamped_progress",
}  # fmt: skip
"""Also the smallest check of these is large: by fine steps or the reference in the full run."""

ONLY_PROVED = {specs() / "for_every_n" / "bosco.bcast"}
"""Their finite checks are large, and their proofs are in the default run."""

SLOW: dict[str, list[str]] = tomllib.loads(
    (Path(__file__).parent / "slow.toml").read_text(encoding="utf-8")
)


def _checks() -> list[tuple[Path, str]]:
    """Every check with sizes outside the oracles, by file; those of all sizes are proved."""
    return [
        (path, name)
        for path in sorted(specs().rglob("*.bcast"))
        if path.parent.name != "oracles"
        for name in finite_checks(path.read_text(encoding="utf-8"))
    ]


def _id(path: Path, name: str) -> str:
    return f"{path.parent.name}/{path.stem}-{name}"


CHECKS = _checks()

assert CHECKS, f"there are no checks under {specs()}"

LEFT_OUT = {
    name.removeprefix("test_expectations[").removesuffix("]")
    for name in left_out()["tests/library/test_library.py"]
}
"""Checks whose expectations the default run leaves out (and names that are no check's)."""

ONE_OF_EACH = {
    path: _id(path, name)
    for left_out_too in (True, False)
    for path, name in reversed(CHECKS)
    if _id(path, name) not in SLOW["expectations"]
    if left_out_too or _id(path, name) not in LEFT_OUT
}.values()
"""Of each file the first check that is not slow, and is not left out if there is one."""


def _each(test: str, left_out: Collection[str] = (), every: bool = False) -> list[ParameterSet]:
    """The checks but for those ``left_out``; which take long in ``test``, or at all, are slow;
    ``every``: one of each file is in the default run whatever is drawn."""
    names = ((_id(*check), check) for check in CHECKS)
    marks = dict.fromkeys(ONE_OF_EACH if every else (), "every")
    marks |= dict.fromkeys([*SLOW[test], *SLOW["expectations"]], "slow")
    return [sharing(n, *check, mark=marks.get(n, "")) for n, check in names if n not in left_out]


@pytest.fixture(autouse=True, scope="module")
def quick_code() -> Iterator[None]:
    """Code is not optimised during a search: for most checks that takes longer than the search."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiered_jit, "SECONDS_PER_CHARACTER", math.inf)
        yield


_spec = cache(read_spec)


@cache
def _native(path: Path, name: str) -> Report:
    return run_check(_spec(str(path)), name, Options(engine="native"))


def _words(report: Report) -> dict[str, str]:
    return {v.property: v.word.value for v in report.verdicts}


@pytest.mark.parametrize(("path", "name"), _each("expectations", every=True))
def test_expectations(path: Path, name: str) -> None:
    report = _native(path, name)
    assert report.expectations, "a check of the library expects something"
    assert [e for e in report.expectations if not e.met] == []
    assert report.exit_code == 0
    assert difference(path, name, report) == {}, "python -m scripts.write_manifest"
    assert {e.what for e in report.expectations} >= set(_words(report)), "each verdict is expected"


@pytest.mark.parametrize(("path", "name"), _each("expectations"))
def test_every_run_is_drawn(path: Path, name: str) -> None:
    report = _native(path, name)
    violated = [v for v in report.verdicts if v.word.value == "violated" and v.chance is None]
    assert draw_all(report) >= len(violated)


@pytest.mark.parametrize(("path", "name"), _each("fine_steps", COARSE_ONLY))
def test_fine_steps_agree(path: Path, name: str) -> None:
    fine = run_check(_spec(str(path)), name, Options(engine="native", fine_steps=True))
    assert _words(fine) == _words(_native(path, name))
    assert fine.exit_code == 0
    draw_all(fine)


@pytest.mark.parametrize(("path", "name"), _each("reference", NATIVE_ONLY))
def test_reference_agrees(path: Path, name: str) -> None:
    reduced = native = _native(path, name)
    if reduced.reduced.used:
        native = run_check(_spec(str(path)), name, Options(engine="native", reduce="none"))
    assert _words(reduced) == _words(native)
    reference = run_check(_spec(str(path)), name, Options(engine="reference"))
    assert _words(reference) == _words(native)
    assert reference.distinct_states == native.distinct_states
    assert reference.exit_code == 0


def test_without_the_relay_agreement_fails(tmp_path: Path) -> None:
    """The first thing that a reader is told to try."""
    text = (specs() / "broadcast" / "eager_reliable.bcast").read_text(encoding="utf-8")
    relay = [line for line in text.splitlines(keepends=True) if "beb.broadcast(DATA(s, m))" in line]
    assert len(relay) == 1
    path = tmp_path / "eager_reliable.bcast"
    path.write_text(text.replace(relay[0], ""), encoding="utf-8")
    report = run_check(str(path), "crash_one", Options())
    assert _words(report)["agreement"] == "violated"
    assert report.exit_code == 1


def test_what_is_left_to_one_engine_is_there() -> None:
    assert {*NATIVE_ONLY, *COARSE_ONLY, *itertools.chain(*SLOW.values())} <= {
        _id(*c) for c in CHECKS
    }


def test_every_file_is_in_the_default_run() -> None:
    """Some check of it by coarse steps, and some by fine steps or by the reference engine."""
    everything, named = {path for path, _ in CHECKS}, {_id(*c): c[0] for c in CHECKS}
    slow = set(SLOW["expectations"])
    assert {named[name] for name in ONE_OF_EACH} == everything - ONLY_PROVED
    fine = named.keys() - COARSE_ONLY.keys() - set(SLOW["fine_steps"]) - slow
    by_both = named.keys() - NATIVE_ONLY.keys() - set(SLOW["reference"]) - slow
    asked = named.keys() - (COARSE_ONLY.keys() & NATIVE_ONLY.keys())
    left = {named[name].stem for name in asked} - {named[name].stem for name in fine | by_both}
    assert left == IN_THE_FULL_RUN, "the smallest is slow"


@pytest.mark.parametrize(
    "path", sorted({path for path, _ in CHECKS}), ids=lambda p: f"{p.parent.name}/{p.stem}"
)
def test_headers_tell_what_a_reader_needs(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    head = text.split("\n\n", 1)[0] if not text.startswith("import") else ""
    for word in ("Source:", "Faults:", "Resilience:", "Look at:"):
        assert word in head, f"{path.name} does not say its {word.rstrip(':').lower()}"
