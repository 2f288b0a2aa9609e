-- Two-phase commit with N resource managers, who are a scalarset: of states that differ by their
-- names only one is explored. The same steps as in two_phase.m; no bit masks, which a scalarset has
-- no numbers for.

const
  N: 3;

type
  manager: scalarset(N);

var
  status: array [manager] of enum {working, prepared, committed, aborted};
  known: array [manager] of boolean; -- those the transaction manager knows to be prepared
  sent: array [manager] of boolean;  -- those whose Prepared message was sent
  commit_sent: boolean;
  abort_sent: boolean;
  tm: enum {undecided, commit, abort};

startstate
begin
  for i: manager do
    status[i] := working;
    known[i] := false;
    sent[i] := false;
  end;
  commit_sent := false;
  abort_sent := false;
  tm := undecided;
end;

ruleset i: manager do

  rule "a resource manager prepares"
    status[i] = working
  ==>
  begin
    status[i] := prepared;
    sent[i] := true;
  end;

  rule "a resource manager aborts on its own"
    status[i] = working
  ==>
  begin
    status[i] := aborted;
  end;

  rule "a resource manager is told to commit"
    commit_sent
  ==>
  begin
    status[i] := committed;
  end;

  rule "a resource manager is told to abort"
    abort_sent
  ==>
  begin
    status[i] := aborted;
  end;

  rule "the transaction manager receives Prepared"
    tm = undecided & sent[i]
  ==>
  begin
    known[i] := true;
  end;

end;

rule "the transaction manager commits"
  tm = undecided & forall i: manager do known[i] end
==>
begin
  tm := commit;
  commit_sent := true;
end;

rule "the transaction manager aborts"
  tm = undecided
==>
begin
  tm := abort;
  abort_sent := true;
end;

invariant "nobody commits while somebody aborts"
  (forall i: manager do status[i] != committed end)
  | (forall i: manager do status[i] != aborted end);
