-- Paxos for one value, three acceptors, ballots 0 to TOP, values 1 to VALUES; leaders have no
-- state, messages once sent stay. One rule firing is one step. The acceptors are a range and no
-- scalarset, so that symmetric states are told apart.
-- An acceptor promises a ballot once and a ballot has one proposal, so messages are kept by that:
-- a promise is 0 where there is none, or 1 more than the number of the vote that it tells of, and
-- the vote for v in ballot b has number (b + 1) (VALUES + 1) + v, none has number 0.

const
  TOP: 1;
  VALUES: 2;
  MOST: (TOP + 1) * (VALUES + 1) + VALUES;

type
  acceptor: 0 .. 2;
  ballot: 0 .. TOP;

var
  opened: array [ballot] of boolean;                            -- 1a
  promise: array [acceptor] of array [ballot] of 0 .. MOST + 1; -- 1b
  proposal: array [ballot] of 0 .. VALUES;                      -- 2a
  votes: array [acceptor] of array [ballot] of boolean;         -- 2b
  next: array [acceptor] of 0 .. TOP + 1; -- no ballot smaller than that is taken part in
  last: array [acceptor] of 0 .. MOST;    -- number of the last vote

startstate
begin
  for b: ballot do
    opened[b] := false;
    proposal[b] := 0;
    for a: acceptor do
      promise[a][b] := 0;
      votes[a][b] := false;
    end;
  end;
  for a: acceptor do
    next[a] := 0;
    last[a] := 0;
  end;
end;

ruleset b: ballot do
  rule "open"
    !opened[b]
  ==>
  begin
    opened[b] := true;
  end;
end;

ruleset b: ballot; v: 1 .. VALUES do
  rule "propose"
    proposal[b] = 0
    & (exists p: acceptor do
         exists q: acceptor do
           p < q & promise[p][b] != 0 & promise[q][b] != 0
           & ((promise[p][b] > promise[q][b] ? promise[p][b] : promise[q][b]) = 1
              | ((promise[p][b] > promise[q][b] ? promise[p][b] : promise[q][b]) - 1)
                % (VALUES + 1) = v)
         end
       end)
  ==>
  begin
    proposal[b] := v;
  end;
end;

ruleset a: acceptor; b: ballot do

  rule "promise"
    opened[b] & b >= next[a]
  ==>
  begin
    next[a] := b + 1;
    promise[a][b] := last[a] + 1;
  end;

  rule "vote"
    proposal[b] != 0 & b + 1 >= next[a]
  ==>
  begin
    next[a] := b + 1;
    last[a] := (b + 1) * (VALUES + 1) + proposal[b];
    votes[a][b] := true;
  end;

end;

-- A ballot's value is chosen when two acceptors have voted in it.
invariant "no two values are ever chosen"
  forall b: ballot do
    forall c: ballot do
      (votes[0][b] & votes[1][b] | votes[0][b] & votes[2][b] | votes[1][b] & votes[2][b])
      & (votes[0][c] & votes[1][c] | votes[0][c] & votes[2][c] | votes[1][c] & votes[2][c])
      -> proposal[b] = proposal[c]
    end
  end;
