/**
 * A cabinet in an Express app: a form is sent to it below `/data`, the app's own code stores orders and reads them, and the
 * page shows what came in.
 *
 *   node server.ts
 */
import { openCabinet } from "data-cabinet"
import express from "express"

const port = Number(process.env["PORT"] ?? 3000)
const site = process.env["SITE"] ?? `http://127.0.0.1:${port}`
const cabinet = await openCabinet({
  databaseUrl: process.env["DATABASE_URL"], // without one: an embedded PostgreSQL in .cabinet
  baseUrl: `${site}/data`,
})
const known = (await cabinet.sources.list()).find(({ name }) => name === "Orders")
const orders = known ?? (await cabinet.sources.create({ name: "Orders", thanksUrl: `${site}/` }))
const { intakeUrl } = await cabinet.sources.reveal(orders.id)

/** The latest orders. Before the first one the table has no columns for them. */
const latest = async () => (await cabinet.rows("sources.orders", { limit: 20 })).rows

const escaped = (value: unknown) => String(value ?? "").replaceAll(/[&<>"]/g, (mark) => `&#${mark.charCodeAt(0)};`)

const app = express()
app.use("/data", cabinet.nodeHandler) // before express.json(): a cabinet keeps bodies as they were sent
app.use(express.json())

app.get("/", async (_request, response) => {
  const rows = (await latest()).map(
    ({ customer, total }) => `<tr><td>${escaped(customer)}</td><td>${escaped(total)}</td></tr>`,
  )
  response.send(`<!doctype html>
<title>Orders</title>
<form method="post" action="${intakeUrl}">
  <input name="customer" placeholder="Customer" required />
  <input name="total" placeholder="Total" required />
  <button>Order</button>
</form>
<table>${rows.join("")}</table>`)
})

app.post("/checkout", async (request, response) => {
  const receipt = await cabinet.intake(orders.id, { fields: request.body })
  response.status(201).json({ event: receipt.id })
})

app.get("/orders", async (_request, response) => {
  response.json(await latest())
})

const server = app.listen(port, "127.0.0.1", () =>
  console.log(`The form is at ${site}/, orders come in at ${intakeUrl}`),
)

process.once("SIGTERM", async () => {
  server.close()
  await cabinet.close() // finishes what is under way, and closes every connection
})
