/** A subscriber on the loopback that accepts deliveries and records them, including their bytes. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

export interface Received {
  readonly method: string
  readonly type: string
  readonly deliveryId: number
  readonly signature: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

export interface Receiver {
  readonly url: string
  readonly received: ReadonlyArray<Received>
  /** Resolves once the received deliveries satisfy the condition, which is checked at each delivery. */
  readonly until: (condition: (received: ReadonlyArray<Received>) => boolean) => Promise<void>
  readonly close: () => Promise<void>
}

export const startReceiver = async (): Promise<Receiver> => {
  const received: Array<Received> = []
  const waiting = new Set<() => void>()
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      received.push({
        method: String(request.method),
        type: String(request.headers["x-service-event"]),
        deliveryId: Number(request.headers["x-service-delivery"]),
        signature: String(request.headers["x-service-signature"]),
        headers: request.headers as Readonly<Record<string, string>>,
        body: Buffer.concat(chunks),
      })
      response.writeHead(204).end()
      for (const look of waiting) look()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    until: (condition) =>
      new Promise((resolve) => {
        const look = () => {
          if (!condition(received)) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        look()
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
