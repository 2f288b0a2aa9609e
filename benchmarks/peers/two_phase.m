-- Two-phase commit with N resource managers; messages once sent stay.
-- One rule firing is one step. The resource managers are a range and no scalarset, so that
-- symmetric states are told apart. Sets of resource managers are bit masks; their ranges are
-- written out, because Rumur's bitwise operators do not see through the name of a type.

const
  N: 3;
  ALL: (1 << N) - 1;

type
  manager: 0 .. N - 1;

var
  prepared: 0 .. ALL; -- resource managers; those in no set are working
  committed: 0 .. ALL;
  aborted: 0 .. ALL;
  known: 0 .. ALL;    -- those the transaction manager knows to be prepared
  sent: 0 .. ALL;     -- those whose Prepared message was sent
  commit_sent: boolean;
  abort_sent: boolean;
  tm: enum {undecided, commit, abort};

startstate
begin
  prepared := 0;
  committed := 0;
  aborted := 0;
  known := 0;
  sent := 0;
  commit_sent := false;
  abort_sent := false;
  tm := undecided;
end;

ruleset i: manager do

  rule "a resource manager prepares"
    ((prepared | committed | aborted) & (1 << i)) = 0
  ==>
  begin
    prepared := prepared | (1 << i);
    sent := sent | (1 << i);
  end;

  rule "a resource manager aborts on its own"
    ((prepared | committed | aborted) & (1 << i)) = 0
  ==>
  begin
    aborted := aborted | (1 << i);
  end;

  rule "a resource manager is told to commit"
    commit_sent
  ==>
  begin
    committed := committed | (1 << i);
    prepared := prepared & ~(1 << i);
    aborted := aborted & ~(1 << i);
  end;

  rule "a resource manager is told to abort"
    abort_sent
  ==>
  begin
    aborted := aborted | (1 << i);
    prepared := prepared & ~(1 << i);
    committed := committed & ~(1 << i);
  end;

  rule "the transaction manager receives Prepared"
    tm = undecided & (sent & (1 << i)) != 0
  ==>
  begin
    known := known | (1 << i);
  end;

end;

rule "the transaction manager commits"
  tm = undecided & known = ALL
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
  committed = 0 | aborted = 0;
