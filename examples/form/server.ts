/**
 * A page with a form that a cabinet receives, with JavaScript and without.
 *
 *   node server.ts
 */
import { readFile } from "node:fs/promises"
import { createServer } from "node:http"
import { openCabinet } from "data-cabinet"

const port = Number(process.env["PORT"] ?? 3000)
const site = `http://127.0.0.1:${port}`
const cabinet = await openCabinet({ databaseUrl: process.env["DATABASE_URL"], baseUrl: `${site}/data` })

const known = (await cabinet.sources.list()).find(({ name }) => name === "Contact")
const { intakeUrl } = known
  ? await cabinet.sources.reveal(known.id)
  : await cabinet.sources.create({ name: "Contact", thanksUrl: `${site}/thanks` })

const form = await readFile(new URL("form.html", import.meta.url), "utf8")
const pages: Record<string, string> = {
  "/": form.replace("{{intake}}", intakeUrl),
  "/thanks": "<!doctype html><title>Thank you</title><h1>Thank you</h1><p>We have got your message.</p>",
}

const server = createServer((request, response) => {
  const page = pages[request.url ?? ""]
  if (page === undefined) return cabinet.nodeHandler(request, response)
  response.setHeader("content-type", "text/html; charset=utf-8").end(page)
})
server.listen(port, "127.0.0.1", () => console.log(`The form is at ${site}/`))

process.once("SIGTERM", async () => {
  server.close()
  await cabinet.close()
})
