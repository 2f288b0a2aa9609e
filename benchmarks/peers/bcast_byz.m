-- Reliable broadcast by echoes among N processes, made for T faults, F of which lie and take no
-- steps; an echo of theirs can be received at any time.
-- One rule firing is one step: p receives `new`, any set of what waits for it, and in the same
-- step echoes or accepts. The processes are a range and no scalarset, so that symmetric states are
-- told apart. Sets of processes are bit masks; their ranges are written out, because Rumur's
-- bitwise operators do not see through the name of a type.

const
  N: 4;
  T: 1;
  F: 1;
  ALL: (1 << N) - 1;

type
  process: 0 .. N - 1;

var
  saying: 0 .. ALL;   -- V1, has something to say; those in none of the three sets are in V0
  echoed: 0 .. ALL;
  accepted: 0 .. ALL;
  sent: 0 .. ALL;
  correct: 0 .. ALL;
  received: array [process] of 0 .. ALL;

-- Any set as `start`; of those as `chosen` that are no N - F processes each gives the first N - F.
ruleset start: 0 .. ALL; chosen: 0 .. ALL do
  startstate
  var
    count: 0 .. N;
  begin
    count := 0;
    for p: process do
      if (chosen & (1 << p)) != 0 then
        count := count + 1;
      end;
    end;
    if count = N - F then
      correct := chosen;
    else
      correct := (1 << (N - F)) - 1;
    end;
    saying := start;
    echoed := 0;
    accepted := 0;
    sent := 0;
    for p: process do
      received[p] := 0;
    end;
  end;
end;

function size(s: 0 .. ALL): 0 .. N;
begin
  return (s & 1) + ((s >> 1) & 1) + ((s >> 2) & 1) + ((s >> 3) & 1) + ((s >> 4) & 1)
    + ((s >> 5) & 1);
end;

ruleset p: process; new: 0 .. ALL do

  rule "echo"
    (correct & ~(echoed | accepted) & (1 << p)) != 0
    & (new & ~(sent | ALL & ~correct)) = 0 & (new & received[p]) = 0
    & ((saying & (1 << p)) != 0
       | size(received[p] | new) >= N - 2 * T & size(received[p] | new) < N - T)
  ==>
  begin
    received[p] := received[p] | new;
    saying := saying & ~(1 << p);
    echoed := echoed | (1 << p);
    sent := sent | (1 << p);
  end;

  rule "accept"
    (correct & ~accepted & (1 << p)) != 0
    & (new & ~(sent | ALL & ~correct)) = 0 & (new & received[p]) = 0
    & size(received[p] | new) >= N - T
  ==>
  begin
    received[p] := received[p] | new;
    saying := saying & ~(1 << p);
    echoed := echoed & ~(1 << p);
    accepted := accepted | (1 << p);
    sent := sent | (1 << p);
  end;

end;

invariant "whoever is correct and has echoed or accepted has sent"
  (correct & (echoed | accepted) & ~sent) = 0;
