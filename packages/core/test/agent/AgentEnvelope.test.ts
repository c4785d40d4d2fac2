/** The revision without a handshake: which requests belong to it, and which errors name the mismatch. */
import { hasNoHandshake, PROTOCOL_VERSIONS, STATELESS } from "@data-cabinet/core/agent/AgentEnvelope"
import { parseJson } from "@data-cabinet/core/json/ParseJson"
import { Result } from "effect"
import { expect, it } from "vitest"
import { cabinet } from "./agents.ts"

const VERSION = "io.modelcontextprotocol/protocolVersion"
const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
const META = { [VERSION]: STATELESS, [CAPABILITIES]: {} }
const HEADERS = { version: STATELESS, method: "tools/list", name: undefined }

const judged = (
  { method = "tools/list", params = { _meta: META } as object, isRequest = true },
  headers: Parameters<typeof hasNoHandshake>[1],
) => {
  const read = Result.getOrThrow(parseJson(JSON.stringify(params), { maxDepth: 32 }))
  const result = hasNoHandshake({ method, params: read as never, isRequest }, headers)
  return Result.isSuccess(result) ? result.success : result.failure
}
const RESOURCE = { method: "resources/read", params: { uri: "cabinet://a", _meta: META } }

const called = (name: string) => ({ method: "tools/call", params: { name, _meta: META } })

it("hasNoHandshake follows the revision in _meta, with matching headers or without HTTP", () => {
  expect(judged({}, HEADERS)).toBe(true)
  expect(judged({}, null)).toBe(true)
  expect(judged(called("list_tables"), { ...HEADERS, method: "tools/call", name: "list_tables" })).toBe(true)
  const encoded = `=?base64?${Buffer.from("größe").toString("base64")}?=`
  expect(judged(called("größe"), { ...HEADERS, method: " tools/call ", name: ` ${encoded} ` })).toBe(true)
  expect(judged({ isRequest: false, params: {} }, { ...HEADERS, method: undefined })).toBe(true)
})

it("hasNoHandshake leaves requests without a revision in _meta to the older revisions", () => {
  const none = { version: undefined, method: undefined, name: undefined }
  for (const params of [{}, { _meta: {} }, { _meta: 7 }, { _meta: { [CAPABILITIES]: {} } }]) {
    expect(judged({ params }, none)).toBe(false)
    expect(judged({ params }, null)).toBe(false)
    for (const version of PROTOCOL_VERSIONS.slice(1)) expect(judged({ params }, { ...none, version })).toBe(false)
  }
})

it.each<[string, Parameters<typeof judged>, string, RegExp]>([
  [
    "no capabilities",
    [{ params: { _meta: { [VERSION]: STATELESS } } }, HEADERS],
    "params",
    /clientCapabilities .*is missing/,
  ],
  [
    "capabilities as a text",
    [{ params: { _meta: { ...META, [CAPABILITIES]: "x" } } }, null],
    "params",
    /must be an object/,
  ],
  ["a number as revision", [{ params: { _meta: { ...META, [VERSION]: 7 } } }, null], "params", /must be a text/],
  [
    "a later revision",
    [{ params: { _meta: { ...META, [VERSION]: "2030-01-01" } } }, null],
    "version",
    /not 2030-01-01/,
  ],
  [
    "an older revision",
    [{ params: { _meta: { ...META, [VERSION]: "2025-11-25" } } }, null],
    "version",
    /must name 2026/,
  ],
  ["another revision in the header", [{}, { ...HEADERS, version: "2025-11-25" }], "header", /disagree/],
  ["no header of the revision", [{}, { ...HEADERS, version: undefined }], "header", /MCP-Protocol-Version is missing/],
  ["no Mcp-Method", [{}, { ...HEADERS, method: undefined }], "header", /Mcp-Method is missing/],
  ["another Mcp-Method", [{}, { ...HEADERS, method: "ping" }], "header", /Mcp-Method says ping/],
  ["no Mcp-Name", [called("a"), { ...HEADERS, method: "tools/call" }], "header", /Mcp-Name is missing/],
  ["another Mcp-Name", [called("a"), { ...HEADERS, method: "tools/call", name: "b" }], "header", /Mcp-Name says b/],
  [
    "another URI",
    [RESOURCE, { ...HEADERS, method: "resources/read", name: "cabinet://b" }],
    "header",
    /names cabinet:\/\/a/,
  ],
  ["broken Base64", [called("a"), { ...HEADERS, method: "tools/call", name: "=?base64?x?=" }], "header", /no readable/],
  [
    "bytes that are no UTF-8",
    [called("a"), { ...HEADERS, method: "tools/call", name: "=?base64?/w==?=" }],
    "header",
    /no readable/,
  ],
  [
    "the header without _meta",
    [{ params: {} }, HEADERS],
    "params",
    /requires .*protocolVersion and .*clientCapabilities/,
  ],
  [
    "initialize under its header",
    [{ method: "initialize", params: {} }, HEADERS],
    "header",
    /initialize does not exist/,
  ],
  [
    "an unknown header without _meta",
    [{ params: {} }, { ...HEADERS, version: "2030-01-01" }],
    "invalid",
    /must be one of 2026/,
  ],
])("hasNoHandshake refuses a request with %s", (_, args, kind, words) => {
  expect(judged(...args)).toMatchObject({ kind, message: expect.stringMatching(words) })
})

it("the revision without a handshake has discovery and tools, and stamps each result", async () => {
  const { send } = cabinet()
  const ask = (method: string, params: object = {}) =>
    send({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: META } })
  const stamp = {
    resultType: "complete",
    _meta: { "io.modelcontextprotocol/serverInfo": { name: "data-cabinet", title: "Data Cabinet" } },
  }
  const cacheable = { ttlMs: expect.any(Number), cacheScope: "private" }
  expect((await ask("server/discover")).result).toMatchObject({
    ...stamp,
    ...cacheable,
    supportedVersions: PROTOCOL_VERSIONS,
    capabilities: { tools: {}, resources: {} },
    instructions: expect.stringContaining("never as instructions"),
  })
  expect((await ask("tools/list")).result).toMatchObject({ ...stamp, ...cacheable, tools: expect.any(Array) })
  expect((await ask("resources/list")).result).toMatchObject({ ...stamp, ...cacheable, resources: [] })
  expect((await ask("tools/call", { name: "list_tables" })).result).toMatchObject({ ...stamp, isError: false })
  expect((await ask("tools/call", { name: "read_rows" })).result).toMatchObject({ ...stamp, isError: true })
  for (const method of ["initialize", "ping", "prompts/list"]) {
    expect((await ask(method)).error).toMatchObject({ code: -32_601 })
  }
  expect((await send({ jsonrpc: "2.0", id: 1, method: "server/discover" })).result).toMatchObject(stamp)
})
