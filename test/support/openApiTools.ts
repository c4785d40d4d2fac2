/**
 * `node openApiTools.ts FOLDER`: checks a cabinet's OpenAPI documents with the linters in FOLDER, and calls the management
 * API with clients that the generators in FOLDER create.
 */
import { execFile } from "node:child_process"
import { mkdir, writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { promisify } from "node:util"
import { type Cabinet, openCabinet } from "data-cabinet"
import { rolldown } from "rolldown"

const folder = process.argv[2]!
const run = promisify(execFile)

/** Programs of the generated types: each creates a key, repeats that, lists the keys, and has one refused. */
const PROGRAMS = {
  openapiTypescript: `
import createClient from "openapi-fetch"
import type { paths } from "./schema.ts"
export const calls = async (baseUrl: string, token: string): Promise<ReadonlyArray<string>> => {
  const client = createClient<paths>({ baseUrl, headers: { authorization: "Bearer " + token } })
  const header = { "Idempotency-Key": "openapi-typescript" }
  const send = (name: string) => client.POST("/manage/v1/keys", { params: { header }, body: { name } })
  const first = await send("Generated")
  const again = await send("Generated")
  const id: number | undefined = first.data?.id
  const listed = await client.GET("/manage/v1/keys")
  const refused = await client.POST("/manage/v1/keys", { body: { name: "" } })
  return [
    first.response.status === 201 ? "created" : "not created",
    again.response.status === 200 && again.data?.id === id ? "replayed" : "not replayed",
    listed.data?.data.some((key) => key.id === id) ? "listed" : "not listed",
    "refused at " + refused.error?.error.param,
  ]
}
`,
  heyApi: `
import { issueKey, listKeys } from "./heyApi/sdk.gen"
import { client } from "./heyApi/client.gen"
export const calls = async (baseUrl: string, token: string): Promise<ReadonlyArray<string>> => {
  client.setConfig({ baseUrl, auth: () => token })
  const headers = { "Idempotency-Key": "hey-api" }
  const first = await issueKey({ headers, body: { name: "Generated" } })
  const again = await issueKey({ headers, body: { name: "Generated" } })
  const id: number | undefined = first.data?.id
  const listed = await listKeys()
  const refused = await issueKey({ body: { name: "" } })
  return [
    first.response?.status === 201 ? "created" : "not created",
    again.response?.status === 200 && again.data?.id === id ? "replayed" : "not replayed",
    listed.data?.data.some((key) => key.id === id) ? "listed" : "not listed",
    "refused at " + refused.error?.error.param,
  ]
}
`,
}

const tool = async (title: string, command: string, words: ReadonlyArray<string>) => {
  const options = { cwd: folder, timeout: 180_000, maxBuffer: 64 * 1_048_576 }
  const { failed, said } = await run(join(folder, "node_modules", ".bin", command), words, options).then(
    () => ({ failed: false, said: "" }),
    ({ stdout = "", stderr = "" }: { stdout?: string; stderr?: string }) => ({ failed: true, said: stdout + stderr }),
  )
  process.stdout.write(`${failed ? "FAILED" : "ok    "} ${title}\n${said}`)
  if (failed) process.exitCode = 1
}

const opened = Promise.withResolvers<Cabinet>()
const server = createServer((request, response) => void opened.promise.then((it) => it.nodeHandler(request, response)))
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const cabinet = await openCabinet({ dataDir: join(folder, "data"), baseUrl, delivery: false })
opened.resolve(cabinet)
const { key } = await cabinet.keys.create({ name: "tools" })
const { token } = await cabinet.tokens.create({ name: "tools", role: "owner" })

/** Two operations whose only responses are a redirect to the reference, and the response to a preflight. */
const SOLE = ["#/paths/~1api~1v1~1docs/get/responses", "#/paths/~1webhook~1{intake_secret}/options/responses"]
await writeFile(join(folder, "redocly.yaml"), "extends: [recommended-strict]\n")
await writeFile(
  join(folder, ".redocly.lint-ignore.yaml"),
  `api.json:\n${["operation-2xx-response", "operation-4xx-response"].map((rule) => `  ${rule}:\n${SOLE.map((at) => `    - '${at}'\n`).join("")}`).join("")}`,
)
// The linter wants a contact, but the operator of a cabinet is unknown.
await writeFile(join(folder, ".spectral.yaml"), 'extends: ["spectral:oas"]\nrules:\n  info-contact: off\n')
for (const [name, bearer] of [
  ["manage", token],
  ["api", key],
] as const) {
  const response = await fetch(`${baseUrl}/${name}/v1/openapi.json`, { headers: { authorization: `Bearer ${bearer}` } })
  await writeFile(join(folder, `${name}.json`), await response.text())
  await tool(`${name}: @redocly/cli`, "redocly", ["lint", `${name}.json`])
  await tool(`${name}: @stoplight/spectral-cli`, "spectral", ["lint", "--fail-severity=warn", `${name}.json`])
  await tool(`${name}: @seriousme/openapi-schema-validator`, "validate-api", [`${name}.json`])
}

const client = join(folder, "client")
await mkdir(client)
for (const [name, text] of Object.entries(PROGRAMS)) await writeFile(join(client, `${name}.ts`), text)
await tool("openapi-typescript", "openapi-typescript", ["manage.json", "-o", "client/schema.ts"])
await tool("@hey-api/openapi-ts", "openapi-ts", [
  "-i",
  "manage.json",
  "-o",
  "client/heyApi",
  "-c",
  "@hey-api/client-fetch",
])
const tsc = "--noEmit --strict --skipLibCheck --target esnext --module esnext --moduleResolution bundler"
await tool("the types of both clients", "tsc", [
  ...`${tsc} --allowImportingTsExtensions --lib esnext,dom,dom.iterable`.split(" "),
  ...Object.keys(PROGRAMS).map((name) => `client/${name}.ts`),
])
for (const name of Object.keys(PROGRAMS)) {
  const bundle = await rolldown({
    input: join(client, `${name}.ts`),
    platform: "neutral",
    resolve: { mainFields: ["module", "main"] },
  })
  const file = join(client, `${name}.mjs`)
  await bundle.write({ file, format: "esm" })
  await bundle.close()
  const { calls } = (await import(file)) as { calls: (base: string, token: string) => Promise<ReadonlyArray<string>> }
  const said = (await calls(baseUrl, token)).join(", ")
  const isWell = said === "created, replayed, listed, refused at /name"
  process.stdout.write(`${isWell ? "ok    " : "FAILED"} calls of ${name}: ${said}\n`)
  if (!isWell) process.exitCode = 1
}
server.close()
server.closeAllConnections()
await cabinet.close()
