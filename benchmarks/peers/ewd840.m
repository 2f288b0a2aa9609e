-- Termination detection with a token on a ring of N nodes. One rule firing is one step. Sets of
-- nodes are bit masks; their ranges are written out, because Rumur's bitwise operators do not see
-- through the name of a type.

const
  N: 3;
  ALL: (1 << N) - 1;

type
  node: 0 .. N - 1;

var
  working: 0 .. ALL; -- the active nodes
  black: 0 .. ALL;
  token_at: node;
  token_black: boolean;

ruleset a: 0 .. ALL; b: 0 .. ALL; i: node do
  startstate
  begin
    working := a;
    black := b;
    token_at := i;
    token_black := true;
  end;
end;

rule "initiate"
  token_at = 0 & (token_black | (black & 1) != 0)
==>
begin
  token_at := N - 1;
  token_black := false;
  black := black & ~1;
end;

ruleset i: node do

  rule "pass"
    i > 0 & token_at = i & ((working & (1 << i)) = 0 | (black & (1 << i)) != 0 | token_black)
  ==>
  begin
    token_at := i - 1;
    if (black & (1 << i)) != 0 then
      token_black := true;
    end;
    black := black & ~(1 << i);
  end;

  rule "deactivate"
    (working & (1 << i)) != 0
  ==>
  begin
    working := working & ~(1 << i);
  end;

end;

ruleset i: node; j: node do

  rule "send"
    i != j & (working & (1 << i)) != 0
  ==>
  begin
    working := working | (1 << j);
    if j > i then
      black := black | (1 << i);
    end;
  end;

end;

invariant "when node 0 holds a white token, is white and passive, all are passive"
  token_at != 0 | token_black | ((black | working) & 1) != 0 | working = 0;
