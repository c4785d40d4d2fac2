/**
 * A shape as a TypeScript type of the payload. Each payload that it was learned from is a value of it, under `strict`. Like
 * the client's own JSON, it has numbers beyond a double as texts.
 */
import { type Field, isAlwaysThere, type Kind, kindsSeen, type PayloadShape } from "./PayloadShape.ts"

/** A source, as its type is named. */
export interface NamedSource {
  readonly id: number
  /** The name of its table. */
  readonly table: string | null
}

/** A source, as its type is declared. */
export interface TypedSource extends NamedSource {
  readonly name: string
  readonly shape: PayloadShape
}

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/
const ANY_MEMBER = "readonly [name: string]: unknown"

const property = (name: string): string => (IDENTIFIER.test(name) ? name : JSON.stringify(name))

const SCALARS: Partial<Record<Kind, string>> = { null: "null", boolean: "boolean", string: "string" }

const listType = ({ items }: Field, indent: string): string =>
  `ReadonlyArray<${items === null ? "unknown" : typeOf(items, indent)}>`

const objectType = (field: Field, indent: string): string => {
  const { names, rest, open } = field
  const inner = `${indent}  `
  const lines = [...names].map(([name, { field: member }]) => {
    const mark = isAlwaysThere(field, member) ? "" : "?"
    return `readonly ${property(name)}${mark}: ${typeOf(member, inner)}`
  })
  // The type of other members would have to include those of all named ones.
  if (names.size === 0 && rest !== null) lines.push(`readonly [name: string]: ${typeOf(rest, inner)}`)
  else if (rest !== null || open || names.size === 0) lines.push(ANY_MEMBER)
  return `{\n${lines.map((line) => `${inner}${line}\n`).join("")}${indent}}`
}

const typeOf = (field: Field, indent: string): string => {
  const types = new Set<string>()
  for (const kind of kindsSeen(field)) {
    if (kind === "integer" || kind === "number") {
      types.add("number")
      if (field.long) types.add("string")
    } else if (kind === "array") types.add(listType(field, indent))
    else types.add(kind === "object" ? objectType(field, indent) : SCALARS[kind]!)
  }
  return types.size === 0 ? "unknown" : [...types].join(" | ")
}

const typeName = ({ id, table }: NamedSource): string => {
  const words = (table ?? "").split(/[^A-Za-z0-9]/)
  const name = words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join("")
  return /^[A-Z]/.test(name) ? name : `Source${id}`
}

/** A source's name inside a comment, which it cannot end. */
const inComment = (name: string): string => JSON.stringify(name).replaceAll("*/", "*\\/")

/** A module that declares nothing. */
const NOTHING = "export {}\n"

/** The name of each source's type, unique without regard to case. */
export const typeNames = (sources: ReadonlyArray<NamedSource>): ReadonlyArray<string> => {
  const used = new Set<string>()
  return sources.map((source) => {
    let name = typeName(source)
    while (used.has(name.toLowerCase())) name = `${name}Of${source.id}`
    used.add(name.toLowerCase())
    return name
  })
}

/** The declarations for these sources, each with a name of its own. */
export const shapeTypes = (sources: ReadonlyArray<TypedSource>): string => {
  const names = typeNames(sources)
  const declarations = sources.map(({ id, name, shape }, at) => {
    const about = `/** A payload of source ${id}, ${inComment(name)}. */`
    return `${about}\nexport type ${names[at]!} = ${objectType(shape.root, "")}\n`
  })
  return declarations.length === 0 ? NOTHING : declarations.join("\n")
}
