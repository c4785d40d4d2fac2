/** Tables as resources: each name, in parts, and the refusal of what does not exist by the code of each revision. */
import type { TableDetail } from "@data-cabinet/core/row/Table"
import { expect, it } from "vitest"
import { cabinet, columnNamed, tableNamed } from "./agents.ts"

type Sent = ReturnType<typeof cabinet>["send"]

const request = (send: Sent, method: string, params: object = {}) => send({ jsonrpc: "2.0", id: 1, method, params })

const NAMES = ["orders", "a/b", "naïve 100 %", "..", "?#&"]

it.each(NAMES)("the table %j is read by the URI that the list has for it", async (name) => {
  const table = tableNamed(name)
  const detail: TableDetail = { ...table, key: [], definition: null, columns: [columnNamed("total")] }
  const { send, asked } = cabinet({ tables: [table], detail })
  const { result } = await request(send, "resources/list")
  const [{ uri }] = result.resources
  expect(uri).toMatch(/^cabinet:\/\/tables\/sources\/[^/?#\s]+$/)
  const read = await request(send, "resources/read", { uri })
  expect(asked).toEqual([["find", "sources", name]])
  expect(read.result.contents.map((one: { readonly uri: string }) => one.uri)).toEqual([uri, uri])
  expect(JSON.parse(read.result.contents[1].text)).toMatchObject({ name, columns: { data: [{ name: "total" }] } })
})

it("a long list of resources comes in parts, each resource once", async () => {
  const tables = Array.from({ length: 1_000 }, (_, n) => tableNamed(`t${n}`))
  const { send } = cabinet({ tables })
  const uris: Array<string> = []
  let parts = 0
  for (let cursor: string | undefined; ; parts++) {
    const { result } = await request(send, "resources/list", { cursor })
    for (const { uri } of result.resources) uris.push(uri)
    cursor = result.nextCursor
    if (cursor === undefined) break
  }
  expect(parts).toBeGreaterThan(0)
  expect(uris).toEqual(tables.map(({ name }) => `cabinet://tables/sources/${name}`))
})

it.each([
  "cabinet://tables/sources/nothing",
  "cabinet://tables/sources",
  "cabinet://tables/sources/a/b",
  "cabinet://tables/sources/%zz",
  "file:///etc/passwd",
  "",
])("the resource %j does not exist, by the code of the revision", async (uri) => {
  const { send } = cabinet()
  const { error } = await request(send, "resources/read", { uri })
  expect(error).toMatchObject({ code: -32_002, data: { uri } })
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  }
  expect((await request(send, "resources/read", { uri, _meta: meta })).error).toEqual({ ...error, code: -32_602 })
})

it("a cursor that is no part of the list, and a URI that is no text, are refused", async () => {
  const { send } = cabinet({ tables: [tableNamed("orders")] })
  for (const cursor of ["gone", 7]) {
    expect((await request(send, "resources/list", { cursor })).error).toMatchObject({ code: -32_602 })
  }
  expect((await request(send, "resources/read", { uri: 7 })).error.message).toBe("uri must be a text.")
  expect((await request(send, "resources/list", { cursor: null })).result.resources).toHaveLength(1)
  expect((await request(send, "resources/templates/list")).result.resourceTemplates).toHaveLength(1)
})
