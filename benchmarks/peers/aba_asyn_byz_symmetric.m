-- Asynchronous Byzantine agreement by echo and ready among N processes, made for T faults, at most
-- F of which happen; messages are counted. The processes are a scalarset: of states that differ by
-- their names only one is explored. The same steps as in aba_asyn_byz.m; the model starts with any
-- number of ones among the inputs, which stands for all such inputs.

const
  N: 4;
  T: 1;
  F: 0;

type
  process: scalarset(N);
  status: enum {v0, v1, echoed, ready, accepted, byzantine};

var
  pc: array [process] of status;
  echoes_here: array [process] of 0 .. N; -- so many were received
  readies_here: array [process] of 0 .. N;
  echoes: 0 .. N;                         -- so many were sent
  readies: 0 .. N;
  liars: 0 .. F;

ruleset ones: 0 .. N do
  startstate
  var
    left: 0 .. N;
  begin
    left := ones;
    for p: process do
      if left > 0 then
        pc[p] := v1;
        left := left - 1;
      else
        pc[p] := v0;
      end;
      echoes_here[p] := 0;
      readies_here[p] := 0;
    end;
    echoes := 0;
    readies := 0;
    liars := 0;
  end;
end;

ruleset p: process do

  rule "turn Byzantine"
    (pc[p] = v0 | pc[p] = v1) & liars < F
  ==>
  begin
    pc[p] := byzantine;
    liars := liars + 1;
  end;

  rule "receive an echo"
    echoes_here[p] < echoes + liars
  ==>
  begin
    echoes_here[p] := echoes_here[p] + 1;
  end;

  rule "receive a ready"
    readies_here[p] < readies + liars
  ==>
  begin
    readies_here[p] := readies_here[p] + 1;
  end;

  rule "echo"
    pc[p] = v1
    | pc[p] = v0 & (echoes_here[p] >= (N + T + 2) / 2 | readies_here[p] >= T + 1)
  ==>
  begin
    pc[p] := echoed;
    echoes := echoes + 1;
  end;

  rule "get ready"
    pc[p] = echoed & (echoes_here[p] >= (N + T + 2) / 2 | readies_here[p] >= T + 1)
  ==>
  begin
    pc[p] := ready;
    readies := readies + 1;
  end;

  rule "accept"
    pc[p] = ready & readies_here[p] >= 2 * T + 1
  ==>
  begin
    pc[p] := accepted;
  end;

end;

invariant "nobody accepts unless 2T + 1 were ready or Byzantine"
  (exists p: process do pc[p] = accepted end) -> readies + liars >= 2 * T + 1;
