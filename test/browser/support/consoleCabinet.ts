/** A cabinet below `/data` with a source of orders, and its console for a person with a given role. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { type Cabinet, openCabinet, type OpenCabinetOptions, type Role } from "data-cabinet"

export const DIGITS = "1234567890123456789012345678901234567890"

const order = (n: number): string =>
  `{"order_no":${DIGITS.slice(0, 36)}${String(n).padStart(4, "0")},"customer":${JSON.stringify(n % 3 === 0 ? "Иван <b>&" : "Ada")},"total":${(n * 1.5).toFixed(2)},"paid":${n % 2 === 0},"note":${n % 4 === 0 ? "null" : '""'},"items":[{"sku":"A","price":0.10000000000000000001}]}`

export const consoleCabinet = async (
  databaseUrl: string,
  orders: number,
  delivery = false,
  options: OpenCabinetOptions = {},
) => {
  const opened = Promise.withResolvers<Cabinet>()
  const server = createServer(
    (request, response) => void opened.promise.then((it) => it.nodeHandler(request, response)),
  )
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const cabinet = await openCabinet({
    databaseUrl,
    baseUrl: `${origin}/data`,
    delivery,
    allowedNetworks: ["127.0.0.0/8"],
    intakeRate: 0,
    apiRate: 1_000_000,
    ...options,
  })
  opened.resolve(cabinet)
  const source = await cabinet.sources.create({ name: "Orders" })
  for (let from = 0; from < orders; from += 100) {
    const items = Array.from({ length: Math.min(100, orders - from) }, (_, n) => order(from + n))
    const headers = { "content-type": "application/json" }
    const sent = await fetch(source.intakeUrl, { method: "POST", headers, body: `[${items.join(",")}]` })
    if (sent.status !== 200) throw new Error(await sent.text())
  }
  const { key } = await cabinet.keys.create({ name: "tests" })
  return {
    cabinet,
    server,
    source,
    key,
    base: `${origin}/data`,
    /** The headers of a person with this role. */
    as: async (role: Role): Promise<Readonly<Record<string, string>>> => ({
      authorization: `Bearer ${(await cabinet.tokens.create({ name: role, role })).token}`,
    }),
    close: async () => {
      server.close()
      server.closeAllConnections()
      await cabinet.close()
    },
  }
}

export type ConsoleCabinet = Awaited<ReturnType<typeof consoleCabinet>>
