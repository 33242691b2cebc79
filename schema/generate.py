#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns schema/events.toml into all that must agree with it.

usage: generate.py events.toml kinds.h|records.h|emit.h|table.c|unpack.c|flag_words.h|events.md|kinds.py|flags.py OUT
"""

from __future__ import annotations

import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WIDTH = {"u32": 4, "i32": 4, "name": 4, "enum": 4, "flags": 4, "str": 4, "bytes": 4, "u64": 8, "i64": 8, "f64": 8, "hash": 8, "ticks": 8}
C_TYPE = {"u32": "uint32_t", "i32": "int32_t", "name": "uint32_t", "enum": "uint32_t", "flags": "uint32_t", "str": "uint32_t", "bytes": "uint32_t",
          "u64": "uint64_t", "i64": "int64_t", "f64": "double", "hash": "uint64_t", "ticks": "uint64_t"}
TRANSFORM = {"plain": "WT_PLAIN", "delta": "WT_DELTA", "xor": "WT_XOR", "rel": "WT_REL", "rel+delta": "WT_REL_DELTA",
             "prev": "WT_REL_PREVIOUS"}
NOTE = "Made from schema/events.toml by schema/generate.py; do not edit."
INLINE = ("str", "bytes")
FIELDS_MAX = 32
BITS_MAX = 32


@dataclass
class Field:
    name: str
    type: str
    enum: str  # of type enum
    flags: str  # of type flags
    unit: str
    doc: str
    transform: str
    relative_to: str


@dataclass
class Kind:
    name: str
    number: int
    doc: str
    fields: list[Field]

    def index(self, name: str) -> int:
        return [f.name for f in self.fields].index(name)


@dataclass
class Enum:
    name: str
    doc: str
    values: list[str]


@dataclass
class Bit:
    name: str
    doc: str
    shown: str
    unset: str  # printed if the bit is 0 and the one before it 1


@dataclass
class Flags:
    name: str
    doc: str
    bits: list[Bit]


@dataclass
class Schema:
    kinds: list[Kind]
    enums: dict[str, Enum]
    flags: dict[str, Flags]


def parse_field(raw: dict[str, str]) -> Field:
    kind, _, named = raw["type"].partition(":")
    transform, _, relative_to = raw.get("enc", "plain").partition(":")
    if kind not in WIDTH or transform not in TRANSFORM:
        raise SystemExit(f"generate.py: field '{raw['name']}' has an unknown type or enc")
    return Field(raw["name"], kind, named if kind == "enum" else "", named if kind == "flags" else "", raw.get("unit", ""),
                 raw.get("doc", ""), transform, relative_to)


def parse_flags(name: str, raw: dict[str, Any]) -> Flags:
    bits = [Bit(b["name"], b["doc"], b.get("shown", b["name"]), b.get("unset", "")) for b in raw["bits"]]
    if len(bits) > BITS_MAX:
        raise SystemExit(f"generate.py: flags '{name}' have more than {BITS_MAX} bits")
    return Flags(name, raw["doc"], bits)


def check_layout(kind: Kind) -> None:
    """Ring records must have no holes between fields."""
    at = 16
    for field in kind.fields:
        width = WIDTH[field.type]
        if at % width:
            raise SystemExit(f"generate.py: kind '{kind.name}' needs padding before '{field.name}'; reorder its fields")
        at += width
    if len(kind.fields) > FIELDS_MAX:
        raise SystemExit(f"generate.py: kind '{kind.name}' has more than {FIELDS_MAX} fields")


def load(path: Path) -> Schema:
    raw = tomllib.loads(path.read_text())
    enums = {name: Enum(name, e["doc"], e["values"]) for name, e in raw["enum"].items()}
    flags = {name: parse_flags(name, f) for name, f in raw["flags"].items()}
    kinds = [Kind(name, k["number"], k["doc"], [parse_field(f) for f in k["fields"]]) for name, k in raw["kind"].items()]
    kinds.sort(key=lambda k: k.number)
    if len({k.number for k in kinds}) != len(kinds):
        raise SystemExit("generate.py: a kind number is used twice")
    for kind in kinds:
        check_layout(kind)
        for field in kind.fields:
            if (field.enum and field.enum not in enums) or (field.flags and field.flags not in flags):
                raise SystemExit(f"generate.py: field '{field.name}' of '{kind.name}' has a type that is not described")
    return Schema(kinds, enums, flags)


def kinds_h(schema: Schema) -> str:
    out = ["/* SPDX-License-Identifier: Apache-2.0 */", f"/* {NOTE} */", "#ifndef WHEELTAP_KINDS_H",
           "#define WHEELTAP_KINDS_H", "", "enum wt_kind_number {"]
    out += [f"\tWT_KIND_{k.name.upper()} = {k.number}, /* {k.doc} */" for k in schema.kinds]
    out += [f"\tWT_KIND_END = {schema.kinds[-1].number + 1},", "};"]
    for enum in schema.enums.values():
        out += ["", f"/* {enum.doc} */", f"enum wt_{enum.name} {{"]
        out += [f"\tWT_{enum.name.upper()}_{v.upper()} = {i}," for i, v in enumerate(enum.values)]
        out += ["};"]
    for flags in schema.flags.values():
        out += ["", f"/* Bits: {flags.doc}. */", f"enum wt_{flags.name}_flags {{"]
        out += [f"\tWT_{flags.name.upper()}_{b.name.upper()} = {1 << i}, /* {b.doc} */" for i, b in enumerate(flags.bits)]
        out += ["};"]
    for kind in schema.kinds:
        out += ["", f"enum wt_field_of_{kind.name} {{"]
        out += [f"\tWT_{kind.name.upper()}_FIELD_{f.name.upper()} = {i}," for i, f in enumerate(kind.fields)]
        out += ["};"]
    return "\n".join(out + ["", "#endif", ""])


def member(field: Field) -> str:
    name = {"new": "new_"}.get(field.name, field.name)  # a word of C++
    return f"{name}_bytes" if field.type in INLINE else name


def records_h(schema: Schema) -> str:
    out = ["/* SPDX-License-Identifier: Apache-2.0 */", f"/* {NOTE} */",
           "/* Records as they stand in a ring. The bytes of text fields follow, in order. */",
           "#ifndef WTI_RECORDS_H", "#define WTI_RECORDS_H", "", "#include <stdint.h>", "", '#include "ring.h"']
    for kind in schema.kinds:
        out += ["", f"struct wti_record_{kind.name} {{", "\tstruct wti_record record;"]
        out += [f"\t{C_TYPE[f.type]} {member(f)};" for f in kind.fields]
        out += ["} __attribute__((aligned(8)));"]
    return "\n".join(out + ["", "#endif", ""])


def emit_h(schema: Schema) -> str:
    out = ["/* SPDX-License-Identifier: Apache-2.0 */", f"/* {NOTE} */",
           "/*",
           " * Emitting a record, for agents: open, fill, commit. The values are those of *v but its head, so look",
           " * names up while making it; what it leaves out is 0. False: lost, and counted. Of a record that was",
           " * emitted v->record.seq is set.",
           " *",
           " * Of a kind with bytes, v has how many: at most WTI_TEXT_MAX. Of a kind with several texts they are given in the",
           " * order of the fields; NULL is an empty one.",
           " *",
           " * wti_fast_KIND() is for the kinds that are emitted most (agent.h, \"The shortest way\"). The first field,",
           " * a name, is looked up. False: nothing was done, emit it in the other way.",
           " */",
           "#ifndef WTI_EMIT_H", "#define WTI_EMIT_H", "", '#include "common/agent.h"', '#include "common/text.h"', '#include "records.h"']
    for kind in schema.kinds:
        texts = [f for f in kind.fields if f.type in INLINE]
        if len(texts) > 1 and any(f.type != "str" for f in texts):
            raise SystemExit(f"generate.py: kind '{kind.name}' has bytes beside another text")
        out += emit_function(kind, texts[0].type if texts else "") if len(texts) < 2 else emit_texts_function(kind)
        if kind.fields[0].type == "name" and not texts:
            out += fast_function(kind)
    return "\n".join(out + ["", "#endif", ""])


def emit_function(kind: Kind, inline: str) -> list[str]:
    record = f"struct wti_record_{kind.name}"
    text = {"": "", "str": ",\n\t\t\t\tconst struct wti_kept_text *text", "bytes": ",\n\t\t\t\tconst void *data"}[inline]
    length = next((f"v->{member(f)}" for f in kind.fields if f.type == "bytes"), "text ? text->bytes : 0")
    out = ["", f"static inline bool wti_emit_{kind.name}(struct wti_here here, {record} *v{text})", "{"]
    if inline:
        out += [f"\tconst uint32_t text_bytes = {length};",
                "\tconst uint32_t bytes = (uint32_t)sizeof(*v) + wti_round8(text_bytes);"]
    else:
        out += ["\tconst uint32_t bytes = sizeof(*v);"]
    out += [f"\t{record} *record = wti_open(here, WT_KIND_{kind.name.upper()}, bytes);", "",
            "\tif (wti_unlikely(!record))", "\t\treturn false;", "\tv->record.seq = record->record.seq;"]
    out += [f"\trecord->{member(f)} = {'text_bytes' if f.type in INLINE else f'v->{member(f)}'};" for f in kind.fields]
    if inline == "str":
        out += ["\tif (text)", "\t\twti_put_text(record + 1, text);"]
    if inline == "bytes":
        out += ["\twti_put_inline(record + 1, data, text_bytes);"]
    return out + ["\treturn wti_commit(here, bytes);", "}"]


def emit_texts_function(kind: Kind) -> list[str]:
    record = f"struct wti_record_{kind.name}"
    names = [member(f) for f in kind.fields if f.type in INLINE]
    lengths = " + ".join(f"(texts[{i}] ? texts[{i}]->bytes : 0)" for i in range(len(names)))
    out = ["", f"static inline bool wti_emit_{kind.name}(struct wti_here here, {record} *v,",
           f"\t\t\t\tconst struct wti_kept_text *const texts[{len(names)}])", "{",
           f"\tconst uint32_t text_bytes = {lengths};",
           "\tconst uint32_t bytes = (uint32_t)sizeof(*v) + wti_round8(text_bytes);",
           f"\t{record} *record = wti_open(here, WT_KIND_{kind.name.upper()}, bytes);", "",
           "\tif (wti_unlikely(!record))", "\t\treturn false;", "\tv->record.seq = record->record.seq;"]
    out += [f"\trecord->{member(f)} = v->{member(f)};" for f in kind.fields if f.type not in INLINE]
    out += [f"\trecord->{name} = texts[{i}] ? texts[{i}]->bytes : 0;" for i, name in enumerate(names)]
    return out + [f"\twti_put_texts(record + 1, texts, {len(names)}, text_bytes);", "\treturn wti_commit(here, bytes);", "}"]


def fast_function(kind: Kind) -> list[str]:
    record = f"struct wti_record_{kind.name}"
    out = ["", "static inline __attribute__((always_inline)) bool",
           f"wti_fast_{kind.name}(struct wt_name *name, const {record} *v)", "{", "\tstruct wti_fast fast;",
           f"\t{record} *record = wti_fast_open(&fast, name, WT_KIND_{kind.name.upper()}, sizeof(*v));", "",
           "\tif (wti_unlikely(!record))", "\t\treturn false;", f"\trecord->{member(kind.fields[0])} = fast.id;"]
    out += [f"\trecord->{member(f)} = v->{member(f)};" for f in kind.fields[1:]]
    return out + ["\treturn wti_fast_commit(&fast, sizeof(*v));", "}"]


def quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def in_trace(field: Field) -> str:
    """The type that a reader of a trace sees."""
    return "u32" if field.type == "flags" else field.type


def table_c(schema: Schema) -> str:
    out = ["/* SPDX-License-Identifier: Apache-2.0 */", f"/* {NOTE} */", "#include <wheeltap/trace.h>", "",
           '#include "table.h"']
    for enum in schema.enums.values():
        names = ", ".join(quote(v) for v in enum.values)
        out += ["", f"static const char *const names_{enum.name}[] = {{{names}}};"]
    for kind in schema.kinds:
        out += ["", f"static const struct wt_field fields_{kind.name}[] = {{"]
        for f in kind.fields:
            relative = "0"
            if f.relative_to:
                relative = "WT_FIELD_TIME" if f.relative_to == "time" else str(kind.index(f.relative_to))
            enum = f"{len(schema.enums[f.enum].values)}, names_{f.enum}" if f.enum else "0, 0"
            out.append(f"\t{{{quote(f.name)}, {quote(f.unit)}, {quote(f.doc)}, WT_TYPE_{in_trace(f).upper()}, "
                       f"{TRANSFORM[f.transform]}, {relative}, {enum}}},")
        out += ["};"]
    out += ["", "const struct wt_kind wti_kind_table[] = {"]
    out += [f"\t{{{quote(k.name)}, {quote(k.doc)}, {k.number}, {len(k.fields)}, fields_{k.name}}}," for k in schema.kinds]
    out += ["};", f"const unsigned wti_kind_table_count = {len(schema.kinds)};", ""]
    return "\n".join(out)


def unpack_c(schema: Schema) -> str:
    out = ["/* SPDX-License-Identifier: Apache-2.0 */", f"/* {NOTE} */",
           "/* Spreads a ring record over the columns of its kind. */", '#include "columns.h"', '#include "records.h"', ""]
    for kind in schema.kinds:
        texts = [f for f in kind.fields if f.type in INLINE]
        out += [f"static int unpack_{kind.name}(struct wti_columns *columns, uint32_t row,",
                "\t\t\t  const struct wti_record *record, uint32_t bytes)", "{",
                f"\tconst struct wti_record_{kind.name} *r = (const void *)record;", ""]
        out += ["\tif (bytes < sizeof(*r))", "\t\treturn WT_E_FORMAT;"]
        for i, f in enumerate(kind.fields):
            if f.type in INLINE:
                continue
            if f.type == "f64":
                out.append(f"\tcolumns->values[{i}][row] = wti_bits(r->{member(f)});")
            elif f.type in ("i32", "i64"):
                out.append(f"\tcolumns->values[{i}][row] = (uint64_t)(int64_t)r->{member(f)};")
            else:
                out.append(f"\tcolumns->values[{i}][row] = r->{member(f)};")
        if texts:
            out += ["\tconst char *text = (const char *)(r + 1);",
                    "\tuint64_t left = bytes - sizeof(*r);"]
            for f in texts:
                i = kind.index(f.name)
                out += [f"\tif (r->{member(f)} > left)", "\t\treturn WT_E_FORMAT;",
                        f"\tif (wti_columns_text(columns, {i}, row, text, r->{member(f)}))", "\t\treturn WT_E_NOMEM;",
                        f"\ttext += r->{member(f)};", f"\tleft -= r->{member(f)};"]
            out += ["\t(void)text;", "\t(void)left;"]
        out += ["\treturn 0;", "}", ""]
    out += ["int wti_unpack(struct wti_columns *columns, uint32_t row, const struct wti_record *record)", "{",
            "\tuint32_t bytes = record->units * 8u;", "", "\tswitch (record->kind) {"]
    for kind in schema.kinds:
        out += [f"\tcase {kind.number}:", f"\t\treturn unpack_{kind.name}(columns, row, record, bytes);"]
    return "\n".join(out + ["\tdefault:", "\t\treturn WT_E_FORMAT;", "\t}", "}", ""])


def flag_words_h(schema: Schema) -> str:
    out = ["/* SPDX-License-Identifier: Apache-2.0 */", f"/* {NOTE} */", "/* What bits of flags are called where people read them. */",
           "#ifndef WTI_FLAG_WORDS_H", "#define WTI_FLAG_WORDS_H", "", "#include <stdint.h>", "", "#include <wheeltap/kinds.h>", "",
           "static const struct wti_flag_word {", "\tuint16_t kind;", "\tuint16_t field;", "\tuint32_t bit;",
           "\tconst char *word;", "\tconst char *unset; /* if the bit is 0, and the one before it 1 */",
           "} wti_flag_words[] = {"]
    for kind in schema.kinds:
        for f in kind.fields:
            field = f"WT_KIND_{kind.name.upper()}, WT_{kind.name.upper()}_FIELD_{f.name.upper()}"
            for i, b in enumerate(schema.flags[f.flags].bits if f.flags else []):
                out.append(f"\t{{{field}, {1 << i}, {quote(b.shown)}, {quote(b.unset)}}},")
    return "\n".join(out + ["};", "", "#endif", ""])


def type_in_docs(field: Field) -> str:
    if field.flags:
        return f"[{field.flags} flags](#{field.flags}-flags)"
    return f"[{field.enum}](#{field.enum})" if field.enum else field.type


def events_md(schema: Schema) -> str:
    out = ["# Events", "", f"<!-- {NOTE} -->", "",
           "Every event has a kind, a time, a track, a sequence number within its track, and the fields below.",
           "The same description stands in each trace, so that any tool can show a kind that it does not know.", ""]
    for kind in schema.kinds:
        out += [f"## {kind.name} ({kind.number})", "", kind.doc[0].upper() + kind.doc[1:] + ".", "",
                "| field | type | unit | meaning |", "|---|---|---|---|"]
        for f in kind.fields:
            out.append(f"| {f.name} | {type_in_docs(f)} | {f.unit} | {f.doc} |")
        out.append("")
    out += ["# Enumerations", ""]
    for enum in schema.enums.values():
        values = ", ".join(f"{i} {v}" for i, v in enumerate(enum.values))
        out += [f"## {enum.name}", "", f"{enum.doc[0].upper()}{enum.doc[1:]}: {values}.", ""]
    out += ["# Flags", "", "Fields of these are u32 in a trace. Bits may be appended: a reader ignores those that it does not know.", ""]
    for flags in schema.flags.values():
        out += [f"## {flags.name} flags", "", f"{flags.doc[0].upper()}{flags.doc[1:]}.", "", "| bit | name | meaning |", "|---|---|---|"]
        out += [f"| {1 << i} | {b.name} | {b.doc} |" for i, b in enumerate(flags.bits)] + [""]
    return "\n".join(out)


def kinds_py(schema: Schema) -> str:
    out = ["# SPDX-License-Identifier: Apache-2.0", f"# {NOTE}", '"""Names of event kinds and enumerations."""', "",
           "KINDS: dict[str, int] = {"]
    out += [f'    "{k.name}": {k.number},' for k in schema.kinds] + ["}", "", "ENUMS: dict[str, list[str]] = {"]
    out += [f'    "{e.name}": {e.values!r},'.replace("'", '"') for e in schema.enums.values()]
    return "\n".join(out + ["}", ""])


def class_of(flags: Flags) -> str:
    return "".join(part.capitalize() for part in flags.name.split("_")) + "Flags"


def flags_py(schema: Schema) -> str:
    used: dict[str, list[str]] = {}
    for kind in schema.kinds:
        for f in kind.fields:
            used.setdefault(f.flags, []).append(f"`{f.name}` of `{kind.name}`")
    classes = sorted(class_of(flags) for flags in schema.flags.values())
    out = ["# SPDX-License-Identifier: Apache-2.0", f"# {NOTE}",
           '"""The bits of the fields `flags` and `lacks` by name.', "",
           '`frame["flags"] & wheeltap.TensorFlags.NO_HASH` and `wheeltap.TensorFlags(row["flags"])` are what they are for.',
           '"""', "", "from __future__ import annotations", "", "from enum import IntFlag", "", "__all__ = ["]
    out += [f'    "{name}",' for name in classes] + ["]"]
    for flags in schema.flags.values():
        out += ["", "", f"class {class_of(flags)}(IntFlag):",
                f'    """{flags.doc[0].upper()}{flags.doc[1:]}: {", ".join(used[flags.name])}."""', ""]
        out += [f"    {b.name.upper()} = {1 << i}  # {b.doc}" for i, b in enumerate(flags.bits)]
    return "\n".join(out + [""])


def main() -> None:
    source, what, target = sys.argv[1:4]
    make = {"kinds.h": kinds_h, "records.h": records_h, "emit.h": emit_h, "table.c": table_c, "unpack.c": unpack_c,
            "flag_words.h": flag_words_h, "events.md": events_md, "kinds.py": kinds_py, "flags.py": flags_py}[what]
    text, file = make(load(Path(source))), Path(target)
    if not file.exists() or file.read_text() != text:  # what depends on it need not be built again
        file.write_text(text)


if __name__ == "__main__":
    main()
