/**
 * Whether a request comes from this very machine and was meant for it: the peer is a loopback address, the host it names is
 * one too, and no proxy says that it only passed the request on. So neither a proxy on the same machine nor a page that a
 * browser there has open asks in a stranger's name.
 */
import type { Request } from "../server/Request.ts"
import { plainAddress } from "./ClientAddress.ts"

const isLoopback = (address: string): boolean => address === "::1" || /^127\.\d+\.\d+\.\d+$/.test(address)

/** What proxies add; a client that sends one has only itself to blame. */
const PASSED_ON = ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip"]

export const isFromHere = ({ peer, headers }: Pick<Request, "peer" | "headers">): boolean => {
  const address = peer === undefined ? undefined : plainAddress(peer)
  if (address === undefined || !isLoopback(address)) return false
  if (PASSED_ON.some((name) => headers[name] !== undefined)) return false
  const host = (headers["host"] ?? "").toLowerCase()
  const named = plainAddress(host)
  return named === undefined ? /^localhost(:\d+)?$/.test(host) : isLoopback(named)
}
