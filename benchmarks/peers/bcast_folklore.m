-- Reliable broadcast by diffusion among N processes, at most F of which crash.
-- One rule firing is one step: p receives `new`, any set of what waits for it, and in the same
-- step does nothing more, accepts or crashes. The processes are a range and no scalarset, so that
-- symmetric states are told apart. Sets of processes are bit masks; their ranges are written out,
-- because Rumur's bitwise operators do not see through the name of a type.

const
  N: 3;
  F: 1;
  ALL: (1 << N) - 1;

type
  process: 0 .. N - 1;

var
  saying: 0 .. ALL;   -- V1, has something to say; those in none of the three sets are in V0
  accepted: 0 .. ALL;
  crashed: 0 .. ALL;
  crashes: 0 .. F;
  sent: 0 .. ALL;
  received: array [process] of 0 .. ALL;

ruleset start: 0 .. ALL do
  startstate
  begin
    saying := start;
    accepted := 0;
    crashed := 0;
    crashes := 0;
    sent := 0;
    for p: process do
      received[p] := 0;
    end;
  end;
end;

ruleset p: process; new: 0 .. ALL do

  rule "receive"
    (new & ~sent) = 0 & (new & received[p]) = 0 & (crashed & (1 << p)) = 0
  ==>
  begin
    received[p] := received[p] | new;
  end;

  rule "accept and send to all"
    (new & ~sent) = 0 & (new & received[p]) = 0 & ((accepted | crashed) & (1 << p)) = 0
    & ((saying & (1 << p)) != 0 | (received[p] | new) != 0)
  ==>
  begin
    received[p] := received[p] | new;
    saying := saying & ~(1 << p);
    accepted := accepted | (1 << p);
    sent := sent | (1 << p);
  end;

  rule "crash"
    crashes < F & (new & ~sent) = 0 & (new & received[p]) = 0 & (crashed & (1 << p)) = 0
  ==>
  begin
    received[p] := received[p] | new;
    saying := saying & ~(1 << p);
    accepted := accepted & ~(1 << p);
    crashed := crashed | (1 << p);
    crashes := crashes + 1;
  end;

end;

-- That no more than F crash, the range of `crashes` says.

invariant "who has accepted has sent"
  (accepted & ~sent) = 0;

invariant "who has sent accepted, and may have crashed since"
  (sent & ~(accepted | crashed)) = 0;

invariant "nobody received what was not sent"
  forall p: process do (received[p] & ~sent) = 0 end;
