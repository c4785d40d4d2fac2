/**
 * Responses to requests that are malformed or not acceptable, in the format of the addressed interface, the intake or
 * the API, although no route has seen them. They name the fault and never echo the request.
 */
import { STATUS_CODES } from "node:http"

/** The interface whose format the response has. */
export type ResponseFormat = "intake" | "api"

/** `408`: it did not arrive in time; `431`: its request line and headers are too long; `400`: everything else. */
export interface Refusal {
  readonly status: 400 | 408 | 431
  readonly detail: string
}

/** Decided by the target of a request line, whatever the cabinet's mount path. */
export const formatOf = (target: string): ResponseFormat => (INTAKE.test(target) ? "intake" : "api")

const INTAKE = /^[^?#]*\/webhook(?:[/?#]|$)/

const bodyOf = ({ status, detail }: Refusal, format: ResponseFormat): string =>
  jsonLine(
    format === "intake"
      ? { ok: false, error: status === 408 ? "timeout" : "bad_request", detail }
      : { error: { type: "invalid_request", code: "bad_request", message: detail, param: null } },
  )

/** The response's body, and its headers by name. It closes the connection: the start of the next request is unknown. */
export const refusalResponse = (refusal: Refusal, format: ResponseFormat) => {
  const body = bodyOf(refusal, format)
  const headers: Readonly<Record<string, string>> = {
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    ...(format === "intake"
      ? { "access-control-allow-origin": "*", "access-control-expose-headers": "Retry-After" }
      : {}),
    connection: "close",
  }
  return { body, headers }
}

/** The same as bytes on the wire, for a socket without a response. */
export const refusalText = (refusal: Refusal, format: ResponseFormat): string => {
  const { body, headers } = refusalResponse(refusal, format)
  const lines = Object.entries({ date: new Date().toUTCString(), ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  )
  return `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\n${lines.join("\r\n")}\r\n\r\n${body}`
}

/** JSON as the body of a response. It ends with a newline, so that a terminal's prompt begins on the next line. */
export const jsonLine = (value: object): string => `${JSON.stringify(value)}\n`
