/**
 * The keywords of JSON Schema 2020-12, and the rules that they make. Keywords that only describe make none. Neither does `format`, which
 * the standard does not enforce by default.
 */
import { isJsonList, type Json } from "../json/Json.ts"
import { decimalOf } from "../json/Decimal.ts"
import { type Keyword, named, names, number, schemas, whole } from "./KeywordReader.ts"
import {
  items,
  prefixItems,
  contains,
  properties,
  patternProperties,
  additionalProperties,
  propertyNames,
  dependentRequired,
  dependentSchemas,
} from "./SchemaParts.ts"
import {
  boundRule,
  countRule,
  multipleRule,
  requiredRule,
  typeRule,
  TYPES,
  uniqueRule,
  valuesRule,
} from "./SchemaRules.ts"
import type { TypeName } from "./SchemaRules.ts"
import { must } from "./SchemaRun.ts"

const note: Keyword = () => null

const bound: Keyword = (value, keyword, reader) => boundRule(keyword as "minimum", number(value, keyword, reader))

const count =
  (is: "min" | "max", what: "Length" | "Items" | "Properties"): Keyword =>
  (value, keyword, reader) =>
    countRule(is, what, whole(value, keyword, reader))

const type: Keyword = (value, keyword, { refuse }) => {
  const types: ReadonlyArray<Json> = isJsonList(value) ? value : [value]
  if (types.length === 0 || !types.every((one) => TYPES.includes(one as TypeName))) {
    return refuse(keyword, `must be one or more of ${TYPES.join(", ")}`)
  }
  return typeRule(types as ReadonlyArray<TypeName>)
}

const allOf: Keyword = (value, keyword, reader) => {
  const nodes = schemas(value, keyword, reader)
  return (one, run) => {
    for (const node of nodes) {
      const fault = run.check(node, one)
      if (fault !== null) return fault
    }
    return null
  }
}

const anyOf: Keyword = (value, keyword, reader) => {
  const nodes = schemas(value, keyword, reader)
  return (one, run) =>
    nodes.some((node) => run.check(node, one) === null) ? null : must("follow one of the alternatives")
}

const oneOf: Keyword = (value, keyword, reader) => {
  const nodes = schemas(value, keyword, reader)
  return (one, run) => {
    const followed = nodes.filter((node) => run.check(node, one) === null).length
    return followed === 1 ? null : must(`follow exactly one of the alternatives, not ${followed}`)
  }
}

const not: Keyword = (value, keyword, reader) => {
  const node = reader.schema(value, keyword)
  return (one, run) => (run.check(node, one) === null ? must("be something else") : null)
}

const condition: Keyword = (value, keyword, reader) => {
  const branch = (name: string) => {
    const schema = reader.all.get(name)
    return schema === undefined ? null : reader.schema(schema, name)
  }
  const [node, then, otherwise] = [reader.schema(value, keyword), branch("then"), branch("else")]
  return (one, run) => {
    const chosen = run.check(node, one) === null ? then : otherwise
    return chosen === null ? null : run.check(chosen, one)
  }
}

/** `then` and `else`; without `if` they are only read. */
const branch: Keyword = (value, keyword, reader) => {
  if (!reader.all.has("if")) reader.schema(value, keyword)
  return null
}

const definitions: Keyword = (value, keyword, reader) => {
  named(value, keyword, reader)
  return null
}

const pattern: Keyword = (value, keyword, reader) => {
  if (typeof value !== "string") return reader.refuse(keyword, "must be a text")
  const compiled = reader.pattern(value, keyword)
  return (one, run) =>
    typeof one !== "string" || compiled.matches(one, run.spend) ? null : must(`match ${value.slice(0, 100)}`)
}

/** Every keyword that a schema may have. All others are refused, except those that begin with `x-`. */
export const KEYWORDS: Readonly<Record<string, Keyword>> = {
  type,
  enum: (value, keyword, { refuse }) =>
    isJsonList(value) && value.length > 0 ? valuesRule(value) : refuse(keyword, "must be a list of values, not empty"),
  const: (value) => valuesRule([value]),
  minimum: bound,
  maximum: bound,
  exclusiveMinimum: bound,
  exclusiveMaximum: bound,
  multipleOf: (value, keyword, reader) => {
    const divisor = number(value, keyword, reader)
    return decimalOf(divisor.token)!.sign > 0 ? multipleRule(divisor) : reader.refuse(keyword, "must be above zero")
  },
  minLength: count("min", "Length"),
  maxLength: count("max", "Length"),
  pattern,
  items,
  prefixItems,
  minItems: count("min", "Items"),
  maxItems: count("max", "Items"),
  uniqueItems: (value, keyword, { refuse }) =>
    typeof value !== "boolean" ? refuse(keyword, "must be true or false") : value ? uniqueRule : null,
  contains,
  minContains: (value, keyword, reader) => (whole(value, keyword, reader), null),
  maxContains: (value, keyword, reader) => (whole(value, keyword, reader), null),
  properties,
  patternProperties,
  additionalProperties,
  propertyNames,
  required: (value, keyword, reader) => requiredRule(names(value, keyword, reader)),
  dependentRequired,
  dependentSchemas,
  minProperties: count("min", "Properties"),
  maxProperties: count("max", "Properties"),
  allOf,
  anyOf,
  oneOf,
  not,
  if: condition,
  ...Object.fromEntries(["then", "else"].map((keyword) => [keyword, branch])),
  $ref: (value, keyword, { refuse, reference }) => {
    if (typeof value !== "string") return refuse(keyword, "must be a text")
    const node = reference(value)
    return (one, run) => run.check(node, one)
  },
  $defs: definitions,
  definitions,
  ...Object.fromEntries(
    [
      "$schema",
      "$id",
      "$comment",
      "title",
      "description",
      "default",
      "deprecated",
      "readOnly",
      "writeOnly",
      "example",
      "examples",
      "format",
      "contentEncoding",
      "contentMediaType",
      "contentSchema",
    ].map((keyword) => [keyword, note]),
  ),
}
