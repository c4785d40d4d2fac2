/**
 * An owner's own JSON Schema for the events of a source. It only marks events, and never refuses one. The document is compiled when it is
 * saved, and when a process first uses it. Unknown keywords are refused with their place, instead of being ignored.
 *
 * Decision: docs/decisions/0106-own-schemas-mark-events.md
 */
import { Result } from "effect"
import type { Json, JsonObject } from "../json/Json.ts"
import { jsonErrorInWords, parseJson } from "../json/ParseJson.ts"
import { type LinearPattern, linearPattern } from "./LinearPattern.ts"
import type { KeywordReader } from "./KeywordReader.ts"
import { KEYWORDS } from "./SchemaKeywords.ts"
import { must, type Rule, type SchemaFault, type SchemaNode, SchemaRun, TooLong } from "./SchemaRun.ts"

/** The longest schema, in bytes. */
export const MAX_SCHEMA_BYTES = 32_768
const MAX_DEPTH = 64
/** The most instructions of all patterns together. */
const MAX_PATTERNS = 10_000
const DRAFT = /^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/

/** A compiled schema. */
export interface OwnSchema {
  /** Why a payload is invalid, as in "/items/0/price must be a number"; null if it is valid. */
  readonly faultOf: (payload: Json) => string | null
}

class Refused extends Error {}

const pointer = (path: ReadonlyArray<string>): string =>
  path.map((name) => `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("")

const refuse = (path: ReadonlyArray<string>, why: string): never => {
  throw new Refused(`The schema is not valid: ${path.length === 0 ? "it" : pointer(path)} ${why}.`)
}

/** The names of a reference within the document; null for any other. */
const pathOf = (reference: string): ReadonlyArray<string> | null => {
  if (!/^#(?:\/|$)/.test(reference)) return null
  try {
    const names = decodeURIComponent(reference.slice(1)).split("/").slice(1)
    return names.map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"))
  } catch {
    return null
  }
}

const FORBIDDEN: Rule = () => must("not be present")

class Reading {
  /** By their places in the document. */
  readonly #nodes = new Map<string, SchemaNode>()
  readonly #references: Array<{ readonly to: string; readonly from: ReadonlyArray<string> }> = []
  readonly #patterns = new Map<string, LinearPattern>()
  #room = MAX_PATTERNS

  /** The whole document. */
  read(document: Json): SchemaNode {
    const root = this.#schema(document, [])
    for (const { to, from } of this.#references) {
      if (!this.#filled.has(to)) refuse(from, "names no schema of this document")
    }
    return root
  }

  readonly #filled = new Set<string>()

  #node(at: string): SchemaNode {
    let node = this.#nodes.get(at)
    if (node === undefined) this.#nodes.set(at, (node = { rules: [] }))
    return node
  }

  #schema(value: Json, path: ReadonlyArray<string>): SchemaNode {
    const at = pointer(path)
    const node = this.#node(at)
    if (this.#filled.has(at)) return node
    this.#filled.add(at)
    if (value === false) node.rules = [FORBIDDEN]
    else if (value instanceof Map) node.rules = this.#rules(value, path)
    else if (value !== true) refuse(path, "must be a schema: an object, true or false")
    return node
  }

  #rules(all: JsonObject, path: ReadonlyArray<string>): ReadonlyArray<Rule> {
    const reader: KeywordReader = {
      all,
      refuse: (keyword, why) => refuse([...path, keyword], why),
      schema: (value, ...inner) => this.#schema(value, [...path, ...inner]),
      pattern: (source, ...inner) => this.#pattern(source, [...path, ...inner]),
      reference: (target) => this.#reference(target, [...path, "$ref"]),
    }
    const rules: Array<Rule> = []
    for (const [keyword, value] of all) {
      if (keyword.startsWith("x-")) continue
      const read = Object.hasOwn(KEYWORDS, keyword) ? KEYWORDS[keyword] : undefined
      if (read === undefined) return refuse([...path, keyword], "is not a keyword that is understood here")
      if (keyword === "$schema" && !(typeof value === "string" && DRAFT.test(value))) {
        return refuse([...path, keyword], "must be https://json-schema.org/draft/2020-12/schema")
      }
      if (keyword === "$id" && path.length > 0) return refuse([...path, keyword], "is only understood at the top")
      const rule = read(value, keyword, reader)
      if (rule !== null) rules.push(rule)
    }
    return rules
  }

  #reference(target: string, from: ReadonlyArray<string>): SchemaNode {
    const path = pathOf(target)
    if (path === null) return refuse(from, "must name a schema of this document, as #/$defs/name does")
    const to = pointer(path)
    this.#references.push({ to, from })
    return this.#node(to)
  }

  #pattern(source: string, path: ReadonlyArray<string>): LinearPattern {
    const known = this.#patterns.get(source)
    if (known !== undefined) return known
    const compiled = linearPattern(source, this.#room)
    if (Result.isFailure(compiled)) return refuse(path, `is a pattern that is not understood here: ${compiled.failure}`)
    this.#room -= compiled.success.size
    this.#patterns.set(source, compiled.success)
    return compiled.success
  }
}

/** The longest reason, in characters: the name of a member may be as long as the payload. */
const MAX_REASON = 300

const inWords = ({ path, must: what }: SchemaFault): string => {
  const text = `${path.length === 0 ? "the payload" : pointer(path.toReversed())} ${what}`
  return text.length > MAX_REASON ? `${text.slice(0, MAX_REASON)}…`.toWellFormed() : text
}

const TOO_LONG = "it takes too long to check"

const faultOf = (root: SchemaNode, payload: Json): string | null => {
  try {
    const fault = new SchemaRun().check(root, payload)
    return fault === null ? null : inWords(fault)
  } catch (fault) {
    if (fault instanceof TooLong) return TOO_LONG
    throw fault
  }
}

/** Fails with a sentence that names the place: line and column, or the path to a keyword. */
export const compileSchema = (source: string): Result.Result<OwnSchema, string> => {
  if (Buffer.byteLength(source) > MAX_SCHEMA_BYTES) {
    return Result.fail(`A schema must have at most ${MAX_SCHEMA_BYTES.toLocaleString("en")} bytes.`)
  }
  const parsed = parseJson(source, { maxDepth: MAX_DEPTH })
  if (Result.isFailure(parsed)) return Result.fail(`The schema is ${jsonErrorInWords(parsed.failure)}.`)
  try {
    const root = new Reading().read(parsed.success)
    return Result.succeed({ faultOf: (payload) => faultOf(root, payload) })
  } catch (fault) {
    if (fault instanceof Refused) return Result.fail(fault.message)
    throw fault
  }
}

/** Why a schema is refused, in words; null if it is valid. */
export const schemaRefusal = (source: string): string | null => {
  const compiled = compileSchema(source)
  return Result.isFailure(compiled) ? compiled.failure : null
}
