"""Writes expressions and statements of the IR in C (of gcc: statements in expressions).

A scalar is a ``long long``; any other value is a struct ``V7`` of its seven cells ``c``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count
from typing import assert_never

from checker.model import ir
from checker.model.ir import Op, Quantifier
from checker.model.types import (
    BagT,
    IntT,
    MapT,
    OptionT,
    SeqT,
    SetT,
    TupleT,
    Type,
    VariantT,
)  # fmt: skip
from scripts.second_opinion.layout import (
    Untranslatable,
    bounds,
    flat,
    is_scalar,
    offsets,
    shape,
    size,
    width,
)  # fmt: skip

Names = Mapping[str, tuple[str, Type]]
"""Names of the IR that are bound: what each is called in C, and its type."""

COMPARING = {Op.EQ: "==", Op.LT: "<", Op.LE: "<="}
COMPUTING = {Op.ADD: "+", Op.SUB: "-", Op.MUL: "*"}
BITWISE = {Op.UNION: "|", Op.INTERSECT: "&", Op.MINUS: "&~"}


class Coder:
    """Collects C functions; ``places``: where each variable begins in the state."""

    def __init__(self, system: ir.TransitionSystem) -> None:
        starts = offsets([v.type for v in system.variables])
        self.places = {
            v.name: (at, v.type) for v, at in zip(system.variables, starts, strict=False)
        }
        self.cells = starts[-1]
        self.functions: list[str] = []
        self.widths: set[int] = set()
        self._made: dict[object, str] = {}
        self._numbers = count()
        self._locals: dict[str, str] = {}

    def fresh(self, stem: str) -> str:
        """Returns a name that nothing else has."""
        return f"{stem}{next(self._numbers)}"

    def v(self, type_: Type) -> str:
        """Returns the C type of a value."""
        if is_scalar(type_):
            return "L"
        self.widths.add(width(type_))
        return f"V{width(type_)}"

    def function(self, stem: str, body: Callable[[], str]) -> str:
        """Adds a function without parameters whose statements ``body`` makes; returns its name."""
        self._locals = {}
        text, name = body(), self.fresh(stem)
        declared = "".join(f"{type_} {local};" for local, type_ in self._locals.items())
        self.functions.append(f"static void {name}(void){{{declared}\n{text}}}\n")
        return name

    # -- values of types ------------------------------------------------------------------------

    def _helper(self, key: object, head: str, body: Callable[[], str]) -> str:
        if key not in self._made:
            self._made[key] = name = self.fresh("h")
            self.functions.append(f"static {head.format(name)}{{{body()}}}\n")
        return self._made[key]

    def rank(self, type_: Type) -> str:
        """Returns a function from a pointer to the rank of a value, -1 if it is of another type."""

        def parts(types: list[Type], at: int) -> str:
            pairs = zip(types, offsets(types), strict=False)
            return "".join(
                f"x={self.rank(t)}(p+{at + i});if(x<0)return -1;r=r*{size(t)}+x;" for t, i in pairs
            )

        def body() -> str:
            head = "long r=0,x;"
            match type_:
                case TupleT(items):
                    return f"{head}{parts([*items], 0)}return r;"
                case OptionT(item):
                    return f"long x;if(!p[0])return 0;x={self.rank(item)}(p+1);return x<0?-1:1+x;"
                case SetT(item):
                    size(type_)
                    more = "|(long)p[1]<<31" if width(type_) > 1 else ""
                    return f"return p[0]{more};"
                case MapT(key, value):
                    return f"{head}{parts([value] * size(key), 0)}return r;"
                case SeqT(item, cap):
                    base = "".join(f"if(p[0]>{k})b+={size(item) ** k};" for k in range(cap))
                    step = f"x={self.rank(item)}(p+1+i*{width(item)});if(x<0)return -1;"
                    loop = f"for(int i=0;i<p[0];i++){{{step}r=r*{size(item)}+x;}}"
                    return f"{head}long b=0;if(p[0]>{cap})return -1;{base}{loop}return b+r;"
                case VariantT(cases=cases):
                    text, below = head, 0
                    for i, case in enumerate(cases):
                        types = [t for _, t in case.fields]
                        text += f"if(p[0]=={i}){{{parts(types, 1)}return {below}+r;}}"
                        below += _product(types)
                    return text + "return -1;"
            if not is_scalar(type_):
                raise Untranslatable("a bag as a key or a member")
            lo, hi = bounds(type_)
            return f"return p[0]>={lo}&&p[0]<={hi}?p[0]-({lo}):-1;"

        return self._helper(("rank", type_), "long {}(int*p)", body)

    def unrank(self, type_: Type) -> str:
        """Returns a function that writes the value with a rank to cells that are zero."""

        def parts(types: list[Type], at: int) -> str:
            pairs = [*zip(types, offsets(types), strict=False)]
            return "".join(
                f"{self.unrank(t)}(r%{size(t)},p+{at + i});r/={size(t)};" for t, i in pairs[::-1]
            )

        def body() -> str:
            match type_:
                case TupleT(items):
                    return parts([*items], 0)
                case OptionT(item):
                    return f"if(r){{p[0]=1;{self.unrank(item)}(r-1,p+1);}}"
                case SetT(item):
                    more = "p[1]=r>>31;" if width(type_) > 1 else ""
                    return f"p[0]=r&0x7fffffff;{more}"
                case MapT(key, value):
                    return parts([value] * size(key), 0)
                case SeqT(item):
                    n, w = size(item), width(item)
                    find = f"long k=1;while(r>=k){{r-=k;k*={n};p[0]++;}}"
                    step = f"{self.unrank(item)}(r%{n},p+1+i*{w});r/={n};"
                    return f"{find}for(int i=p[0]-1;i>=0;i--){{{step}}}"
                case VariantT(cases=cases):
                    text = ""
                    for i, case in enumerate(cases):
                        types = [t for _, t in case.fields]
                        many = _product(types)
                        text += f"if(r<{many}){{p[0]={i};{parts(types, 1)}return;}}r-={many};"
                    return text
            return f"p[0]=r+({bounds(type_)[0]});"

        return self._helper(("unrank", type_), "void {}(long r,int*p)", body)

    def cast(self, old: Type, new: Type) -> str:
        """Returns a function that copies a value of type ``old`` to cells of type ``new`` that are
        zero; it faults where the value does not fit."""

        def inner(one: Type, other: Type, p: str, q: str) -> str:
            return f"{self.cast(one, other)}({p},{q});"

        def several(ones: list[Type], others: list[Type], at: int) -> str:
            where = zip(ones, others, offsets(ones), offsets(others), strict=False)
            return "".join(inner(a, b, f"p+{at + i}", f"q+{at + j}") for a, b, i, j in where)

        def body() -> str:
            match old, new:
                case TupleT(ones), TupleT(others):
                    return several([*ones], [*others], 0)
                case OptionT(one), OptionT(other):
                    return f"if(p[0]){{q[0]=1;{inner(one, other, 'p+1', 'q+1')}}}"
                case SetT(one), SetT(other):
                    each = f"int a[{width(one)}]={{0}},b[{width(other)}]={{0}};"
                    each += f"{self.unrank(one)}(i,a);{inner(one, other, 'a', 'b')}"
                    each += f"put(q,{self.rank(other)}(b));"
                    return f"for(int i=0;i<{size(one)};i++)if(bit(p,i)){{{each}}}"
                case MapT(key, one), MapT(again, other) if size(key) == size(again):
                    step = inner(one, other, f"p+i*{width(one)}", f"q+i*{width(other)}")
                    return f"for(int i=0;i<{size(key)};i++){{{step}}}"
                case (SeqT(one), SeqT(other, cap)) | (BagT(one), BagT(other, cap)):
                    step = inner(one, other, f"p+1+i*{width(one)}", f"q+1+i*{width(other)}")
                    return f"if(p[0]>{cap})fault();q[0]=p[0];for(int i=0;i<p[0];i++){{{step}}}"
                case VariantT(cases=ones), VariantT(cases=others) if len(ones) == len(others):
                    text = "q[0]=p[0];"
                    for i, (a, b) in enumerate(zip(ones, others, strict=True)):
                        fields = ([t for _, t in a.fields], [t for _, t in b.fields])
                        text += f"if(p[0]=={i}){{{several(*fields, 1)}}}"
                    return text
            if not (is_scalar(old) and is_scalar(new)):
                raise Untranslatable(f"a conversion from {type(old)} to {type(new)}")
            lo, hi = bounds(new)
            return f"q[0]=within(p[0],{lo},{hi});"

        return self._helper(("cast", old, new), "void {}(int*p,int*q)", body)

    # -- expressions ----------------------------------------------------------------------------

    def as_type(self, expr: ir.Expr, type_: Type, names: Names) -> str:
        """Returns the value of ``expr`` as it is stored where ``type_`` is held."""
        value = self.value(expr, names)
        if expr.type == type_:
            return value
        if is_scalar(type_):
            (lo, hi), (low, high) = bounds(type_), bounds(expr.type)
            return value if lo <= low and high <= hi else f"within({value},{lo},{hi})"
        made, p = self.v(type_), self.pointer(expr, names)
        return f"({{{made} t={{{{0}}}};{self.cast(expr.type, type_)}({p},t.c);t;}})"

    def load(self, type_: Type, pointer: str) -> str:
        """Returns the value at ``pointer``."""
        return f"(L)*({pointer})" if is_scalar(type_) else f"*({self.v(type_)}*)({pointer})"

    def store(self, type_: Type, pointer: str, value: str) -> str:
        """Returns a statement that writes ``value`` to ``pointer``."""
        return f"*({'int' if is_scalar(type_) else self.v(type_)}*)({pointer})={value};"

    def rank_of(self, expr: ir.Expr, type_: Type, names: Names) -> str:
        """Returns the rank of the value of ``expr`` in ``type_``, -1 if it is no member."""
        if is_scalar(type_):
            lo, hi = bounds(type_)
            return f"rank({self.value(expr, names)},{lo},{hi})"
        self._alike(expr.type, type_)
        return f"{self.rank(type_)}({self.pointer(expr, names)})"

    def _alike(self, one: Type, other: Type) -> None:
        if shape(one) != shape(other):
            raise Untranslatable("two types of different cells in one operation")

    def pointer(self, expr: ir.Expr, names: Names) -> str:
        """Returns a pointer to the cells of the value."""
        match expr:
            case ir.Read(_, variable):
                return f"(S+{self.places[variable][0]})"
            case ir.Local(type_, name) if not is_scalar(type_):
                self._alike(type_, names[name][1])
                return f"{names[name][0]}.c"
            case ir.Index(type_, base, key) if isinstance(base.type, MapT):
                at = self.rank_of(key, base.type.key, names)
                many, w = size(base.type.key), width(base.type.value)
                return f"entry({self.pointer(base, names)},{at},{many},{w})"
            case ir.Index(type_, base, key):
                at = self.value(key, names)
                return f"item({self.pointer(base, names)},{at},{width(type_)})"
            case ir.Item(_, base, position):
                assert isinstance(base.type, TupleT)
                return f"({self.pointer(base, names)}+{offsets(base.type.items)[position]})"
            case ir.CaseField(_, base, case, position):
                assert isinstance(base.type, VariantT)
                types = [t for _, t in base.type.cases[case].fields]
                return f"({self.pointer(base, names)}+{1 + offsets(types)[position]})"
            case ir.Apply(_, Op.GET, (option,)):
                return f"got({self.pointer(option, names)})"
            case ir.Apply(type_, Op.HEAD, (seq,)):
                return f"item({self.pointer(seq, names)},0,{width(type_)})"
            case ir.Apply(type_, Op.LAST, (seq,)):
                return f"last({self.pointer(seq, names)},{width(type_)})"
        if is_scalar(expr.type):
            return f"((int[1]){{{self.value(expr, names)}}})"
        return f"((({self.v(expr.type)}[1]){{{self.value(expr, names)}}})[0].c)"

    def value(self, expr: ir.Expr, names: Names) -> str:
        """Returns the value in C."""
        match expr:
            case ir.Const(type_, value):
                if is_scalar(type_):
                    return f"{flat(type_, value)[0]}LL"
                return f"(({self.v(type_)}){{{{{','.join(map(str, flat(type_, value)))}}}}})"
            case ir.Local(type_, name) if is_scalar(type_):
                return names[name][0]
            case ir.IsCase(base, case):
                return f"({self.pointer(base, names)}[0]=={case})"
            case ir.Make(type_, case, args):
                assert isinstance(type_, VariantT)
                return self._built(
                    type_, case, [t for _, t in type_.cases[case].fields], args, names
                )
            case ir.Let(_, name, value, body):
                let = self.fresh("x")
                inner = {**names, name: (let, value.type)}
                now = self.value(value, names)
                return f"({{{self.v(value.type)} {let}={now};{self.value(body, inner)};}})"
            case ir.Quant():
                return self._quant(expr, names)
            case ir.Comprehension():
                return self._comprehension(expr, names)
            case ir.MapOf(type_, name, body):
                assert isinstance(type_, MapT)
                at, made, held = self.fresh("k"), self.fresh("m"), type_.value

                def entry(inner: Names) -> str:
                    to = f"{made}.c+{width(held)}*{at}++"
                    return self.store(held, to, self.as_type(body, held, inner))

                loop = self.loop(ir.Universe(type_.key), name, entry, names)
                return f"({{{self.v(type_)} {made}={{{{0}}}};int {at}=0;{loop}{made};}})"
            case ir.Apply(op=op) if op not in (Op.GET, Op.HEAD, Op.LAST):
                return self._apply(expr, names)
            case _:
                return self.load(expr.type, self.pointer(expr, names))

    def _built(
        self,
        type_: Type,
        first: int | None,
        types: list[Type],
        args: tuple[ir.Expr, ...],
        names: Names,
    ) -> str:
        """Returns a value whose cells are ``first``, if any, and the arguments."""
        made, at = self.fresh("b"), 0 if first is None else 1
        text = "" if first is None else f"{made}.c[0]={first};"
        for item, place, arg in zip(types, offsets(types), args, strict=False):
            text += self.store(item, f"{made}.c+{at + place}", self.as_type(arg, item, names))
        return f"({{{self.v(type_)} {made}={{{{0}}}};{text}{made};}})"

    def _quant(self, expr: ir.Quant, names: Names) -> str:
        found = self.fresh("q")

        def each(inner: Names) -> str:
            body = self.value(expr.body, inner)
            match expr.kind:
                case Quantifier.FORALL:
                    return f"if(!({body})){{{found}=0;break;}}"
                case Quantifier.EXISTS:
                    return f"if({body}){{{found}=1;break;}}"
                case Quantifier.COUNT | Quantifier.SUM:
                    return f"{found}+={body};"
                case _:
                    assert_never(expr.kind)

        loop = self.loop(expr.domain, expr.name, each, names, copies=True)
        return f"({{L {found}={int(expr.kind is Quantifier.FORALL)};{loop}{found};}})"

    def _comprehension(self, expr: ir.Comprehension, names: Names) -> str:
        type_, made = expr.type, self.fresh("s")
        assert isinstance(type_, SetT | SeqT | BagT)
        if isinstance(type_, SeqT):
            self._ordered(expr.domain)

        def each(inner: Names) -> str:
            add = self._add(type_, made, self.as_type(expr.item, type_.item, inner), once=True)
            return f"if({self.value(expr.where, inner)}){{{add}}}"

        loop = self.loop(expr.domain, expr.name, each, names)
        return f"({{{self.v(type_)} {made}={{{{0}}}};{loop}{made};}})"

    def _add(self, type_: Type, made: str, value: str, *, once: bool = False) -> str:
        """Returns a statement that adds ``value``, of the type of its items, to a collection."""
        assert isinstance(type_, SetT | SeqT | BagT)
        item, w = type_.item, width(type_.item)
        name = self.fresh("i")
        start = f"{self.v(item)} {name}={value};"
        p = f"((int[1]){{{name}}})" if is_scalar(item) else f"{name}.c"
        if isinstance(type_, SetT):
            return f"{start}put({made}.c,{self.rank(item)}({p}));"
        if isinstance(type_, SeqT):
            return f"{start}append({made}.c,{p},{type_.cap},{w});"
        return f"{start}bag_add({made}.c,{p},{type_.cap},{w},{int(once)});"

    def _ordered(self, domain: ir.Domain) -> None:
        if isinstance(domain, ir.Members) and isinstance(domain.of.type, BagT):
            raise Untranslatable("a bag whose order matters")

    def _apply(self, expr: ir.Apply, names: Names) -> str:
        """Returns an operation on scalars, sets or options; the others are of collections."""
        args = expr.args
        match expr.op:
            case Op.NOT:
                return f"(!{self.value(args[0], names)})"
            case Op.AND | Op.OR:
                sign = "&&" if expr.op is Op.AND else "||"
                return f"({sign.join(self.value(arg, names) for arg in args) or int(sign == '&&')})"
            case Op.ITE:
                a, b = (self.as_type(arg, expr.type, names) for arg in args[1:])
                return f"({self.value(args[0], names)}?{a}:{b})"
            case Op.EQ if not is_scalar(args[0].type):
                return self._equal(args[0], args[1], names)
            case Op.EQ | Op.LT | Op.LE:
                one, other = (self.value(arg, names) for arg in args)
                return f"({one}{COMPARING[expr.op]}{other})"
            case Op.ADD | Op.SUB | Op.MUL:
                _exact(expr.type)
                one, other = (self.value(arg, names) for arg in args)
                return f"({one}{COMPUTING[expr.op]}{other})"
            case Op.DIV | Op.MOD:
                return f"{expr.op.value}_({','.join(self.value(arg, names) for arg in args)})"
            case Op.RANK:
                return f"({self.value(args[0], names)}-({bounds(args[0].type)[0]})+1)"
            case Op.TUPLE:
                assert isinstance(expr.type, TupleT)
                return self._built(expr.type, None, [*expr.type.items], args, names)
            case Op.SOME:
                assert isinstance(expr.type, OptionT)
                return self._built(expr.type, 1, [expr.type.item], args, names)
            case Op.IS_SOME | Op.LEN:
                return f"((L){self.pointer(args[0], names)}[0])"
            case Op.FILL:
                assert isinstance(expr.type, MapT)
                many, item, made = size(expr.type.key), expr.type.value, self.fresh("f")
                store = self.store(item, f"{made}.c+i*{width(item)}", "v")
                now = f"{self.v(item)} v={self.as_type(args[0], item, names)};"
                loop = f"for(int i=0;i<{many};i++){store}"
                return f"({{{self.v(expr.type)} {made}={{{{0}}}};{now}{loop}{made};}})"
        return self._collection(expr, names)

    def _equal(self, one: ir.Expr, other: ir.Expr, names: Names) -> str:
        wide = one if width(one.type) >= width(other.type) else other
        if shape(one.type) != shape(other.type):
            a, b = ((self.as_type(each, wide.type, names)) for each in (one, other))
            v = self.v(wide.type)
            return f"({{{v} a={a},b={b};!memcmp(&a,&b,sizeof a);}})"
        a, b = self.pointer(one, names), self.pointer(other, names)
        return f"(!memcmp({a},{b},{4 * width(one.type)}))"

    def _collection(self, expr: ir.Apply, names: Names) -> str:
        args, types = expr.args, [arg.type for arg in expr.args]
        p = [self.pointer(arg, names) for arg in args] if args else []
        match expr.op, types:
            case Op.IN, [_, SetT(item)]:
                return f"bit_({p[1]},{self.rank_of(args[0], item, names)})"
            case Op.IN | Op.INDEX_OF | Op.BAG_COUNT, _:
                seq, one = (1, 0) if expr.op is Op.IN else (0, 1)
                inner = types[seq]
                assert isinstance(inner, SeqT | BagT)
                self._alike(types[one], inner.item)
                return f"{expr.op.name.lower()}({p[seq]},{p[one]},{width(inner.item)})"
            case Op.SUBSET | Op.PREFIX, [one, other]:
                assert isinstance(one, SetT | SeqT)
                self._alike(one.item, other.item)  # type: ignore[union-attr]
                wide = width(one) if isinstance(one, SetT) else width(one.item)
                return f"{expr.op.name.lower()}({p[0]},{p[1]},{wide})"
            case Op.CARD, [one]:
                return f"card({p[0]},{width(one)})"
            case Op.MIN | Op.MAX, [SetT(item)]:
                return f"({bounds(item)[0]}+{expr.op.name.lower()}({p[0]},{size(item)}))"
        return self._changed(expr, p, names)

    def _changed(self, expr: ir.Apply, p: list[str], names: Names) -> str:
        """Returns a collection that an operation makes of others."""
        args, type_, made = expr.args, expr.type, self.fresh("c")
        assert isinstance(type_, SetT | SeqT | BagT)
        item = type_.item
        w = width(item)
        copied = ""
        if args and expr.op not in (Op.SET, Op.SEQ):
            copied = f"{made}={self.as_type(args[0], type_, names)};"
        match expr.op:
            case Op.SET | Op.SEQ:
                text = "".join(
                    f"{{{self._add(type_, made, self.as_type(a, item, names))}}}" for a in args
                )
            case Op.UNION | Op.INTERSECT | Op.MINUS:
                other = self.pointer(args[1], names)
                if expr.op is not Op.UNION:
                    self._alike(args[1].type, type_)
                elif args[1].type != type_:
                    other = f"(({self.v(type_)}[1]){{{self.as_type(args[1], type_, names)}}})[0].c"
                sign = BITWISE[expr.op]
                each = f"{made}.c[i]={made}.c[i]{sign}o[i];"
                text = f"{{int*o={other};for(int i=0;i<{width(type_)};i++){each}}}"
            case Op.INSERT | Op.APPEND | Op.BAG_ADD:
                text = f"{{{self._add(type_, made, self.as_type(args[1], item, names))}}}"
            case Op.REMOVE:
                text = f"drop_bit({made}.c,{self.rank_of(args[1], item, names)});"
            case Op.BAG_REMOVE:
                self._alike(args[1].type, item)
                text = f"bag_remove({made}.c,{p[1]},{w});"
            case Op.TAIL:
                text = f"delete_at({made}.c,0,{w});"
            case Op.DELETE_AT | Op.TAKE | Op.DROP:
                text = f"{expr.op.name.lower()}({made}.c,{self.value(args[1], names)},{w});"
            case Op.CONCAT:
                assert isinstance(type_, SeqT)
                more = f"(({self.v(type_)}[1]){{{self.as_type(args[1], type_, names)}}})[0].c"
                text = f"concat({made}.c,{more},{type_.cap},{w});"
            case _:
                raise Untranslatable(f"the operation {expr.op}")
        return f"({{{self.v(type_)} {made}={{{{0}}}};{copied}{text}{made};}})"

    # -- domains --------------------------------------------------------------------------------

    def loop(
        self, domain: ir.Domain, name: str, each: Callable[[Names], str], names: Names,
        *, copies: bool = False,
    ) -> str:  # fmt: skip
        """Returns a loop over the members of ``domain``; ``copies``: over each copy in a bag."""
        x, i, of = self.fresh("x"), self.fresh("n"), self.fresh("d")
        item = ir.domain_item(domain)
        body = each({**names, name: (x, item)})

        def ranked() -> str:
            if is_scalar(item):
                return f"L {x}={i}+({bounds(item)[0]});"
            return f"{self.v(item)} {x}={{{{0}}}};{self.unrank(item)}({i},{x}.c);"

        if isinstance(domain, ir.Universe):
            return f"for(long {i}=0;{i}<{size(item)};{i}++){{{ranked()}{body}}}"
        source = domain.of.type
        start = f"{self.v(source)} {of}={self.value(domain.of, names)};"
        if isinstance(domain, ir.Subsets):
            assert isinstance(item, SetT)
            n, made = size(item.item), f"{self.v(item)} {x}={{{{0}}}};subset_of({x}.c,{of}.c,{i},"
            return (
                f"{{{start}long m=1L<<card({of}.c,{width(source)});"
                f"for(long {i}=0;{i}<m;{i}++){{{made}{n});{body}}}}}"
            )
        if isinstance(source, SetT):
            self._alike(source.item, item)
            loop = f"for(long {i}=0;{i}<{size(item)};{i}++)if(bit({of}.c,{i}))"
            return f"{{{start}{loop}{{{ranked()}{body}}}}}"
        assert isinstance(source, SeqT | BagT)
        self._alike(source.item, item)
        w = width(item)
        at = f"{of}.c+1+{i}*{w}"
        once = isinstance(source, BagT) and not copies
        new = f"if({i}&&!memcmp({at},{at}-{w},{4 * w}))continue;" if once else ""
        found = f"{self.v(item)} {x}={self.load(item, at)};"
        return f"{{{start}for(long {i}=0;{i}<{of}.c[0];{i}++){{{new}{found}{body}}}}}"

    # -- statements -----------------------------------------------------------------------------

    def local(self, name: str, type_: Type, names: dict[str, tuple[str, Type]]) -> str:
        """Returns what a local of a function is called, from here on."""
        if name in names and names[name][1] == type_:
            return names[name][0]  # as in the other branch of an `If`
        found = self.fresh("y")
        self._locals[found] = self.v(type_)
        names[name] = found, type_
        return found

    def choose(self, stmt: ir.Choose | ir.Param, names: dict[str, tuple[str, Type]]) -> str:
        """Returns statements that choose a member of a domain."""
        n, k = self.fresh("n"), self.fresh("k")

        def counting(inner: Names) -> str:
            return f"if({self.value(stmt.where, inner)}){n}++;"

        first = self.loop(stmt.domain, stmt.name, counting, names)

        def taking(inner: Names) -> str:
            found = inner[stmt.name][0]
            return f"if(({self.value(stmt.where, inner)})&&{n}++=={k}){{{chosen}={found};break;}}"

        outer = dict(names)
        chosen = self.local(stmt.name, ir.domain_item(stmt.domain), names)
        second = self.loop(stmt.domain, stmt.name, taking, outer)
        return f"{{long {n}=0;{first}long {k}=choose({n});{n}=0;{second}}}\n"

    def block(self, stmts: ir.Block, names: dict[str, tuple[str, Type]]) -> str:
        """Returns statements; names that they bind are added to ``names``."""
        return "".join(self._statement(stmt, names) for stmt in stmts)

    def _statement(self, stmt: ir.Stmt, names: dict[str, tuple[str, Type]]) -> str:
        match stmt:
            case ir.Assign(target, value):
                now = self.as_type(value, target.type, names)
                return self._assign(target, now, names)
            case ir.Declare(name, type_, value):
                now = self.as_type(value, type_, names)
                return f"{self.local(name, type_, names)}={now};\n"
            case ir.If(condition, then, otherwise):
                test = self.value(condition, names)
                first, second = self.block(then, names), self.block(otherwise, names)
                return f"if({test}){{{first}}}else{{{second}}}\n"
            case ir.For(name, domain, body, any_order):
                if not any_order:
                    self._ordered(domain)
                return (
                    self.loop(domain, name, lambda inner: self.block(body, dict(inner)), names)
                    + "\n"
                )
            case ir.While(condition, body, limit, grows=grows):
                if grows is not None:
                    raise Untranslatable("a loop that continues by choice, without a bound")
                n, test = self.fresh("n"), self.value(condition, names)
                inside = f"if({n}++>={limit})fault();{self.block(body, dict(names))}"
                return f"{{long {n}=0;while({test}){{{inside}}}}}\n"
            case ir.Choose():
                return self.choose(stmt, names)
            case ir.Assume(condition):
                return f"if(!({self.value(condition, names)}))removed();\n"
            case ir.Fault():
                return "fault();\n"
            case ir.Mark():
                return "".join(f"(void){self.value(arg, names)};" for arg in stmt.args)
            case ir.Emit():
                raise Untranslatable("an effect that is not lowered")
            case _:
                assert_never(stmt)

    def _assign(self, target: ir.Target, now: str, names: Names) -> str:
        if target.is_state:
            at, type_ = self.places[target.name]
            place = f"(S+{at})"
        else:
            local, type_ = names[target.name]
            if not target.path:
                return f"{local}={now};\n"
            place = f"{local}.c"
        for step in target.path:
            if isinstance(step, ir.Pos):
                assert isinstance(type_, TupleT)
                place = f"({place}+{offsets(type_.items)[step.position]})"
                type_ = type_.items[step.position]
            elif isinstance(type_, MapT):
                at_ = self.rank_of(step.key, type_.key, names)
                place = f"entry({place},{at_},{size(type_.key)},{width(type_.value)})"
                type_ = type_.value
            else:
                assert isinstance(type_, SeqT)
                place = f"item({place},{self.value(step.key, names)},{width(type_.item)})"
                type_ = type_.item
        value = self.fresh("w")
        return f"{{{self.v(type_)} {value}={now};{self.store(type_, place, value)}}}\n"


def _exact(type_: Type) -> None:
    if isinstance(type_, IntT) and (type_.lo < -(1 << 62) or type_.hi > 1 << 62):
        raise Untranslatable("integers of more than 62 bits")


def _product(types: list[Type]) -> int:
    found = 1
    for each in types:
        found *= size(each)
    return found
