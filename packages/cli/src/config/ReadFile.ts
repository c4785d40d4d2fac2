/**
 * Reads a file of a cabinet: YAML 1.2 with the core schema, of which JSON is a part. So `no` and `on` are texts, and dates are
 * not converted. Refuses keys that are written twice, tags of its own, and aliases that grow beyond bounds.
 */
import { nearest } from "@data-cabinet/core/text/Nearest"
import { Exit, Schema, SchemaIssue } from "effect"
import { isMap, LineCounter, parseDocument, type Document } from "yaml"
import { CommandError } from "../error/CommandError.ts"
import { type ConfigFile, configFile, fileJsonSchema } from "./FileSchema.ts"
import { type Path, type PlaceOf, type Problem, refusalOf } from "./Problem.ts"

/** A file that fits the schema, and where its values stand. */
export interface ReadFile {
  readonly file: ConfigFile
  readonly placeOf: PlaceOf
}

/** Longer files are refused: no cabinet has so much. */
const MAX_CHARACTERS = 5_000_000
/** How many values an alias may add in all. */
const MAX_ALIASES = 100

const refuse = (message: string) => new CommandError({ code: "refused", message })

const placesIn =
  (document: Document, lines: LineCounter): PlaceOf =>
  (path) => {
    for (let length = path.length; length >= 0; length--) {
      const offset = offsetOf(document, path.slice(0, length))
      if (offset === null) continue
      const { line, col } = lines.linePos(offset)
      return { line: Math.max(1, line), column: Math.max(1, col) }
    }
    return { line: 1, column: 1 }
  }

interface Ranged {
  readonly range?: readonly [number, number, number] | null
}

/** Where the key of a member stands, or an item of a list; null if the document has no such value. */
const offsetOf = (document: Document, path: Path): number | null => {
  const above = path.length === 0 ? null : document.getIn(path.slice(0, -1), true)
  const last = path.at(-1)
  if (path.length === 1 || isMap(above)) {
    const map = path.length === 1 ? document.contents : above
    if (isMap(map)) {
      const pair = map.items.find(({ key }) => String((key as { value?: unknown }).value ?? key) === String(last))
      return (pair?.key as Ranged | undefined)?.range?.[0] ?? null
    }
  }
  const node = path.length === 0 ? document.contents : document.getIn(path, true)
  return (node as Ranged | null | undefined)?.range?.[0] ?? null
}

/** The keys that the schema knows where a file has an unknown one. */
const knownKeys = (path: Path): ReadonlyArray<string> => {
  type Node = { readonly [keyword: string]: unknown }
  const alternatives = (node: Node): ReadonlyArray<Node> =>
    Array.isArray(node["anyOf"]) ? (node["anyOf"] as ReadonlyArray<Node>).flatMap(alternatives) : [node]
  let nodes: ReadonlyArray<Node> = [fileJsonSchema()]
  for (const step of path.slice(0, -1)) {
    nodes = nodes.flatMap((node) => {
      const below = typeof step === "number" ? node["items"] : (node["properties"] as Node | undefined)?.[String(step)]
      return below === undefined ? [] : alternatives(below as Node)
    })
  }
  return nodes.flatMap((node) => Object.keys((node["properties"] as Node | undefined) ?? {}))
}

const format = SchemaIssue.makeFormatterStandardSchemaV1()
const decode = Schema.decodeUnknownExit(configFile, { onExcessProperty: "error", errors: "all" })

const inWords = (path: Path, message: string): string => {
  if (message === "Missing key") return "is missing."
  if (message.startsWith("Expected a string matching the RegExp")) {
    return "write env:NAME or file:PATH, where the secret is: it is not written in this file."
  }
  if (message !== "Expected no excess property") return `${message}.`
  const known = knownKeys(path)
  const meant = nearest(String(path.at(-1)), known)
  return meant === null ? `unknown; there may be ${known.join(", ")}.` : `unknown. Did you mean ${meant}?`
}

const problemsOf = (issue: SchemaIssue.Issue): ReadonlyArray<Problem> =>
  format(issue).issues.map(({ path = [], message }) => ({
    path: path as Path,
    message: inWords(path as Path, message),
  }))

const toValue = (document: Document, name: string): unknown => {
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES }) as unknown
  } catch (error) {
    throw refuse(`${name}: ${error instanceof Error ? error.message : String(error)}.`)
  }
}

/** Reads the text of a file. Throws a `CommandError` that names line and column. */
export const readFileText = (text: string, name: string): ReadFile => {
  if (text.length > MAX_CHARACTERS) throw refuse(`${name} has more than ${MAX_CHARACTERS} characters.`)
  const lines = new LineCounter()
  const document = parseDocument(text, {
    lineCounter: lines,
    version: "1.2",
    schema: "core",
    uniqueKeys: true,
    prettyErrors: false,
    logLevel: "error",
  })
  const placeOf = placesIn(document, lines)
  const [fault] = [...document.errors, ...document.warnings]
  if (fault !== undefined) {
    const { line, col } = lines.linePos(fault.pos[0])
    throw refuse(`${name}:${line}:${col}: ${fault.message.replace(/\.?$/, ".")} Nothing was changed.`)
  }
  const exit = decode(toValue(document, name) ?? {})
  if (Exit.isSuccess(exit)) return { file: exit.value, placeOf }
  const reason = exit.cause.reasons.find((one) => one._tag === "Fail")
  throw refusalOf(reason === undefined ? [] : problemsOf(reason.error.issue), name, placeOf)
}
