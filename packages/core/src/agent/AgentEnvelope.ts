/**
 * Revision 2026-07-28 of the Model Context Protocol, which has no handshake: each request names its revision and its client's
 * capabilities in `params._meta`. Over HTTP, headers repeat parts of the body, for proxies that do not read bodies. A request
 * without a revision in `_meta` belongs to the older ones.
 */
import { Result } from "effect"
import type { Json, JsonObject } from "../json/Json.ts"
import { EMPTY_OBJECT } from "../json/Json.ts"

/** The revision without a handshake. */
export const STATELESS = "2026-07-28"

/** The revisions that begin with `initialize`, newest first. */
export const HANDSHAKES: ReadonlyArray<string> = ["2025-11-25", "2025-06-18", "2025-03-26"]

/** All revisions, newest first. */
export const PROTOCOL_VERSIONS: ReadonlyArray<string> = [STATELESS, ...HANDSHAKES]

const VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
const CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
/** Where a result names its server. */
export const SERVER_KEY = "io.modelcontextprotocol/serverInfo"

/** Headers of a request that repeat its body; undefined if not sent. */
export interface AgentHeaders {
  readonly version: string | undefined
  readonly method: string | undefined
  readonly name: string | undefined
}

/** Why a request's revision cannot be served: `kind` is its error code, `data` what a client may read. */
export interface EnvelopeError {
  readonly kind: "invalid" | "params" | "header" | "version"
  readonly message: string
  readonly data?: object
}

interface Sent {
  /** False for a notification, which needs no headers. */
  readonly isRequest: boolean
  readonly method: string
  readonly params: JsonObject
}

const asObject = (value: Json | undefined): JsonObject | undefined =>
  value instanceof Map ? (value as JsonObject) : undefined

const fail = (kind: EnvelopeError["kind"], message: string, data?: object) =>
  Result.fail<EnvelopeError>(data === undefined ? { kind, message } : { kind, message, data })

const mismatch = (header: string, body: string) =>
  fail("header", `The headers and the body disagree: ${body}.`, { mismatch: { header, body } })

/**
 * Whether the message belongs to the revision without a handshake, or why it fits none. `headers` is null without HTTP.
 */
export const hasNoHandshake = (sent: Sent, headers: AgentHeaders | null): Result.Result<boolean, EnvelopeError> => {
  const meta = asObject(sent.params.get("_meta"))
  if (meta?.has(VERSION_KEY) === true) return claimed(sent, meta, headers)
  const version = headers?.version
  if (version === undefined || HANDSHAKES.includes(version)) return Result.succeed(false)
  if (version !== STATELESS) {
    return fail("invalid", `MCP-Protocol-Version must be one of ${PROTOCOL_VERSIONS.join(", ")}.`)
  }
  if (!sent.isRequest) return Result.succeed(true)
  if (sent.method === "initialize") return mismatch(version, `initialize does not exist in revision ${STATELESS}`)
  const missing = [VERSION_KEY, ...((meta ?? EMPTY_OBJECT).has(CAPABILITIES_KEY) ? [] : [CAPABILITIES_KEY])]
  return fail("params", `Revision ${STATELESS} requires ${missing.join(" and ")} in params._meta.`, {
    envelope: { missing },
  })
}

const claimed = (sent: Sent, meta: JsonObject, headers: AgentHeaders | null): Result.Result<boolean, EnvelopeError> => {
  const version = meta.get(VERSION_KEY)
  if (typeof version !== "string") return malformed(VERSION_KEY, "must be a text")
  if (sent.isRequest && asObject(meta.get(CAPABILITIES_KEY)) === undefined) {
    return malformed(CAPABILITIES_KEY, meta.has(CAPABILITIES_KEY) ? "must be an object" : "is missing")
  }
  if (headers?.version !== undefined && headers.version !== version) {
    return mismatch(headers.version, `_meta names the revision ${version}, MCP-Protocol-Version ${headers.version}`)
  }
  if (version !== STATELESS) {
    return fail("version", `Requests that name their revision in _meta must name ${STATELESS}, not ${version}.`, {
      supported: PROTOCOL_VERSIONS,
      requested: version,
    })
  }
  return headers === null || !sent.isRequest ? Result.succeed(true) : repeated(sent, headers)
}

const malformed = (key: string, problem: string) =>
  fail("params", `${key} in params._meta ${problem}.`, { envelope: { key, problem } })

/** The headers that each request needs, in the protocol's order. */
const repeated = ({ method, params }: Sent, headers: AgentHeaders): Result.Result<boolean, EnvelopeError> => {
  if (headers.version === undefined) return mismatch("(missing)", "MCP-Protocol-Version is missing")
  if (headers.method === undefined) return mismatch("(missing)", "Mcp-Method is missing")
  if (headers.method.trim() !== method) {
    return mismatch(headers.method, `the method is ${method}, and Mcp-Method says ${headers.method}`)
  }
  const name = method === "tools/call" ? params.get("name") : method === "resources/read" ? params.get("uri") : null
  if (typeof name !== "string") return Result.succeed(true)
  if (headers.name === undefined) return mismatch("(missing)", "Mcp-Name is missing")
  const decoded = plainHeader(headers.name.trim())
  return decoded === name
    ? Result.succeed(true)
    : mismatch(headers.name, `the body names ${name}, and Mcp-Name says ${decoded ?? "no readable Base64"}`)
}

const ENCODED = /^=\?base64\?((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)\?=$/

const decoder = new TextDecoder("utf-8", { fatal: true })

/** A header's value, which is Base64 between `=?base64?` and `?=` if it is not plain ASCII; undefined if unreadable. */
const plainHeader = (value: string): string | undefined => {
  if (!value.startsWith("=?base64?")) return value
  const [, encoded] = ENCODED.exec(value) ?? []
  if (encoded === undefined) return undefined
  try {
    return decoder.decode(Buffer.from(encoded, "base64"))
  } catch {
    return undefined
  }
}
