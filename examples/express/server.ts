/**
 * A cabinet in an Express app: senders post to it below `/data`, and the app's own code stores orders and reads them.
 *
 *   node server.ts
 */
import { openCabinet } from "data-cabinet"
import express from "express"

const port = Number(process.env["PORT"] ?? 3000)
const cabinet = await openCabinet({
  databaseUrl: process.env["DATABASE_URL"], // without one: an embedded PostgreSQL in .cabinet
  baseUrl: `http://127.0.0.1:${port}/data`,
})
const known = (await cabinet.sources.list()).find(({ name }) => name === "Orders")
const orders = known ?? (await cabinet.sources.create({ name: "Orders" }))

const app = express()
app.use("/data", cabinet.nodeHandler) // before express.json(): a cabinet keeps bodies as they were sent
app.use(express.json())

app.post("/checkout", async (request, response) => {
  const receipt = await cabinet.intake(orders.id, { fields: request.body })
  response.status(201).json({ event: receipt.id })
})

app.get("/orders", async (_request, response) => {
  const { rows } = await cabinet.rows("sources.orders", { limit: 20 }) // the freshest first
  response.json(rows)
})

const { intakeUrl } = await cabinet.sources.reveal(orders.id)
const server = app.listen(port, "127.0.0.1", () => console.log(`Orders come in at ${intakeUrl}`))

process.once("SIGTERM", async () => {
  server.close()
  await cabinet.close() // finishes what is under way, and closes every connection
})
