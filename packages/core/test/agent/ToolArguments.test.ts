/** The arguments that an agent may send to a tool, and the refusal of others. */
import { toolArguments } from "@data-cabinet/core/agent/ToolArguments"
import { AGENT_TOOLS, type AgentTool, isToolName } from "@data-cabinet/core/agent/AgentTool"
import type { JsonObject } from "@data-cabinet/core/json/Json"
import { parseJson } from "@data-cabinet/core/json/ParseJson"
import { Result } from "effect"
import { expect, it } from "vitest"

const argumentsOf = (tool: keyof typeof AGENT_TOOLS, text: string) => {
  const given = Result.getOrThrow(parseJson(text, { maxDepth: 9 })) as JsonObject
  const read = toolArguments(tool, AGENT_TOOLS[tool] as AgentTool, given)
  return Result.isSuccess(read) ? read.success : `${read.failure.code}: ${read.failure.message}`
}

it("toolArguments accepts texts, booleans and numbers, with all digits", () => {
  const given = `{"schema":"sources","name":"orders","q":true,"limit":100000000000000000001}`
  expect(argumentsOf("read_rows", given)).toEqual([
    ["schema", "sources"],
    ["name", "orders"],
    ["q", "true"],
    ["limit", "100000000000000000001"],
  ])
})

it("toolArguments accepts a list or a single value where values may repeat", () => {
  const given = `{"schema":"sources","name":"orders","fc":["a","b"],"fo":["eq","ge"],"fv":["x",1.0],"col":"a","hide":[]}`
  expect(argumentsOf("read_rows", given).slice(2)).toEqual([
    ["fc", "a"],
    ["fc", "b"],
    ["fo", "eq"],
    ["fo", "ge"],
    ["fv", "x"],
    ["fv", "1.0"],
    ["col", "a"],
  ])
})

it("toolArguments treats null as a missing argument", () => {
  expect(argumentsOf("list_tables", `{"cursor":null}`)).toEqual([])
  expect(argumentsOf("describe_table", `{"schema":null,"name":"orders"}`)).toMatch(/^bad_param: schema /)
})

it.each([
  ["read_rows", `{"name":"orders"}`, /^bad_param: schema /],
  ["read_rows", `{"schema":"sources"}`, /^bad_param: name /],
  ["list_tables", `{"cursor":["a"]}`, /^bad_param: cursor .*not a list/],
  ["list_tables", `{"cursor":{}}`, /^bad_param: cursor .* a text\.$/],
  ["read_events", `{"limit":{}}`, /^bad_param: limit .* an integer\.$/],
  ["read_rows", `{"col":[null]}`, /^bad_param: col .* a list of texts\.$/],
  ["read_rows", `{"col":[["a"]]}`, /^bad_param: col .* a list of texts\.$/],
  ["list_tables", `{"limit":5}`, /^unknown_param: list_tables .* "limit"\. .* cursor\.$/],
  ["describe_table", `{"x":5}`, /^unknown_param: .* schema, name, cursor\.$/],
  ["about_cabinet", `{"x":5}`, /^unknown_param: about_cabinet .* "x"\. .* none\.$/],
  ["about_cabinet", `{"toString":5}`, /^unknown_param: .*"toString"/],
] as const)("toolArguments refuses for %s what does not fit, by its name: %s", (tool, given, words) => {
  expect(argumentsOf(tool, given)).toMatch(words)
})

it("isToolName is true for tools, and false for properties of every object", () => {
  for (const name of Object.keys(AGENT_TOOLS)) expect(isToolName(name)).toBe(true)
  for (const name of ["toString", "__proto__", "", "read_row"]) expect(isToolName(name)).toBe(false)
})
