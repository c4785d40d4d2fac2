/** The headers of what an agent's subscription is sent. */
import { USER_AGENT } from "./Courier.ts"
import { standardHeaders } from "./Signature.ts"

interface Signed {
  /** Repeats of one message have the same. */
  readonly id: string
  readonly subscription: string
  readonly secrets: ReadonlyArray<string>
  readonly body: Uint8Array
  /** The time of the request. */
  readonly seconds: number
}

/** Those of Standard Webhooks, and the subscription's number. */
export const agentHeaders = ({
  id,
  subscription,
  secrets,
  body,
  seconds,
}: Signed): Readonly<Record<string, string>> => ({
  "Content-Type": "application/json",
  "User-Agent": USER_AGENT,
  "X-MCP-Subscription-Id": subscription,
  ...standardHeaders(id, body, secrets, seconds),
})
