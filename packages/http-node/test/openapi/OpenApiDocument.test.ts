/** The description: clean under an independent linter, with valid examples, and usable by an independent generator. */
import type { JsonObject } from "@data-cabinet/core/json/Json"
import { jsonText } from "@data-cabinet/core/json/JsonText"
import { ownJson } from "@data-cabinet/core/json/ParseJson"
import { NO_ITEMS } from "@data-cabinet/core/pagination/Items"
import { schemaExample } from "@data-cabinet/core/payload/SchemaExample"
import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { openApiDocument } from "@data-cabinet/http-node/openapi/OpenApiDocument"
import { withExamples } from "@data-cabinet/http-node/openapi/SourceExamples"
import { ENDPOINTS } from "@data-cabinet/http-node/routes/ApiRoutes"
import { createConfig, lintFromString } from "@redocly/openapi-core"
import { Effect, Option } from "effect"
import createClient from "openapi-fetch"
import openapiTS, { astToString } from "openapi-typescript"
import { describe, it } from "vitest"
import { KEY, ORDERS, serveApi } from "../support/apiServer.ts"
import { assertFits } from "../support/DescribedResponse.ts"

const document = openApiDocument("https://orders.cabinet.test", ENDPOINTS) as any

const lint = async (value: unknown) => {
  const problems = await lintFromString({
    source: JSON.stringify(value),
    config: await createConfig({ extends: ["recommended-strict"] }),
  })
  // These two operations have no other responses than the redirect to the reference and the response to a preflight.
  const sole = /^#\/paths\/(~1api~1v1~1docs\/get|~1webhook~1\{intake_secret\}\/options)\/responses/
  return problems
    .map(({ ruleId, message, location }) => ({ ruleId, message, pointer: location[0]?.pointer ?? "" }))
    .filter(({ ruleId, pointer }) => !(/^operation-[24]xx-response$/.test(ruleId) && sole.test(pointer)))
    .map(({ ruleId, message, pointer }) => `${ruleId}: ${message} at ${pointer}`)
}

const walkExamples = (node: any, at: string): void => {
  if (typeof node !== "object" || node === null) return
  if ("schema" in node) {
    if ("example" in node) assertFits(node.schema, node.example, at)
    for (const [name, { value }] of Object.entries<any>(node.examples ?? {})) {
      assertFits(node.schema, value, `${at}/${name}`)
    }
  }
  if (Array.isArray(node.examples)) {
    for (const example of node.examples) assertFits({ ...node, examples: undefined }, example, at)
  }
  for (const [key, child] of Object.entries(node)) {
    if (key !== "example" && key !== "examples") walkExamples(child, `${at}/${key}`)
  }
}

