/**
 * The text of a whole row, whose trigrams `cabinet table search-index` indexes. It is the concatenation of every
 * column's shown text, folded as in `FoldedText`. A row in which any column contains the search text is therefore
 * always among the rows whose text contains it. The conditions of `q` then decide which rows match, as without an
 * index.
 *
 * An index requires expressions with the same result in every session. PostgreSQL's own formatting of dates varies, so
 * functions in the schema `cabinet_search` replace it. Types whose text can change while the row stays the same (an
 * enum's labels can be renamed) have no indexable form.
 */
import type { ReadableColumn } from "./Catalog.ts"
import type { ColumnType } from "./ColumnType.ts"
import { isPadded, jsonValue } from "./RowJson.ts"
import { quoteQualified } from "./SqlName.ts"
import { BYTEWISE } from "./SystemSql.ts"

/** Contains those functions and nothing else; every role may use it. */
export const SEARCH_SCHEMA = "cabinet_search"

/** Separates the columns; a search text that contains it does not use the index. */
export const SEARCH_SEPARATOR = "\u0001"

/**
 * `cabinet_search.text_case_pg_unicode_fast`: a server that folds case by another collation finds no index built with this
 * one. Neither does a version that folds letters in another way: it changes the name's first part.
 */
export const searchFunction = (foldCollation: string): { readonly name: string; readonly sql: string } => {
  const collation = /"([^"]+)"$/.exec(foldCollation)?.[1] ?? "default"
  const name = `text_case_${collation.toLowerCase().replaceAll(/\W/g, "_")}`
  return { name, sql: quoteQualified(SEARCH_SCHEMA, name) }
}

const shownAs = (name: "shown" | "pinned" | "json_text", value: string): string =>
  `${quoteQualified(SEARCH_SCHEMA, name)}(${value})`

/** PostgreSQL's own types whose text depends only on the session settings that `pinned` sets. */
const PINNED: ReadonlySet<string> = new Set(
  (
    "uuid,inet,cidr,macaddr,macaddr8,bit,bit varying,interval,oid,pg_lsn,xml,time without time zone,time with time zone," +
    "point,line,lseg,box,path,polygon,circle,tsvector,int4range,int8range,numrange,tsrange,tstzrange,daterange," +
    "int4multirange,int8multirange,nummultirange,tsmultirange,tstzmultirange,datemultirange"
  ).split(","),
)

/** Gives the same text as `shownText`, in every session; null for a type without an indexable form. */
const indexableText = (type: ColumnType, value: string): string | null => {
  switch (type.kind) {
    case "composite":
      return null
    case "array":
      if (isPadded(type.element)) return shownAs("json_text", jsonValue(type, value))
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

/** The text of a row, as SQL. */
export interface RowText {
  /** SQL of the text, with columns qualified by the object's alias or unqualified. */
  readonly sql: string
  /** The columns whose types have no indexable text; `sql` then omits them and is not usable. */
  readonly unfit: ReadonlyArray<ReadableColumn>
}

/** The text of rows with these columns; `of` returns the SQL of a column. */
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
