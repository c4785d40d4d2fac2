/** Builds the description of a column's type from the catalogs' rows. */
import {
  ARRAY_OPERATORS,
  type ColumnType,
  type ScalarKind,
  SYSTEM_OPERATORS,
  type TypeOperators,
} from "@data-cabinet/core/row/ColumnType"
import { quoteQualified } from "@data-cabinet/core/row/SqlName"

/** A row of DESCRIBE_TYPES. */
export interface TypeRow {
  readonly oid: number
  readonly schema: string
  readonly name: string
  readonly shown: string
  readonly typtype: string
  readonly category: string
  /** 0 if it is not a domain. */
  readonly base: number
  readonly element: number | null
  /** The element type of a range or a multirange; null for all others. */
  readonly subtype: number | null
  readonly fields: ReadonlyArray<readonly [name: string, oid: number]> | null
  readonly operators: Readonly<Record<string, readonly [schema: string, name: string, isUsable: boolean]>> | null
}

/** Types that PostgreSQL created itself have oids below this one, and never change. */
export const FIRST_NORMAL_OID = 16_384

const SCALARS: Readonly<Record<string, ScalarKind>> = {
  bool: "boolean",
  int2: "number",
  int4: "number",
  int8: "number",
  float4: "number",
  float8: "number",
  numeric: "number",
  oid: "number",
  date: "date",
  timestamp: "timestamp",
  timestamptz: "timestamptz",
  json: "json",
  jsonb: "jsonb",
  bytea: "bytea",
}

/** PostgreSQL's own types that to_json writes differently than we do. */
const OWN_JSON: ReadonlySet<string> = new Set(["timestamptz", "bytea", "oid", "bpchar"])

/** Types whose values are names, which PostgreSQL qualifies with a schema if the search path does not contain it. */
const BY_PATH: ReadonlySet<string> = new Set(
  "regclass,regcollation,regconfig,regdictionary,regnamespace,regoper,regoperator,regproc,regprocedure,regrole,regtype".split(
    ",",
  ),
)

/** PostgreSQL's own types whose input accepts `today` and the like. */
const TEMPORAL: ReadonlySet<string> = new Set(["date", "time", "timetz", "timestamp", "timestamptz"])

/** Describes the type with this oid and its parts, all of which `rows` must contain. */
export const columnType = (oid: number, rows: ReadonlyMap<number, TypeRow>): ColumnType => {
  const row = rows.get(oid)
  if (row === undefined) throw new Error(`The type ${oid} was not described`)
  const builtIn = row.oid < FIRST_NORMAL_OID
  // A domain's values are those of its base type, but parsing a text as a type with domains runs their checks.
  if (row.typtype === "d") return { ...columnType(row.base, rows), runsNoUserCode: false, isDomain: true }
  const facts = { sql: quoteQualified(row.schema, row.name), name: row.shown }
  if (row.element !== null) {
    const element = columnType(row.element, rows)
    const operators = element.operators === null ? null : SYSTEM_OPERATORS
    const { plainJson, runsNoUserCode, temporal } = element
    return { ...facts, kind: "array", element, operators, plainJson, runsNoUserCode, temporal }
  }
  if (row.typtype === "c") {
    const fields = (row.fields ?? []).map(([name, of]) => ({ name, type: columnType(of, rows) }))
    return {
      ...facts,
      kind: "composite",
      fields,
      operators: fields.every(({ type }) => type.operators !== null) ? SYSTEM_OPERATORS : null,
      plainJson: fields.every(({ type }) => type.plainJson),
      runsNoUserCode: false,
      temporal: fields.some(({ type }) => type.temporal),
    }
  }
  const kind = (builtIn ? SCALARS[row.name] : undefined) ?? (row.category === "S" ? "text" : "other")
  return {
    ...facts,
    kind,
    operators: row.typtype === "b" ? baseOperators(row) : SYSTEM_OPERATORS,
    plainJson: builtIn && !OWN_JSON.has(row.name),
    runsNoUserCode: builtIn && row.schema === "pg_catalog" && !BY_PATH.has(row.name),
    temporal: row.subtype === null ? builtIn && TEMPORAL.has(row.name) : columnType(row.subtype, rows).temporal,
  }
}

/** The operators of a base type; enums, ranges and multiranges use PostgreSQL's own. */
const baseOperators = ({ operators }: TypeRow): TypeOperators | null => {
  const [lt, le, eq, ge, gt] = ["1", "2", "3", "4", "5"].map((strategy) => operators?.[strategy])
  if (lt === undefined || le === undefined || eq === undefined || ge === undefined || gt === undefined) return null
  if ([lt, le, eq, ge, gt].some(([, , isUsable]) => !isUsable)) return ARRAY_OPERATORS
  return { schema: lt[0], lt: lt[1], le: le[1], eq: eq[1], ge: ge[1], gt: gt[1] }
}
