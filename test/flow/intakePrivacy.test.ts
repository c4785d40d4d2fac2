import { afterAll, assert, beforeAll, it } from "@effect/vitest"
import { Layer, Logger, References, Tracer } from "effect"
import { type IntakeCabinet, intakeCabinet } from "../support/intakeCabinet.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
let cabinet: IntakeCabinet
const logged: Array<string> = []
const spans: Array<Tracer.NativeSpan> = []

const text = (value: unknown): string => (value instanceof Error ? `${value.stack}${text(value.cause)}` : String(value))

const observed = Layer.mergeAll(
  Logger.layer([
    Logger.make(({ message, cause, fiber }) => {
      const annotations = JSON.stringify(fiber.getRef(References.CurrentLogAnnotations))
      logged.push(
        [message].flat().map(text).join(" "),
        cause.reasons.map(text).join(" "),
        JSON.stringify(cause),
        annotations,
      )
    }),
  ]),
  Layer.succeed(References.MinimumLogLevel, "All"),
  Layer.succeed(
    Tracer.Tracer,
    Tracer.make({
      span: (options) => {
        const span = new Tracer.NativeSpan(options)
        spans.push(span)
        return span
      },
    }),
  ),
)

beforeAll(async () => {
  cabinet = await intakeCabinet(database.url, { observed })
})
afterAll(() => cabinet.close())

it("neither the secret nor a sender's credentials appear in a log, a span, a response or other tables of the database", async () => {
  const source = await cabinet.source("Private")
  const answers: Array<string> = []
  const send = async (init: RequestInit, query = "") => {
    const response = await fetch(cabinet.address(source) + query, {
      redirect: "manual",
      ...init,
      headers: { cookie: "session=hush-hush", authorization: "Bearer hush-hush", ...init.headers },
    })
    answers.push(JSON.stringify([...response.headers]), await response.text())
    return response.status
  }
  const page = { accept: "text/html", "content-type": "application/x-www-form-urlencoded" }
  assert.strictEqual(await send({ method: "POST", body: "{}" }), 200)
  assert.strictEqual(await send({ method: "POST", body: "a=1", headers: page }, "?b=2"), 200)
  assert.strictEqual(await send({ method: "POST", body: "{", headers: { "content-type": "application/json" } }), 400)
  assert.strictEqual(await send({ method: "GET", headers: page }), 405)
  assert.strictEqual(await send({ method: "OPTIONS" }), 204)
  assert.strictEqual(await send({ method: "POST", body: new Uint8Array(1_048_577), headers: page }), 413)
  const [kept] = await database.run(
    `SELECT (SELECT jsonb_agg(e) FROM cabinet.event e)::text || (SELECT jsonb_agg(o) FROM cabinet.original_request o)::text AS everything`,
  )
  answers.push(String(kept!["everything"]))
  // A fault within the store: the table of events is missing.
  await database.run("ALTER TABLE cabinet.event RENAME TO event_away")
  assert.strictEqual(await send({ method: "POST", body: "{}" }), 500)
  await database.run("ALTER TABLE cabinet.event_away RENAME TO event")
  assert.include(logged.join("\n"), "a request failed")
  const seen = [
    ...answers,
    ...logged,
    ...spans.map((span) => JSON.stringify([span.name, ...span.attributes, ...span.events.map(String)])),
  ]
  for (const line of seen) {
    assert.notInclude(line, source.intakeSecret)
    assert.notInclude(line, "hush-hush")
  }
})
