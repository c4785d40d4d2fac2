/**
 * The text of a whole row that `cabinet table search-index` indexes by its trigrams. It holds what every column shows, upper
 * case, one after the other, so that a row in which any column contains the sought text is always among those whose
 * text contains it; which of them it really is, the conditions of `q` decide as they do without an index.
 *
 * An index takes only what is the same in every session, which PostgreSQL's own formatters of dates are not: the
 * functions in the schema `cabinet_search` stand for them. Types whose text can change while the row stays as it is (an
 * enum's labels can be renamed) have no such form.
 */
import type { ReadableColumn } from "../row/Catalog.ts"
import type { ColumnType } from "../row/ColumnType.ts"
import { quoteQualified } from "../row/SqlName.ts"
import { BYTEWISE } from "../row/SystemSql.ts"

/** Holds those functions and nothing else; everybody may use it. */
export const SEARCH_SCHEMA = "cabinet_search"

/** Stands between the columns; a search that holds it goes without the index. */
export const SEARCH_SEPARATOR = "\u0001"

/** `cabinet_search.text_pg_c_utf8`: a server that folds case by another collation finds no index made by this one. */
export const searchFunction = (foldCollation: string): { readonly name: string; readonly sql: string } => {
  const collation = /"([^"]+)"$/.exec(foldCollation)?.[1] ?? "default"
  const name = `text_${collation.toLowerCase().replaceAll(/\W/g, "_")}`
  return { name, sql: quoteQualified(SEARCH_SCHEMA, name) }
}

const shownAs = (name: "shown" | "pinned" | "json_text", value: string): string =>
  `${quoteQualified(SEARCH_SCHEMA, name)}(${value})`

/** PostgreSQL's own types whose text depends on nothing but the session settings that `pinned` sets. */
const PINNED: ReadonlySet<string> = new Set(
  (
    "uuid,inet,cidr,macaddr,macaddr8,bit,bit varying,interval,oid,pg_lsn,xml,time without time zone,time with time zone," +
    "point,line,lseg,box,path,polygon,circle,tsvector,int4range,int8range,numrange,tsrange,tstzrange,daterange," +
    "int4multirange,int8multirange,nummultirange,tsmultirange,tstzmultirange,datemultirange"
  ).split(","),
)

/** Says the same as `shownText`, in every session; null for a type that has no such form. */
const indexableText = (type: ColumnType, value: string): string | null => {
  switch (type.kind) {
    case "composite":
      return null
    case "array":
      return type.plainJson && !["other", "array", "composite"].includes(type.element.kind)
        ? shownAs("json_text", value)
        : null
    case "number":
      return type.plainJson ? shownAs("shown", value) : shownAs("pinned", value)
    case "other":
      return PINNED.has(type.name) ? shownAs("pinned", value) : null
    default:
      return shownAs("shown", value)
  }
}

export interface RowText {
  /** SQL of the text over the object's alias, or over none. */
  readonly sql: string
  /** The columns whose types have no text that an index could hold; then `sql` leaves them out and is of no use. */
  readonly unfit: ReadonlyArray<ReadableColumn>
}

/** The text of rows with these columns; `of` names a column in SQL. */
export const rowText = (
  columns: ReadonlyArray<ReadableColumn>,
  foldCollation: string,
  of: (column: ReadableColumn) => string,
): RowText => {
  const texts = columns.map((column) => indexableText(column.type, of(column)))
  const unfit = columns.filter((_, index) => texts[index] === null)
  const list = texts.filter((text) => text !== null).join(", ")
  return { sql: `(${searchFunction(foldCollation).sql}(ARRAY[${list}]::pg_catalog.text[]) ${BYTEWISE})`, unfit }
}
