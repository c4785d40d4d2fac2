/**
 * Finds the names in an SQL text that a customer's objects could replace. Every session of the owner has the search path
 * `pg_catalog, pg_temp`, so a name without a schema is PostgreSQL's own or nothing. A qualified name must be in a schema that
 * no customer may create in. In a call whose schema is unknown, every argument needs a type: PostgreSQL takes a call with an
 * untyped literal for a cast to a type with the function's name.
 */
import { HOLE, type SqlText } from "./sqlTexts.ts"

/** PostgreSQL's own names, and the schemas that only the owner creates in. */
export interface KnownNames {
  readonly functions: ReadonlySet<string>
  readonly types: ReadonlySet<string>
  readonly relations: ReadonlySet<string>
}

const OURS: ReadonlySet<string> = new Set(["pg_catalog", "cabinet", "sources", "cabinet_search", "information_schema"])

/** Names before a parenthesis that are part of the grammar. */
const GRAMMAR = new Set(
  (
    "all,and,any,array,as,by,cast,check,coalesce,columns,distinct,else,end,except,exists,extract,filter,from,generated,greatest,grouping," +
    "identity,in,include,into,join,key,lateral,least,list,materialized,not,nullif,on,operator,or,order,overlay,over,partition,position,primary," +
    "public,range,returning,row,select,set,some,substring,table,then,to,trim,union,unique,update,using,values,when,where,with,within," +
    "only,of,skip,varchar,char,numeric,bit,time,timestamp,interval,execute,if,while,return,analyze,explain"
  ).split(","),
)
/** Names of types in PostgreSQL's grammar, in any letter case. */
const GRAMMAR_TYPES = new Set([
  "bigint",
  "boolean",
  "integer",
  "int",
  "smallint",
  "real",
  "double",
  "character",
  "timestamp",
  "time",
  "interval",
])

const NAME = `(?:"[^"${HOLE}]+"|[A-Za-z_][A-Za-z0-9_$]*|${HOLE})`

