/** A web site on the loopback, of another origin, whose pages send to the cabinet. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

export interface SitePage {
  readonly body: string | Buffer
  readonly headers?: Readonly<Record<string, string>>
}

export const startSite = async () => {
  const pages = new Map<string, SitePage>()
  const server = createServer((request, response) => {
    const found = pages.get(new URL(request.url ?? "/", "http://site").pathname)
    // Browsers request an icon by themselves, and would report an error without one.
    response.writeHead(found === undefined ? 204 : 200, {
      "content-type": "text/html; charset=utf-8",
      ...found?.headers,
    })
    response.end(found?.body)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    origin,
    /** Publishes a page and returns its address. */
    put: (path: string, body: SitePage["body"], headers: SitePage["headers"] = {}): string => {
      const address = new URL(path, origin)
      pages.set(address.pathname, { body, headers })
      return address.href
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export type Site = Awaited<ReturnType<typeof startSite>>
