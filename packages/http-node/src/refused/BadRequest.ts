/**
 * The answers to what is no request, or none that may be taken: in the form of whom it was addressed to, the intake or the
 * API, although no route has seen it. They say what is wrong and never repeat what was sent.
 */
import { STATUS_CODES } from "node:http"
import { jsonLine } from "../api/JsonLine.ts"

/** In whose form the answer is written. */
export type Face = "intake" | "api"

/** `408`: it did not come in time; `431`: its line and headers are too long; `400`: all else. */
export interface Refusal {
  readonly status: 400 | 408 | 431
  readonly detail: string
}

/** By the target of a request line, whatever the cabinet is mounted below. */
export const faceOf = (target: string): Face => (INTAKE.test(target) ? "intake" : "api")

const INTAKE = /^[^?#]*\/webhook(?:[/?#]|$)/

const bodyOf = ({ status, detail }: Refusal, face: Face): string =>
  jsonLine(
    face === "intake"
      ? { ok: false, error: status === 408 ? "timeout" : "bad_request", detail }
      : { error: { type: "invalid_request", code: "bad_request", message: detail, param: null } },
  )

/** Its body, and its headers by their names. The connection ends with it: where the next request would begin nobody knows. */
export const refusalAnswer = (refusal: Refusal, face: Face) => {
  const body = bodyOf(refusal, face)
  const headers: Readonly<Record<string, string>> = {
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    ...(face === "intake"
      ? { "access-control-allow-origin": "*", "access-control-expose-headers": "Retry-After" }
      : {}),
    connection: "close",
  }
  return { body, headers }
}

/** The same as it goes over the wire, for a socket that has no response. */
export const refusalText = (refusal: Refusal, face: Face): string => {
  const { body, headers } = refusalAnswer(refusal, face)
  const lines = Object.entries({ date: new Date().toUTCString(), ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  )
  return `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\n${lines.join("\r\n")}\r\n\r\n${body}`
}
