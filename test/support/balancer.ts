/**
 * A load balancer in front of several servers. It passes each request to the next server that reported itself ready, and
 * keeps connections open. It repeats nothing: if a server fails a request, the client's connection is cut.
 */
import { Agent, createServer, request } from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"

export interface Balancer {
  readonly baseUrl: string
  /** Resolves once the server is ready and receives requests. */
  readonly add: (baseUrl: string) => Promise<void>
  readonly remove: (baseUrl: string) => void
  readonly close: () => Promise<void>
}

/** How often each server's readiness is checked. */
const LOOK_MILLIS = 50

export const startBalancer = async (): Promise<Balancer> => {
  const ready = new Map<string, boolean>()
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  let turn = 0
  let open = true

  const look = async (baseUrl: string) => {
    const isReady = await fetch(`${baseUrl}/readyz`, { headers: { connection: "close" } }).then(
      async (response) => (await response.text(), response.ok),
      () => false,
    )
    if (ready.has(baseUrl)) ready.set(baseUrl, isReady)
    return isReady
  }
  const looking = (async () => {
    while (open) {
      await Promise.all([...ready.keys()].map(look))
      await sleep(LOOK_MILLIS)
    }
  })()

  const server = createServer((incoming, outgoing) => {
    const able = [...ready].filter(([, isReady]) => isReady).map(([baseUrl]) => baseUrl)
    const target = able[turn++ % Math.max(1, able.length)]
    if (target === undefined) return void outgoing.destroy()
    const { connection: _, ...headers } = incoming.headers
    const sent = request(new URL(incoming.url!, target), { method: incoming.method!, headers, agent }, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(outgoing)
      answer.on("error", () => outgoing.destroy())
    })
    sent.on("error", () => outgoing.destroy())
    incoming.pipe(sent)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    add: async (baseUrl) => {
      ready.set(baseUrl, false)
      while (!(await look(baseUrl))) await sleep(LOOK_MILLIS)
    },
    remove: (baseUrl) => void ready.delete(baseUrl),
    close: async () => {
      open = false
      await looking
      await new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
      agent.destroy()
    },
  }
}
