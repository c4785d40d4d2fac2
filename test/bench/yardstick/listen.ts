/** Listens on a free port of the loopback and reports it, until it is stopped. */
import type { FastifyInstance } from "fastify"

export const listen = async (app: FastifyInstance): Promise<void> => {
  const address = await app.listen({ port: 0, host: "127.0.0.1" })
  process.stdout.write(`${JSON.stringify({ port: Number(new URL(address).port) })}\n`)
  process.once("SIGINT", () => process.exit(0))
}
