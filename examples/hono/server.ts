/**
 * A contact form in a Hono app: the form is sent to the cabinet below `/data`, and the page shows what came in.
 *
 *   node server.ts
 */
import { serve } from "@hono/node-server"
import { Hono } from "hono"
import { html } from "hono/html"
import { contact } from "./contact.ts"

const { cabinet, intakeUrl, messages } = await contact()

const app = new Hono()

app.all("/data/*", (context) => cabinet.fetchHandler(context.req.raw))

app.get("/", async (context) =>
  context.html(
    html`<!doctype html>
      <title>Contact</title>
      <form method="post" action="${intakeUrl}">
        <input name="name" placeholder="Name" required />
        <input name="message" placeholder="Message" required />
        <button>Send</button>
      </form>
      <table>
        ${(await messages()).map(
          ({ name, message }) =>
            html`<tr>
              <td>${name}</td>
              <td>${message}</td>
            </tr>`,
        )}
      </table>`,
  ),
)

const port = Number(process.env["PORT"] ?? 3000)
const server = serve({ fetch: app.fetch, port, hostname: "127.0.0.1" }, () =>
  console.log(`The form is at http://127.0.0.1:${port}/`),
)

process.once("SIGTERM", async () => {
  server.close()
  await cabinet.close() // finishes what is under way, and closes every connection
})
