// Stands in for the APIs of Postmark (POST /email) and Resend (POST /emails) while you try things: it refuses what they
// refuse, and prints the rest. Run: PORT=9404 node mail.mjs
import { createServer } from "node:http"

const ADDRESS = /^[^\s@<>]+@[^\s@<>]+$/
const isText = (value) => typeof value === "string" && value !== ""
const isAddress = (value) => isText(value) && ADDRESS.test(value.replace(/^.*<(.*)>$/, "$1"))

const SERVICES = {
  "/email": {
    key: ({ headers }) => isText(headers["x-postmark-server-token"]),
    fits: (mail) =>
      isAddress(mail.From) &&
      isText(mail.To) &&
      mail.To.split(",").every((one) => isAddress(one.trim())) &&
      (isText(mail.TextBody) || isText(mail.HtmlBody)),
    shown: (mail) => `to ${mail.To}: ${mail.Subject}\n${mail.TextBody ?? ""}`,
    sent: { ErrorCode: 0, Message: "OK" },
    refused: { ErrorCode: 300, Message: "Invalid email request." },
  },
  "/emails": {
    key: ({ headers }) => (headers.authorization ?? "").startsWith("Bearer re_"),
    fits: (mail) =>
      isAddress(mail.from) &&
      [mail.to].flat().every(isAddress) &&
      isText(mail.subject) &&
      (isText(mail.text) || isText(mail.html)),
    shown: (mail) => `to ${[mail.to].flat().join(", ")}: ${mail.subject}\n${mail.text ?? ""}`,
    sent: { id: "stand-in" },
    refused: { statusCode: 422, name: "validation_error" },
  },
}

const receive = async (request, response) => {
  const parts = []
  for await (const part of request) parts.push(part)
  const answer = (status, body) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
  const service = SERVICES[request.url]
  if (service === undefined || request.method !== "POST") return answer(404, {})
  if (!service.key(request)) return answer(401, service.refused)
  try {
    const mail = JSON.parse(Buffer.concat(parts).toString())
    if (!service.fits(mail)) return answer(422, service.refused)
    console.log(service.shown(mail))
    answer(200, service.sent)
  } catch {
    answer(422, service.refused)
  }
}

createServer((request, response) => void receive(request, response)).listen(
  Number(process.env.PORT ?? 9404),
  "127.0.0.1",
)
