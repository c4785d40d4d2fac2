/** What providers answer on the loopback, however odd, becomes one of three answers, in time. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { parseNetworks } from "@data-cabinet/core/network/IpAddress"
import { ProofProviders, type ProviderToken } from "@data-cabinet/core/proof/ProofProviders"
import * as NameLookup from "@data-cabinet/delivery/outgoing/NameLookup"
import * as PinnedClient from "@data-cabinet/delivery/outgoing/PinnedClient"
import * as HttpProofProviders from "@data-cabinet/delivery/proof/HttpProofProviders"
import { Layer, ManagedRuntime } from "effect"
import { afterAll, assert, beforeAll, it } from "vitest"

let respond: (response: ServerResponse) => void = () => {}
const questions: Array<{
  readonly method: string | undefined
  readonly path: string | undefined
  readonly body: string
}> = []
const server = createServer((request: IncomingMessage, response) => {
  const chunks: Array<Buffer> = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () => {
    questions.push({ method: request.method, path: request.url, body: Buffer.concat(chunks).toString() })
    respond(response)
  })
})
const networks = parseNetworks("127.0.0.0/8")
const over = (allowed: typeof networks) => {
  const { port } = server.address() as AddressInfo
  const at = `http://127.0.0.1:${port}`
  return ManagedRuntime.make(
    HttpProofProviders.layer.pipe(
      Layer.provide(PinnedClient.layer({ allowedNetworks: typeof allowed === "string" ? [] : allowed })),
      Layer.provide(NameLookup.layer()),
      Layer.provide(
        Layer.succeed(HttpProofProviders.ProviderAddresses, {
          turnstile: `${at}/turnstile`,
          hcaptcha: `${at}/hcaptcha`,
        }),
      ),
    ),
  )
}
let runtime: ReturnType<typeof over>
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  runtime = over(networks)
})
afterAll(async () => {
  await runtime.dispose()
  server.close()
  server.closeAllConnections()
})

const TOKEN: ProviderToken = { kind: "turnstile", siteKey: "0x4", secret: "hush&1", token: "a b" }
const check = (token: ProviderToken = TOKEN, millis = 3_000, on = runtime) =>
  on.runPromise(ProofProviders.use((providers) => providers.check(token, millis)))

const json =
  (body: unknown, status = 200) =>
  (response: ServerResponse) =>
    void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))

it("asks each provider in its own form, and passes on no IP address", async () => {
  respond = json({ success: true })
  assert.strictEqual(await check(), "valid")
  assert.strictEqual(await check({ ...TOKEN, kind: "hcaptcha" }), "valid")
  assert.deepStrictEqual(questions.splice(0), [
    { method: "POST", path: "/turnstile", body: "secret=hush%261&response=a+b" },
    { method: "POST", path: "/hcaptcha", body: "secret=hush%261&response=a+b&sitekey=0x4" },
  ])
})

it.each([
  [{ success: false, "error-codes": ["invalid-input-response"] }, "wrong"],
  [{ success: false, "error-codes": ["timeout-or-duplicate"] }, "wrong"],
  [{ success: false, "error-codes": ["expired-input-response", "already-seen-response"] }, "wrong"],
  // About the setting: nothing is known about the sender.
  [{ success: false, "error-codes": ["invalid-input-secret"] }, "unchecked"],
  [{ success: false, "error-codes": ["invalid-input-response", "internal-error"] }, "unchecked"],
  [{ success: false, "error-codes": [] }, "unchecked"],
  [{ success: false, "error-codes": "timeout-or-duplicate" }, "unchecked"],
  [{ success: false }, "unchecked"],
  [{ success: "true" }, "unchecked"],
  [{ "success ": true }, "unchecked"],
  [[true], "unchecked"],
  [null, "unchecked"],
] as const)("takes the answer %j as %s", async (body, answer) => {
  respond = json(body)
  assert.strictEqual(await check(), answer)
})

it("takes a provider that fails, does not speak JSON, redirects or does not answer as not having checked", async () => {
  const broken: ReadonlyArray<(response: ServerResponse) => void> = [
    (response) => void response.socket?.destroy(),
    (response) => void response.writeHead(200).end("<html>"),
    (response) => void response.writeHead(302, { location: "/turnstile" }).end(),
    (response) => void response.writeHead(503).end(),
    (response) => void response.writeHead(200).end(`{"success":true,"x":"${"x".repeat(20_000)}"}`),
    (response) => void response.writeHead(200).write('{"success":true'),
    () => {},
  ]
  for (const one of broken) {
    respond = one
    assert.strictEqual(await check(TOKEN, 200), "unchecked")
  }
})

it("sends nothing to an address that is not public", async () => {
  questions.length = 0
  respond = json({ success: true })
  const strict = over("none")
  assert.strictEqual(await check(TOKEN, 3_000, strict), "unchecked")
  await strict.dispose()
  assert.deepStrictEqual(questions, [])
})
