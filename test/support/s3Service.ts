/**
 * A service on the loopback that speaks as S3 does, as far as destinations and cold history need it: objects are written, listed, read in parts and removed. It verifies
 * each signature by a program that is not ours, and can refuse as S3 refuses.
 */
import { hash } from "node:crypto"
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import type { S3Credentials } from "@data-cabinet/core/destination/S3Settings"
import { parseNetwork } from "@data-cabinet/core/network/IpAddress"
import aws4 from "aws4"

/** The only credentials that it accepts. */
export const S3_KEYS: S3Credentials = {
  accessKeyId: "AKIDEXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
  sessionToken: null,
}

/** The network that reaches it. */
export const LOOPBACK = parseNetwork("127.0.0.0/8")!

/** A refusal instead of the response. */
export interface Refusal {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly headers?: Readonly<Record<string, string>>
  /** Instead of the error. */
  readonly body?: string
}

const xmlText = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")

const errorXml = (code: string, message: string) =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${xmlText(message)}</Message></Error>`

/** What the program would add by itself. */
const NOT_SIGNED = { "content-length": true }

/** What it would leave out by itself, although S3 takes it. */
const NOT_LEFT_OUT = { range: true }

const signed = (request: IncomingMessage, body: Buffer, keys: S3Credentials): boolean => {
  const { authorization = "" } = request.headers
  const [, id, region, names] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/\d{8}\/([^/]+)\/s3\/aws4_request,SignedHeaders=([a-z0-9;-]+),/.exec(
      authorization,
    ) ?? []
  if (id !== keys.accessKeyId || names === undefined) return false
  const headers = Object.fromEntries(names.split(";").map((name) => [name, request.headers[name]]))
  if ((request.headers["x-amz-security-token"] ?? null) !== keys.sessionToken) return false
  if (request.headers["x-amz-content-sha256"] !== hash("sha256", body)) return false
  const again = aws4.sign(
    {
      service: "s3",
      region,
      method: request.method,
      path: request.url,
      headers,
      extraHeadersToIgnore: NOT_SIGNED,
      extraHeadersToInclude: NOT_LEFT_OUT,
    },
    { accessKeyId: id, secretAccessKey: keys.secretAccessKey },
  )
  const signatureOf = (text = "") => /Signature=([0-9a-f]{64})$/.exec(text)?.[1]
  return signatureOf(authorization) === signatureOf(again.headers["Authorization"])
}

/** A page of a list; keys with a slash after the prefix are not in it, as with a delimiter. */
const listXml = (keys: ReadonlyArray<string>, query: URLSearchParams, most: number): string => {
  const prefix = query.get("prefix") ?? ""
  const after = query.get("continuation-token") ?? query.get("start-after") ?? ""
  const found = keys
    .filter((key) => key.startsWith(prefix) && key > after && !key.slice(prefix.length).includes("/"))
    .toSorted()
  const page = found.slice(0, Math.min(most, Number(query.get("max-keys"))))
  const isCut = page.length < found.length
  const contents = page.map((key) => `<Contents><Key>${xmlText(key)}</Key><Size>1</Size></Contents>`).join("")
  const next = isCut ? `<NextContinuationToken>${xmlText(page.at(-1)!)}</NextContinuationToken>` : ""
  return `<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult><Name>events</Name><IsTruncated>${isCut}</IsTruncated>${next}${contents}</ListBucketResult>`
}

/** `bytes=0-9`, or the last bytes as `bytes=-10`. */
const partOf = (object: Buffer, range: string): readonly [number, Buffer, Refusal["headers"]] => {
  const [, first = "", last = ""] = /^bytes=(\d*)-(\d+)$/.exec(range)!
  const from = first === "" ? Math.max(0, object.length - Number(last)) : Number(first)
  const to = first === "" ? object.length : Math.min(object.length, Number(last) + 1)
  return [206, object.subarray(from, to), { "content-range": `bytes ${from}-${to - 1}/${object.length}` }]
}

/** One bucket, `events`, by URLs with its name in the path. */
export const startS3 = async () => {
  const objects = new Map<string, Buffer>()
  const service = {
    /** Keys and contents. */
    objects,
    endpoint: "",
    /** Those that it accepts. */
    keys: S3_KEYS,
    /** Whether it refuses this request. */
    refuse: ((): Refusal | null => null) as (request: IncomingMessage) => Refusal | null,
    /** Whether it never responds to this request. */
    silent: ((): boolean => false) as (request: IncomingMessage) => boolean,
    /** The most keys in a page of a list. */
    pageKeys: 1000,
    /** What was requested: method and path. */
    requests: [] as Array<string>,
    /** The names of files below a prefix, in order. */
    names: (prefix: string) => [...objects.keys()].filter((key) => key.startsWith(prefix)).toSorted(),
    close: () => Promise.resolve(),
  }
  const answer = (request: IncomingMessage, body: Buffer): readonly [number, string | Buffer, Refusal["headers"]?] => {
    service.requests.push(`${request.method} ${request.url}`)
    const refused = service.refuse(request)
    if (refused !== null) {
      return [refused.status, refused.body ?? errorXml(refused.code, refused.message), refused.headers]
    }
    if (!signed(request, body, service.keys)) {
      return [403, errorXml("SignatureDoesNotMatch", "The request signature we calculated does not match.")]
    }
    const url = new URL(request.url!, "http://s3")
    if (!/^\/events(\/|$)/.test(url.pathname)) return [404, errorXml("NoSuchBucket", "The bucket does not exist.")]
    const key = decodeURIComponent(url.pathname.slice("/events/".length))
    if (request.method === "PUT") {
      objects.set(key, body)
      return [200, ""]
    }
    if (request.method === "DELETE") {
      objects.delete(key)
      return [204, ""]
    }
    const { range } = request.headers
    if (range !== undefined) {
      const object = objects.get(key)
      return object === undefined ? [404, errorXml("NoSuchKey", "The key does not exist.")] : partOf(object, range)
    }
    return [200, listXml([...objects.keys()], url.searchParams, service.pageKeys)]
  }
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      if (service.silent(request)) return
      const [status, text, headers = {}] = answer(request, Buffer.concat(chunks))
      response.writeHead(status, { "content-type": "application/xml", ...headers }).end(text)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  service.endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  service.close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return service
}

/** A running service. */
export type S3Service = Awaited<ReturnType<typeof startS3>>
