/**
 * A cabinet in a Fastify app, with a form whose rows the page shows. Fastify parses bodies itself, so the cabinet gets a scope
 * without any parser and the raw request and response.
 *
 *   node server.ts
 */
import { openCabinet } from "data-cabinet"
import fastify from "fastify"

const port = Number(process.env["PORT"] ?? 3000)
const site = process.env["SITE"] ?? `http://127.0.0.1:${port}`
const app = fastify({ logger: { level: "warn" } })
const cabinet = await openCabinet({
  databaseUrl: process.env["DATABASE_URL"], // without one: an embedded PostgreSQL in .cabinet
  baseUrl: `${site}/data`,
  log: { warn: (line) => app.log.warn(line), error: (line) => app.log.error(line) },
})
const known = (await cabinet.sources.list()).find(({ name }) => name === "Readings")
const readings = known ?? (await cabinet.sources.create({ name: "Readings", thanksUrl: `${site}/` }))
const { intakeUrl } = await cabinet.sources.reveal(readings.id)

await app.register(async (scope) => {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser("*", (_request, _body, done) => done(null))
  scope.all("/data/*", (request, reply) => {
    reply.hijack()
    cabinet.nodeHandler(request.raw, reply.raw)
  })
})

const escaped = (value: unknown) => String(value ?? "").replaceAll(/[&<>"]/g, (mark) => `&#${mark.charCodeAt(0)};`)

app.get("/", async (_request, reply) => {
  const { rows } = await cabinet.rows("sources.readings", { limit: 20 }) // the latest first
  const cells = rows.map(({ room, note }) => `<tr><td>${escaped(room)}</td><td>${escaped(note)}</td></tr>`)
  return reply.type("text/html").send(`<!doctype html>
<title>Readings</title>
<form method="post" action="${intakeUrl}">
  <input name="room" placeholder="Room" required />
  <input name="note" placeholder="Note" required />
  <button>Send</button>
</form>
<table>${cells.join("")}</table>`)
})

app.post<{ Body: Record<string, unknown> }>("/readings", async (request) =>
  cabinet.intake(readings.id, { fields: request.body }),
)

app.addHook("onClose", () => cabinet.close())
process.once("SIGTERM", () => void app.close())

await app.listen({ port, host: "127.0.0.1" })
console.log(`The form is at ${site}/, readings come in at ${intakeUrl}`)
