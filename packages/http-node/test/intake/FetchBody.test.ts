import { afterAll, assert, beforeAll, beforeEach, it } from "@effect/vitest"
import { gzipSync } from "node:zlib"
import { intakeServer } from "./intakeServer.ts"
import type { IntakeServer } from "./intakeServer.ts"

let server: IntakeServer
beforeAll(async () => {
  server = await intakeServer({ idle: 50, total: 5_000 })
})
afterAll(() => server.close())
beforeEach(() => {
  server.state.appended = []
  server.state.asked = []
})

const JSON_TYPE = { "content-type": "application/json" }

/** A stream that yields these chunks, then does as instructed. */
const stream = (chunks: ReadonlyArray<Uint8Array>, then: "end" | "stall" | "break") =>
  new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (const chunk of chunks) controller.enqueue(chunk)
      if (then === "end") controller.close()
      if (then === "break") controller.error(new Error("broken off"))
    },
  })

const streaming = (chunks: ReadonlyArray<Uint8Array>, then: "end" | "stall" | "break") =>
  server.fetch({ headers: JSON_TYPE, body: stream(chunks, then), duplex: "half" } as RequestInit)

it("a body is read from a request through fetch", async () => {
  const answers = [
    await server.fetch({ headers: JSON_TYPE, body: '{"a":1.0}' }),
    await server.fetch({ headers: JSON_TYPE }, "?a=%D1%8F"),
    await server.fetch({ headers: { ...JSON_TYPE, "content-encoding": "gzip" }, body: gzipSync("{}") }),
    await streaming([Buffer.from('{"b"'), Buffer.from(":2"), Buffer.from("}")], "end"),
  ]
  for (const answer of answers) assert.strictEqual(answer.status, 200)
  assert.deepStrictEqual(server.payloads(), ['{"a":1.0}', '{"a":"я"}', "{}", '{"b":2}'])
})

it("no client is counted if the request has no address", async () => {
  await server.fetch({ headers: JSON_TYPE, body: "{}" })
  assert.deepStrictEqual(server.state.asked, ["source", "rate"])
})

it("a body is read only within the limits of size and time", async () => {
  const large = await streaming(Array(17).fill(Buffer.alloc(65_536, 32)), "stall")
  assert.strictEqual(large.status, 413)
  assert.strictEqual((await streaming([Buffer.from("{")], "stall")).status, 408)
  assert.strictEqual((await streaming([Buffer.from("{")], "break")).status, 408)
  assert.deepStrictEqual(server.state.appended, [])
})
