-- Election of the smallest initiator on a ring of N nodes in one direction. One rule firing is one
-- step. Sets of nodes are bit masks; their ranges are written out, because Rumur's bitwise operators
-- do not see through the name of a type. The messages to a node are a set of ids, and taking one
-- removes it.

const
  N: 3;
  ALL: (1 << N) - 1;

type
  node: 0 .. N - 1;

var
  initiators: 0 .. ALL;
  running: 0 .. ALL;
  lost: 0 .. ALL; -- neither lost nor won: a candidate
  won: 0 .. ALL;
  inbox: array [node] of 0 .. ALL;

ruleset start: 0 .. ALL do
  startstate
  begin
    initiators := start;
    running := 0;
    lost := ALL & ~start;
    won := 0;
    for p: node do
      inbox[p] := 0;
    end;
  end;
end;

ruleset p: node do
  rule "start"
    (running & (1 << p)) = 0
  ==>
  begin
    running := running | (1 << p);
    inbox[(p + 1) % N] := inbox[(p + 1) % N] | (initiators & (1 << p));
  end;
end;

ruleset p: node; id: node do
  rule "take"
    (running & (1 << p)) != 0 & (inbox[p] & (1 << id)) != 0
  ==>
  begin
    inbox[p] := inbox[p] & ~(1 << id);
    if (lost & (1 << p)) != 0 | id < p then
      lost := lost | (1 << p);
      won := won & ~(1 << p);
      inbox[(p + 1) % N] := inbox[(p + 1) % N] | (1 << id);
    elsif id = p then
      won := won | (1 << p);
    end;
  end;
end;

invariant "nobody wins but the initiator with the smallest id"
  forall p: node do
    (won & (1 << p)) != 0 -> (initiators & (1 << p)) != 0 & (initiators & ((1 << p) - 1)) = 0
  end;
