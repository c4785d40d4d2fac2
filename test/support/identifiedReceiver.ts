/** A subscriber on the loopback over TLS that demands a client certificate and records who sent each request. */
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import type { TLSSocket } from "node:tls"
import type { Issued } from "./certificates.ts"

export interface Identified {
  /** The common name of the client's certificate. */
  readonly client: string
  readonly path: string
  readonly type: string
  readonly deliveryId: number
  /** The number of its connection. */
  readonly connection: number
}

export interface IdentifiedReceiver {
  readonly origin: string
  readonly received: ReadonlyArray<Identified>
  readonly connections: () => number
  readonly close: () => Promise<void>
}

export const startIdentifiedReceiver = async (
  server: Issued,
  /** The authorities of the accepted clients. */
  accepted: ReadonlyArray<string>,
): Promise<IdentifiedReceiver> => {
  const received: Array<Identified> = []
  const numbers = new WeakMap<object, number>()
  let connections = 0
  const options = { ...server, ca: [...accepted], requestCert: true, rejectUnauthorized: true }
  const listener = createServer(options, (request, response) => {
    const socket = request.socket as TLSSocket
    received.push({
      client: String(socket.getPeerCertificate().subject.CN),
      path: request.url ?? "",
      type: String(request.headers["x-service-event"]),
      deliveryId: Number(request.headers["x-service-delivery"]),
      connection: numbers.get(socket)!,
    })
    request.resume().on("end", () => response.writeHead(204).end())
  })
  listener.on("secureConnection", (socket) => numbers.set(socket, ++connections))
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve))
  return {
    origin: `https://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    received,
    connections: () => connections,
    close: () =>
      new Promise((resolve) => {
        listener.close(() => resolve())
        listener.closeAllConnections()
      }),
  }
}
