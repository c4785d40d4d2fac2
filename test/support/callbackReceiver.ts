/**
 * A callback endpoint as public clients of the protocol's events have one: it answers a signed challenge, verifies each body
 * with the library of Standard Webhooks, and keeps what it has taken.
 */
import { randomBytes } from "node:crypto"
import { createServer, type IncomingHttpHeaders } from "node:http"
import type { AddressInfo } from "node:net"
import { Webhook } from "standardwebhooks"

export interface Occurrence {
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly json: any
}

export const callbackReceiver = async (answer: (one: Occurrence) => number = () => 204) => {
  const secret = `whsec_${randomBytes(32).toString("base64")}`
  const taken: Array<Occurrence> = []
  const forged: Array<string> = []
  const state = { challenges: 0, echoes: true }
  const server = createServer(async (request, response) => {
    let text = ""
    for await (const piece of request.setEncoding("utf8")) text += piece
    try {
      new Webhook(secret).verify(text, request.headers as Record<string, string>)
    } catch (error) {
      forged.push(`${String(error)}: ${text}`)
      response.writeHead(401).end()
      return
    }
    const json = JSON.parse(text)
    if (json.type === "verification") {
      state.challenges++
      const challenge = state.echoes ? json.challenge : "something else"
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ challenge }))
      return
    }
    const one = { headers: request.headers, text, json }
    const status = answer(one)
    if (status < 300) taken.push(one)
    response.writeHead(status).end()
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    secret,
    taken,
    forged,
    state,
    ids: () => taken.map(({ json }) => json.eventId as string),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export type CallbackReceiver = Awaited<ReturnType<typeof callbackReceiver>>
