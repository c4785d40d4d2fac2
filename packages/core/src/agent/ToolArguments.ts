/**
 * Converts a tool's arguments to the pairs that the use cases take. Numbers keep their digits. Refuses parameters that
 * are unknown, malformed or missing, by name.
 */
import { Result } from "effect"
import { isJsonList, type Json, JsonNumber, type JsonObject } from "../json/Json.ts"
import { type ParamPairs, shown } from "../selection/SelectionParams.ts"
import type { AgentTool, ToolParameter } from "./AgentTool.ts"
import { type ToolRefusal, toolRefusal } from "./ToolRefusal.ts"

const scalarText = (value: Json): string | undefined => {
  if (typeof value === "string") return value
  if (value instanceof JsonNumber) return value.token
  return typeof value === "boolean" ? String(value) : undefined
}

const pairsOf = (name: string, value: Json, { repeats, orMany, schema }: ToolParameter): ParamPairs | string => {
  if (value === null) return []
  const isList = isJsonList(value)
  if (isList && repeats !== true && orMany !== true) return `${name} must be one value, not a list.`
  const pairs: Array<readonly [string, string]> = []
  for (const item of isList ? value : [value]) {
    const text = scalarText(item)
    if (text === undefined) {
      const one = schema.type === "integer" ? "an integer" : "a text"
      return `${name} must be ${repeats === true ? `a list of texts` : one}.`
    }
    pairs.push([name, text])
  }
  return pairs
}

export const toolArguments = (
  toolName: string,
  { parameters }: AgentTool,
  given: JsonObject,
): Result.Result<ParamPairs, ToolRefusal> => {
  const all: Array<readonly [string, string]> = []
  for (const [name, value] of given) {
    const parameter = Object.hasOwn(parameters, name) ? parameters[name] : undefined
    if (parameter === undefined) {
      const known = Object.keys(parameters)
      const has = known.length === 0 ? "It has none." : `It has ${known.join(", ")}.`
      const unknown = [...given.keys()].filter((other) => !Object.hasOwn(parameters, other))
      const names = `parameter${unknown.length === 1 ? "" : "s"} ${unknown.slice(0, 5).map(shown).join(", ")}`
      return Result.fail(toolRefusal("unknown_param", `${toolName} has no ${names}. ${has}`))
    }
    const pairs = pairsOf(name, value, parameter)
    if (typeof pairs === "string") return Result.fail(toolRefusal("bad_param", pairs))
    for (const pair of pairs) all.push(pair)
  }
  const isGiven = (name: string) => all.some(([other]) => other === name)
  const missing = Object.entries(parameters).find(([name, { required }]) => required === true && !isGiven(name))
  return missing === undefined
    ? Result.succeed(all)
    : Result.fail(toolRefusal("bad_param", `${missing[0]} is missing.`))
}
