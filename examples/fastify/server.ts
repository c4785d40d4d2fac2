/**
 * A cabinet in a Fastify app. Fastify parses bodies itself, so the cabinet gets a scope without any parser and the raw
 * request and response.
 *
 *   node server.ts
 */
import { openCabinet } from "data-cabinet"
import fastify from "fastify"

const port = Number(process.env["PORT"] ?? 3000)
const app = fastify({ logger: { level: "warn" } })
const cabinet = await openCabinet({
  databaseUrl: process.env["DATABASE_URL"], // without one: an embedded PostgreSQL in .cabinet
  baseUrl: `http://127.0.0.1:${port}/data`,
  log: { warn: (line) => app.log.warn(line), error: (line) => app.log.error(line) },
})
const known = (await cabinet.sources.list()).find(({ name }) => name === "Readings")
const readings = known ?? (await cabinet.sources.create({ name: "Readings" }))

await app.register(async (scope) => {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser("*", (_request, _body, done) => done(null))
  scope.all("/data/*", (request, reply) => {
    reply.hijack()
    cabinet.nodeHandler(request.raw, reply.raw)
  })
})

app.post<{ Body: Record<string, unknown> }>("/readings", async (request) =>
  cabinet.intake(readings.id, { fields: request.body }),
)

app.addHook("onClose", () => cabinet.close())
process.once("SIGTERM", () => void app.close())

await app.listen({ port, host: "127.0.0.1" })
const { intakeUrl } = await cabinet.sources.reveal(readings.id)
console.log(`Readings come in at ${intakeUrl}`)
