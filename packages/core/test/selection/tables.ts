/** Objects for tests of plans and statements. */
import type { ReadableTable } from "@data-cabinet/core/row/Catalog"
import { type ColumnType, type ScalarKind, SYSTEM_OPERATORS } from "@data-cabinet/core/row/ColumnType"

const NAMES: Partial<Record<ScalarKind, string>> = { number: "numeric", boolean: "bool", other: "point" }

export const scalar = (kind: ScalarKind): ColumnType => {
  const name = NAMES[kind] ?? kind
  const operators = kind === "json" || kind === "other" ? null : SYSTEM_OPERATORS
  return {
    kind,
    sql: `"pg_catalog"."${name}"`,
    name,
    operators,
    plainJson: kind !== "timestamptz" && kind !== "bytea",
    runsNoUserCode: true,
    temporal: ["date", "timestamp", "timestamptz"].includes(kind),
  }
}

/** `columns`: the kind of each column, followed by `!` for NOT NULL. */
export const tableOf = (
  columns: Readonly<Record<string, ScalarKind | `${ScalarKind}!`>>,
  options: Partial<ReadableTable> & { readonly key?: ReadonlyArray<string>; readonly schema?: string } = {},
): ReadableTable => {
  const { key = [], schema = "public", ...rest } = options
  const described = Object.entries(columns).map(([name, kind]) => ({
    name,
    notNull: kind.endsWith("!"),
    declared: null,
    type: scalar(kind.replace("!", "") as ScalarKind),
  }))
  return {
    detail: {
      schema,
      name: "things",
      kind: "table",
      source: null,
      comment: null,
      rows_estimate: null,
      definition: null,
      key,
      columns: described.map(({ name, type }) => ({ name, type: type.name, label: name, comment: null })),
    },
    columns: described,
    identity: key.length > 0 ? "key" : "place",
    oid: 1,
    owner: 10,
    runsNoUserCode: true,
    foldCollation: `"pg_catalog"."pg_c_utf8"`,
    searchIndexed: false,
    catalogVersion: null,
    ...rest,
  }
}
