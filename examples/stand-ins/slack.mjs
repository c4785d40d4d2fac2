// Stands in for an incoming webhook of Slack while you try things: it refuses what Slack refuses, and prints the rest.
// Run: PORT=9403 node slack.mjs
import { createServer } from "node:http"

const LIMITS = { section: 3000, context: 2000, header: 150 }

/** Why Slack would refuse a message; null if it would take it. */
const fault = (message) => {
  if (typeof message.text !== "string" || message.text === "") return "no_text"
  if (message.blocks === undefined) return null
  if (!Array.isArray(message.blocks) || message.blocks.length > 50) return "invalid_blocks"
  for (const { type, text, elements } of message.blocks) {
    const texts = type === "context" ? elements : [text]
    if (!(type in LIMITS) || !Array.isArray(texts) || texts.length === 0 || texts.length > 10) return "invalid_blocks"
    for (const one of texts) {
      if (!["mrkdwn", "plain_text"].includes(one?.type) || typeof one.text !== "string") return "invalid_blocks"
      if (one.text.length === 0 || one.text.length > LIMITS[type]) return "invalid_blocks"
    }
  }
  return null
}

const receive = async (request, response) => {
  const parts = []
  for await (const part of request) parts.push(part)
  let refusal
  try {
    const message = JSON.parse(Buffer.concat(parts).toString())
    refusal = request.method === "POST" ? fault(message) : "invalid_method"
    if (refusal === null) {
      const texts = (message.blocks ?? []).flatMap(({ text, elements }) => [text, ...(elements ?? [])])
      console.log(texts.flatMap((one) => (one === undefined ? [] : [one.text])).join("\n") || message.text)
    }
  } catch {
    refusal = "invalid_payload"
  }
  response.writeHead(refusal === null ? 200 : 400, { "content-type": "text/plain" }).end(refusal ?? "ok")
}

createServer((request, response) => void receive(request, response)).listen(
  Number(process.env.PORT ?? 9403),
  "127.0.0.1",
)