/** The text without comments, and with a placeholder for each literal. */
const bare = (text: string): string =>
  text
    .replaceAll(/--[^\n]*/g, " ")
    .replaceAll(/\/\*[\s\S]*?\*\//g, " ")
    .replaceAll(/'(?:[^']|'')*'/g, "'…'")
    // A FROM that is part of an expression, with no relation after it.
    .replaceAll(/\b(extract|trim|substring)\(\s*[\w$]+\s+FROM\b/gi, "$1(")
    .replaceAll(/\bDISTINCT\s+FROM\b/gi, "=")

const plain = (name: string): string => (name.startsWith('"') ? name.slice(1, -1) : name.toLowerCase())

/** Names that the text defines: CTEs, aliases with columns, and objects that it creates. */
const ownNames = (text: string): ReadonlySet<string> => {
  const own = new Set<string>()
  const gives = [
    new RegExp(`(${NAME})\\s*(?:\\([^()]*\\))?\\s+AS\\s+(?:NOT\\s+)?(?:MATERIALIZED\\s*)?\\(`, "gi"),
    new RegExp(`\\bAS\\s+(${NAME})\\s*\\(`, "gi"),
    // The transition tables of a trigger.
    new RegExp(`\\b(?:NEW|OLD)\\s+TABLE\\s+AS\\s+(${NAME})`, "gi"),
    new RegExp(`\\)\\s+(?:WITH\\s+ORDINALITY\\s+)?(?:AS\\s+)?(${NAME})\\s*\\(`, "gi"),
  ]
  for (const give of gives) for (const [, name] of text.matchAll(give)) own.add(plain(name!))
  return own
}

/** Describes every fault. `own` are the names that other texts of the same file define. */
export const strayNames = (
  { text: raw }: SqlText,
  known: KnownNames,
  own: ReadonlySet<string> = new Set(),
): ReadonlyArray<string> => {
  const text = bare(raw)
  const named = new Set([...own, ...ownNames(text)])
  const faults: Array<string> = []
  const fault = (kind: string, name: string) => faults.push(`${kind} ${name}`)
  for (const [, schema, name, given] of text.matchAll(new RegExp(`(${NAME})\\.(${NAME})\\(\\s*([^)]*\\)?)`, "g"))) {
    if (schema === HOLE) {
      const typed = given!.replaceAll(/(?:'…'|\$\d+)::pg_catalog\.\w+/g, "")
      if (/'…'|\$\d/.test(typed)) fault("untyped literal given to", `${schema}.${name}`)
    } else if (!OURS.has(plain(schema!))) fault("function of another schema:", `${schema}.${name}`)
  }
  for (const [, name] of text.matchAll(new RegExp(`(?<![.\\w"${HOLE}$])([A-Za-z_][A-Za-z0-9_]*)\\(`, "g"))) {
    const lower = plain(name!)
    if (
      !GRAMMAR.has(lower) &&
      !GRAMMAR_TYPES.has(lower) &&
      !known.functions.has(lower) &&
      !known.types.has(lower) &&
      !named.has(lower)
    ) {
      fault("function that PostgreSQL has not:", name!)
    }
  }
  for (const [, first, second] of text.matchAll(new RegExp(`::\\s*(${NAME})(?:\\.(${NAME}))?`, "g"))) {
    if (second !== undefined) {
      if (first !== HOLE && !OURS.has(plain(first!))) fault("type of another schema:", `${first}.${second}`)
    } else if (first !== HOLE && !known.types.has(plain(first!)) && !GRAMMAR_TYPES.has(plain(first!))) {
      fault("type that PostgreSQL has not:", first!)
    }
  }
  for (const [, schema] of text.matchAll(new RegExp(`\\bOPERATOR\\(\\s*(${NAME})\\.`, "g"))) {
    if (schema !== HOLE && !OURS.has(plain(schema!))) fault("operator of another schema:", schema!)
  }
  // A name before a parenthesis is a function, except after INSERT INTO, where the parenthesis holds columns.
  const relation = `(${NAME})(?:\\.(${NAME}))?(?![\\w$.])`
  const readings = [
    new RegExp(
      `\\b(?:FROM|JOIN|(?<!SHARE )UPDATE|DELETE FROM|LOCK TABLE|TRUNCATE)\\s+(?:ONLY\\s+)?${relation}(?!\\s*\\()`,
      "g",
    ),
    new RegExp(`\\bINSERT INTO\\s+${relation}`, "g"),
  ]
  for (const [, first, second] of readings.flatMap((reading) => [...text.matchAll(reading)])) {
    if (second !== undefined) {
      if (first !== HOLE && !OURS.has(plain(first!))) fault("relation of another schema:", `${first}.${second}`)
    } else if (
      first !== HOLE &&
      !known.relations.has(plain(first!)) &&
      !named.has(plain(first!)) &&
      !GRAMMAR.has(plain(first!))
    ) {
      fault("relation that PostgreSQL has not:", first!)
    }
  }
  // SET ROLE is no protection, because the first function that runs can reset it.
  if (/\bSET\s+(?:LOCAL\s+|SESSION\s+)?(?:ROLE|SESSION AUTHORIZATION)\b|'role'/i.test(raw))
    fault("role set in a session:", "SET ROLE")
  if (/\bSECURITY\s+DEFINER\b/i.test(text)) fault("function with its owner's rights:", "SECURITY DEFINER")
  return faults
}

/** The names that the texts of each file define, because a text may use what another text of its file creates. */
export const ownNamesByFile = (texts: ReadonlyArray<SqlText>): ReadonlyMap<string, ReadonlySet<string>> => {
  const all = new Map<string, Set<string>>()
  for (const { file, text } of texts) {
    const own = all.get(file) ?? new Set<string>()
    for (const name of ownNames(bare(text))) own.add(name)
    all.set(file, own)
  }
  return all
}

/** The unqualified names in the texts, sorted: a customer could create these in `public`. */
export const usedNames = (texts: ReadonlyArray<SqlText>) => {
  const functions = new Set<string>()
  const types = new Set<string>()
  const relations = new Set<string>()
  for (const { text: raw } of texts) {
    const text = bare(raw)
    for (const [, name] of text.matchAll(/(?<![\w"◦$])(?:pg_catalog\.|◦\.)?([a-z_][a-z0-9_]*)\(/g)) {
      if (!GRAMMAR.has(name!)) functions.add(name!)
    }
    for (const [, name] of text.matchAll(/::\s*(?:pg_catalog\.)?([a-z_][a-z0-9_]*)/g)) types.add(name!)
    for (const [, name] of text.matchAll(/\b(?:FROM|JOIN)\s+(?:pg_catalog\.)?(pg_[a-z_]+)\b(?!\()/g))
      relations.add(name!)
  }
  return { functions: [...functions].sort(), types: [...types].sort(), relations: [...relations].sort() }
}
