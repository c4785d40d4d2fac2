/** The keywords of JSON Schema 2020-12 about the items of a list and the members of an object. */
import { isJsonList, type Json, type JsonObject } from "../json/Json.ts"
import { type Keyword, members, named, names, schemas, whole } from "./KeywordReader.ts"
import { requiredRule } from "./SchemaRules.ts"
import { must } from "./SchemaRun.ts"

/** `items`. */
export const items: Keyword = (value, keyword, reader) => {
  if (isJsonList(value)) return reader.refuse(keyword, "is one schema; a list of schemas is prefixItems")
  const prefix = reader.all.get("prefixItems")
  const from = prefix !== undefined && isJsonList(prefix) ? prefix.length : 0
  const node = reader.schema(value, keyword)
  return (list, run) => {
    if (!isJsonList(list)) return null
    for (let index = from; index < list.length; index++) {
      const fault = run.checkInner(node, list[index]!, index)
      if (fault !== null) return fault
    }
    return null
  }
}

/** `prefixItems`. */
export const prefixItems: Keyword = (value, keyword, reader) => {
  const nodes = schemas(value, keyword, reader)
  return (list, run) => {
    if (!isJsonList(list)) return null
    for (const [index, node] of nodes.slice(0, list.length).entries()) {
      const fault = run.checkInner(node, list[index]!, index)
      if (fault !== null) return fault
    }
    return null
  }
}

/** `contains`. */
export const contains: Keyword = (value, keyword, reader) => {
  const [least, most] = [reader.all.get("minContains"), reader.all.get("maxContains")]
  const from = least === undefined ? 1 : whole(least, "minContains", reader)
  const to = most === undefined ? Number.POSITIVE_INFINITY : whole(most, "maxContains", reader)
  const node = reader.schema(value, keyword)
  return (list, run) => {
    if (!isJsonList(list)) return null
    const found = list.filter((item) => run.check(node, item) === null).length
    return found >= from && found <= to ? null : must("contain the number of items that its schema requires")
  }
}

/** `properties`. */
export const properties: Keyword = (value, keyword, reader) => {
  const nodes = named(value, keyword, reader)
  return (object, run) => {
    if (!(object instanceof Map)) return null
    run.spend(nodes.length >> 3)
    for (const [name, node] of nodes) {
      const member = (object as JsonObject).get(name)
      const fault = member === undefined ? null : run.checkInner(node, member, name)
      if (fault !== null) return fault
    }
    return null
  }
}

/** `patternProperties`. */
export const patternProperties: Keyword = (value, keyword, reader) => {
  const nodes = named(value, keyword, reader).map(
    ([source, node]) => [reader.pattern(source, keyword, source), node] as const,
  )
  return (object, run) => {
    if (!(object instanceof Map)) return null
    for (const [name, member] of object as JsonObject) {
      for (const [pattern, node] of nodes) {
        const fault = pattern.matches(name, run.spend) ? run.checkInner(node, member, name) : null
        if (fault !== null) return fault
      }
    }
    return null
  }
}

/** `additionalProperties`. */
export const additionalProperties: Keyword = (value, keyword, reader) => {
  const [own, patterned] = [reader.all.get("properties"), reader.all.get("patternProperties")]
  const known = own instanceof Map ? (own as JsonObject) : new Map<string, Json>()
  const sources = patterned instanceof Map ? [...(patterned as JsonObject).keys()] : []
  const patterns = sources.map((source) => reader.pattern(source, "patternProperties", source))
  const node = reader.schema(value, keyword)
  return (object, run) => {
    if (!(object instanceof Map)) return null
    for (const [name, member] of object as JsonObject) {
      run.spend(1)
      if (known.has(name) || patterns.some((pattern) => pattern.matches(name, run.spend))) continue
      if (value === false) return { path: [name], must: "must not be present" }
      const fault = run.checkInner(node, member, name)
      if (fault !== null) return fault
    }
    return null
  }
}

/** `propertyNames`. */
export const propertyNames: Keyword = (value, keyword, reader) => {
  const node = reader.schema(value, keyword)
  return (object, run) => {
    if (!(object instanceof Map)) return null
    for (const name of (object as JsonObject).keys()) {
      if (run.check(node, name) !== null) return { path: [name], must: "must have a name that its schema allows" }
    }
    return null
  }
}

/** `dependentRequired`. */
export const dependentRequired: Keyword = (value, keyword, reader) => {
  const rules = [...members(value, keyword, reader)].map(([name, needed]) =>
    requiredRule(names(needed, keyword, reader), name),
  )
  return (object, run) => {
    run.spend(rules.length >> 2)
    for (const rule of rules) {
      const fault = rule(object, run)
      if (fault !== null) return fault
    }
    return null
  }
}

/** `dependentSchemas`. */
export const dependentSchemas: Keyword = (value, keyword, reader) => {
  const nodes = named(value, keyword, reader)
  return (object, run) => {
    if (!(object instanceof Map)) return null
    run.spend(nodes.length >> 2)
    for (const [name, node] of nodes) {
      const fault = object.has(name) ? run.check(node, object) : null
      if (fault !== null) return fault
    }
    return null
  }
}
