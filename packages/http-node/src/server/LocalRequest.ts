/**
 * Whether a request comes from this machine and was meant for it: the peer is a loopback address, so is the host it
 * names, and no proxy header says that it was forwarded. So neither a proxy on the same machine nor a page open in a
 * browser there can make requests on a stranger's behalf.
 */
import type { Request } from "./Request.ts"
import { plainAddress } from "./ClientAddress.ts"

const isLoopback = (address: string): boolean => address === "::1" || /^127\.\d+\.\d+\.\d+$/.test(address)

/** Headers that proxies add; a direct client that sends one loses access by its own doing. */
const PASSED_ON = ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip"]

export const isLocalRequest = ({ peer, headers }: Pick<Request, "peer" | "headers">): boolean => {
  const address = peer === undefined ? undefined : plainAddress(peer)
  if (address === undefined || !isLoopback(address)) return false
  if (PASSED_ON.some((name) => headers[name] !== undefined)) return false
  const host = (headers["host"] ?? "").toLowerCase()
  const named = plainAddress(host)
  return named === undefined ? /^localhost(:\d+)?$/.test(host) : isLoopback(named)
}