describe("openApiDocument", () => {
  it("passes Redocly's strict rules", async () => {
    assert.deepEqual(await lint(document), [])
  })

  it("is checked by a linter that finds planted faults", async () => {
    const { responses: _, ...broken } = document.paths["/api/v1/sources"].get
    const paths = { ...document.paths, "/api/v1/sources": { get: broken } }
    assert.notDeepEqual(await lint({ ...document, paths }), [])
  })

  it("states its version, its server and all that the service returns and accepts", () => {
    assert.equal(document.openapi, "3.1.0")
    assert.equal(document.info.version, "1")
    assert.equal(document.servers[0].url, "https://orders.cabinet.test")
    assert.deepEqual(Object.keys(document.webhooks), ["event.received", "ping"])
    assert.deepEqual(Object.keys(document.paths).toSorted(), [
      "/api/v1/docs",
      "/api/v1/events",
      "/api/v1/events/ack",
      "/api/v1/openapi.json",
      "/api/v1/sources",
      "/api/v1/sources/{source_id}",
      "/api/v1/tables",
      "/api/v1/tables/{schema}/{name}",
      "/api/v1/tables/{schema}/{name}/rows",
      "/webhook/{intake_secret}",
      "/webhook/{intake_secret}/challenge",
      "/webhook/{intake_secret}/proof.js",
    ])
    assert.deepEqual(document.paths["/api/v1/events"].get.security, [{ bearer: [] }, { apiKey: [] }])
  })

  it("gives every parameter its real type and limits", () => {
    const parameters = document.paths["/api/v1/tables/{schema}/{name}/rows"].get.parameters as ReadonlyArray<any>
    const schema = (name: string) => parameters.find((parameter) => parameter.name === name).schema
    assert.deepEqual(schema("limit"), { type: "integer", minimum: 1, maximum: 1000, default: 100 })
    assert.equal(schema("fo").items.enum.length, 9)
    assert.deepEqual(schema("from"), { type: "string", format: "date" })
    assert.equal(parameters.length, 18)
  })

  it("has examples that fit their schemas", () => {
    walkExamples(document, "#")
  })

  it("has an example for each source that sends something, in place of the general ones", async () => {
    const schema = ownJson(
      `{"type":"object","properties":{"id":{"type":["null","integer"]},"items":{"type":"array","items":{"type":"object","properties":{"sku":{"type":"string"},"__proto__":{"type":"number"}}}},"$ref":{"type":"string"}}}`,
    ) as JsonObject
    const payload = JSON.parse(jsonText(schemaExample(schema))) as object
    const orders = { source: { id: 7, name: "Orders" }, payload }
    const shown = withExamples(document, [orders, { source: { id: 9, name: "Visits" }, payload: { n: 1 } }]) as any
    assert.deepEqual(await lint(shown), [])
    walkExamples(shown, "#")
    const intake = shown.paths["/webhook/{intake_secret}"].post.requestBody.content["application/json"]
    assert.equal(JSON.stringify(intake.examples.source_7.value), '{"id":1,"items":[{"sku":"text","__proto__":12.5}]}')
    const page = shown.paths["/api/v1/events"].get.responses["200"].content["application/json"].examples.source_9
    assert.deepEqual([page.summary, page.value.data[0].payload], ["Visits", { n: 1 }])
    const delivery = shown.webhooks["event.received"].post.requestBody.content["application/json"]
    assert.deepEqual(Object.keys(delivery.examples), ["source_7", "source_9"])
    assert.equal(delivery.example, undefined)
    assert.equal(delivery.examples.source_7.value.data.source.name, "Orders")
  })

  it("gives a working typed client with an independent generator", async () => {
    const directory = await mkdtemp(fileURLToPath(new URL("client-", import.meta.url)))
    try {
      await writeFile(`${directory}/api.ts`, astToString(await openapiTS(document)))
      await writeFile(`${directory}/client.ts`, CLIENT)
      await writeFile(`${directory}/tsconfig.json`, TSCONFIG)
      const tsc = fileURLToPath(import.meta.resolve("typescript/bin/tsc"))
      const { stdout } = await promisify(execFile)(process.execPath, [tsc, "-p", directory]).catch((error) => error)
      assert.equal(stdout, "")
    } finally {
      await rm(directory, { recursive: true })
    }
    const server = await serveApi({
      feed: {
        page: ({ after }) => Effect.succeed({ items: NO_ITEMS, next: after, behind: () => after, hasMore: false }),
      },
      sources: { get: () => Effect.succeed(Option.some(ORDERS)) },
    })
    try {
      const client = createClient<any>({ baseUrl: server.base, headers: { "X-Api-Key": KEY } }) as any
      const one = await client.GET("/api/v1/sources/{source_id}", { params: { path: { source_id: 1 } } })
      assert.equal(one.data.name, ORDERS.name)
      const events = await client.GET("/api/v1/events", { params: { query: { channel: "webhook", limit: 10 } } })
      assert.equal(typeof events.data.next_cursor, "string")
      const wrong = await client.GET("/api/v1/events", { params: { query: { channel: "fax" } } })
      assert.equal(wrong.error.error.code, "bad_channel")
    } finally {
      await server.close()
    }
  })
})

const TSCONFIG = JSON.stringify({
  compilerOptions: {
    strict: true,
    noEmit: true,
    target: "es2022",
    module: "nodenext",
    moduleResolution: "nodenext",
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    types: [],
    lib: ["es2022", "dom", "dom.iterable"],
  },
  include: ["*.ts"],
})

// Compiled but not run: what a customer would write. A wrong name or type must not compile.
const CLIENT = `
import createClient from "openapi-fetch"
import type { components, paths, webhooks } from "./api.ts"
const client = createClient<paths>({ baseUrl: "https://orders.cabinet.test", headers: { Authorization: "Bearer k" } })
export const sync = async (cursor?: string) => {
  const { data, error } = await client.GET("/api/v1/events", { params: { query: { cursor, limit: 1000, channel: "webhook" } } })
  if (error !== undefined) throw new Error(error.error.code + error.error.message)
  const first: components["schemas"]["Event"] | undefined = data.data[0]
  const repeat: number | null | undefined = first?.repeat_of
  const next: string = data.next_cursor
  return { repeat, next, more: data.has_more }
}
export const rows = async () => {
  const { data } = await client.GET("/api/v1/tables/{schema}/{name}/rows", {
    params: { path: { schema: "sources", name: "orders" }, query: { fc: ["total"], fo: ["ge"], fv: ["10"], dir: "desc" } },
  })
  const next: string | null | undefined = data?.next_cursor
  const label: string | undefined = data?.columns[0]?.label
  return { next, label }
}
// @ts-expect-error: no such condition
export const wrong = () => client.GET("/api/v1/tables/{schema}/{name}/rows", { params: { path: { schema: "a", name: "b" }, query: { fo: ["like"] } } })
// @ts-expect-error: no such channel
export const fax = () => client.GET("/api/v1/events", { params: { query: { channel: "fax" } } })
export const receive = (body: webhooks["event.received"]["post"]["requestBody"]["content"]["application/json"]): string =>
  body.data.payload["customer"] + body.source.name
`
