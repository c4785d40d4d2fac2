// A receiver of deliveries in Node, without any package. Run: SIGNING_SECRET=whsec_… PORT=3000 node receiver.mjs
// (In a project that has data-cabinet installed, its verifyDelivery does what `verified` does here.)
import { createHmac, timingSafeEqual } from "node:crypto"
import { createServer } from "node:http"

const secret = process.env.SIGNING_SECRET
if (!secret) throw new Error("Set SIGNING_SECRET: without it, anybody could sign.")
const MAX_BODY = 8 << 20
const seen = new Set() // In production: a unique column in your database.

const verified = (body, header = "") => {
  const t = /(?:^|,)t=(\d+)(?:,|$)/.exec(header)?.[1]
  if (t === undefined || Math.abs(Date.now() / 1000 - Number(t)) > 300) return false
  const expected = createHmac("sha256", secret).update(`${t}.`).update(body).digest()
  return header
    .split(",")
    .filter((part) => /^v1=[0-9a-f]{64}$/.test(part))
    .some((part) => timingSafeEqual(Buffer.from(part.slice(3), "hex"), expected))
}

const receive = async (request, response) => {
  const parts = []
  let bytes = 0
  for await (const part of request) {
    if ((bytes += part.length) > MAX_BODY) return response.destroy()
    parts.push(part)
  }
  const body = Buffer.concat(parts) // The raw bytes: verify before parsing.
  if (!verified(body, request.headers["x-service-signature"])) return response.writeHead(401).end()
  const message = JSON.parse(body.toString())
  // A batch has its deliveries in `events`, each as it would be alone.
  for (const delivery of message.type === "events.received" ? message.events : [message]) {
    if (delivery.type !== "event.received" || seen.has(delivery.id)) continue
    seen.add(delivery.id) // The same id may be delivered again.
    console.log(`event ${delivery.data.id} of ${delivery.source.name}`)
  }
  response.writeHead(204).end()
}

createServer((request, response) => {
  // A client that disconnects fails the reading of its body, and nothing else.
  receive(request, response).catch(() => (response.headersSent ? response.destroy() : response.writeHead(400).end()))
}).listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => console.log("ready"))
