/** Requests as the bytes on the wire, created once. */

/** The placeholder of a request's counter; the generator writes a new number into each request. */
export const SLOT = "000000000000"

/** The placeholder of the hexadecimal HMAC-SHA256 of the body; the generator signs each request. */
export const SIGNATURE = "f".repeat(64)

/** Bytes are kept as Latin-1 text, so that they survive JSON whatever charset they are in. */
export const postRequest = (
  path: string,
  contentType: string,
  body: Buffer | string,
  headers: Readonly<Record<string, string>> = {},
): string => {
  const bytes = typeof body === "string" ? Buffer.from(body) : body
  const more = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return (
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nuser-agent: bench\r\ncontent-type: ${contentType}\r\n` +
    `content-length: ${bytes.length}\r\n${more.join("")}\r\n${bytes.toString("latin1")}`
  )
}

/** Without a key if the contestant needs none. */
export const getRequest = (path: string, key: string | null): string =>
  `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${key === null ? "" : `authorization: Bearer ${key}\r\n`}\r\n`

/** An order as a shop sends it, some 250 bytes of JSON. */
export const orderJson = (n: string = SLOT): string =>
  `{"order":"${n}","customer":"Ada Lovelace","email":"ada@example.com","city":"Würzburg","total":1249.50,"currency":"EUR","paid":true,"items":3,"placed_at":"2026-11-21T10:15:30Z","note":"Please ring twice, the bell is broken","channel":"web-shop"}`
