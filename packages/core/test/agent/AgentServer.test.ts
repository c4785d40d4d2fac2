/**
 * The protocol as an agent meets it: which messages get a response, with which id, and which are refused with which
 * code.
 */
import { HANDSHAKES } from "@data-cabinet/core/agent/AgentEnvelope"
import { idOf, mayWait, readAgentMessage } from "@data-cabinet/core/agent/AgentServer"
import { RPC_ERRORS } from "@data-cabinet/core/agent/ProtocolError"
import { AGENT_TOOLS } from "@data-cabinet/core/agent/AgentTool"
import { JsonNumber } from "@data-cabinet/core/json/Json"
import { Result } from "effect"
import { expect, it } from "vitest"
import { cabinet } from "./agents.ts"

const RPC = { jsonrpc: "2.0", id: 1 }

it.each<[string, keyof typeof RPC_ERRORS, string | number | null]>([
  ["{", "parse", null],
  ["[".repeat(33) + "]".repeat(33), "parse", null],
  ["null", "invalid", null],
  ["7", "invalid", null],
  ["[]", "invalid", null],
  [`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, "invalid", null],
  [`{"id":1,"method":"ping"}`, "invalid", null],
  [`{"jsonrpc":"1.0","id":1,"method":"ping"}`, "invalid", null],
  [`{"jsonrpc":"2.0","id":{},"method":"ping"}`, "invalid", null],
  [`{"jsonrpc":"2.0","id":null,"method":"ping"}`, "invalid", null],
  [`{"jsonrpc":"2.0","id":1}`, "invalid", 1],
  [`{"jsonrpc":"2.0","id":"a","method":7}`, "invalid", "a"],
  [`{"jsonrpc":"2.0","method":7}`, "invalid", null],
  [`{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}`, "params", 1],
  [`{"jsonrpc":"2.0","id":1,"method":"prompts/list"}`, "method", 1],
  [`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, "params", 1],
  [`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"drop_table"}}`, "params", 1],
  [`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_tables","arguments":[]}}`, "params", 1],
])("the message %s is refused with the code of %s and the id %j", async (message, kind, id) => {
  const response = await cabinet().send(message)
  expect(response).toMatchObject({ jsonrpc: "2.0", id, error: { code: RPC_ERRORS[kind] }, waitedMillis: 0 })
  expect(response.error.message).toMatch(/\.$/)
})

it("AgentServer refuses batches, and answers an unknown tool with the list of tools", async () => {
  expect((await cabinet().send("[]")).error.message).toMatch(/Batches/)
  const { error } = await cabinet().send({ ...RPC, method: "tools/call", params: { name: "drop_table" } })
  for (const name of ["drop_table", ...Object.keys(AGENT_TOOLS)]) expect(error.message).toContain(name)
})

it("initialize agrees on the requested version if known, otherwise on the newest that has a handshake", async () => {
  const agreed = async (protocolVersion?: unknown) =>
    (await cabinet().send({ ...RPC, method: "initialize", params: { protocolVersion } })).result.protocolVersion
  for (const version of HANDSHAKES) expect(await agreed(version)).toBe(version)
  for (const version of ["2020-01-01", 7, undefined]) expect(await agreed(version)).toBe("2025-11-25")
  const { result } = await cabinet().send({ ...RPC, method: "initialize" })
  expect(result).toMatchObject({ capabilities: { tools: {} }, serverInfo: { name: "data-cabinet" } })
})

it("AgentServer responds to a ping with its id, in any valid form", async () => {
  for (const id of [7, -1, "a\nb", ""]) {
    expect(await cabinet().send({ ...RPC, id, method: "ping" })).toEqual({ ...RPC, id, result: {}, waitedMillis: 0 })
  }
})

it("AgentServer responds to a request that also has a result", async () => {
  expect(await cabinet().send({ ...RPC, method: "ping", result: {} })).toMatchObject({ ...RPC, result: {} })
})

it("idOf keeps the digits of an id, and refuses fractions and overlong ids", () => {
  expect(idOf(new JsonNumber("9007199254740993"))).toBe("9007199254740993")
  expect(idOf(new JsonNumber("1".repeat(30)))).toBe("1".repeat(30))
  for (const token of ["1.5", "1e3", "1".repeat(31)]) expect(idOf(new JsonNumber(token))).toBeUndefined()
  expect([idOf(undefined), idOf("a"), idOf(true), idOf(null)]).toEqual([null, '"a"', undefined, undefined])
})

it("AgentServer does not respond to notifications and responses", async () => {
  for (const message of [
    { jsonrpc: "2.0", method: "notifications/initialized" },
    { ...RPC, result: {} },
    { ...RPC, error: { code: 1 } },
  ]) {
    expect(await cabinet().send(message)).toBeNull()
  }
})

it("tools/list lists each tool as read-only, with its required parameters and their types", async () => {
  const { result } = await cabinet().send({ ...RPC, method: "tools/list" })
  expect(result.tools.map(({ name }: { readonly name: string }) => name)).toEqual(Object.keys(AGENT_TOOLS))
  for (const { inputSchema, annotations, title, description } of result.tools) {
    expect(inputSchema).toMatchObject({ type: "object", additionalProperties: false })
    expect(annotations).toEqual({
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    })
    for (const text of [title, description]) expect(text).not.toBe("")
  }
  const rows = result.tools.find(({ name }: { readonly name: string }) => name === "read_rows").inputSchema
  expect(rows.required).toEqual(["schema", "name"])
  expect(rows.properties).toMatchObject({
    schema: { type: "string", minLength: 1 },
    fc: { type: "array", items: { type: "string" } },
    limit: { type: "integer", minimum: 1, maximum: 1_000 },
  })
})

it("mayWait is true only for calls of the waiting tool", () => {
  const waits = (method: string, name: string) =>
    mayWait(Result.getOrThrow(readAgentMessage(JSON.stringify({ ...RPC, method, params: { name } }))))
  expect(waits("tools/call", "wait_for_events")).toBe(true)
  expect(waits("tools/call", "read_events")).toBe(false)
  expect(waits("tools/list", "wait_for_events")).toBe(false)
})
