/** A receiver on the loopback that records what arrives, with a response that tests set. */
import { createServer, type IncomingHttpHeaders } from "node:http"

export interface Arrival {
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly id: number
}

/** With `hang` it accepts the request and never responds. */
export type Answering = (arrival: Arrival) => number | "hang"

export const openReceiver = async (answer: Answering = () => 200, thinkMillis = 0) => {
  const arrivals: Array<Arrival> = []
  let most = 0
  let open = 0
  let waiters: Array<{ readonly count: number; readonly done: () => void }> = []
  const server = createServer((request, response) => {
    open++
    most = Math.max(most, open)
    response.on("close", () => open--)
    const parts: Array<Buffer> = []
    request.on("data", (part) => parts.push(part))
    request.on("end", () => {
      const arrival = {
        headers: request.headers,
        body: Buffer.concat(parts),
        id: Number(request.headers["x-service-delivery"]),
      }
      arrivals.push(arrival)
      const status = answer(arrival)
      const respond = () => void (status !== "hang" && response.writeHead(status).end("noted"))
      if (thinkMillis === 0) respond()
      else setTimeout(respond, thinkMillis)
      waiters = waiters.filter(({ count, done }) => (arrivals.length < count ? true : (done(), false)))
    })
  })
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  const { port } = server.address() as { readonly port: number }
  return {
    url: `http://127.0.0.1:${port}/hook`,
    arrivals,
    /** The most requests that were open at the same time. */
    most: () => most,
    ids: () => [...new Set(arrivals.map(({ id }) => id))].sort((a, b) => a - b),
    received: (count: number) =>
      arrivals.length >= count ? Promise.resolve() : new Promise<void>((done) => waiters.push({ count, done })),
    close: async () => {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}
