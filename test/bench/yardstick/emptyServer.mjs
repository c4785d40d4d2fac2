/** The least program of its kind: Fastify and pg, one route that asks the database. For the time it takes to start. */
import Fastify from "fastify"
import { Pool } from "pg"

const db = new Pool({ connectionString: process.env.DATABASE_URL })
const app = Fastify()
app.get("/readyz", async () => {
  await db.query("SELECT 1")
  return { ok: true }
})
await app.listen({ port: Number(process.env.PORT), host: "127.0.0.1" })
process.once("SIGINT", () => process.exit(0))
