/**
 * The address of a request's client: the socket's peer, unless that is a trusted proxy. Then `X-Forwarded-For` or
 * `Forwarded` is read from the right, past trusted proxies only, so that nothing a client writes itself is believed.
 */
import { isIP, SocketAddress } from "node:net"
import { contains, type IpAddress, type Network, parseIp } from "@data-cabinet/core/network/IpAddress"
import type { Request } from "./Request.ts"

/** Whether an address (in plain form, see `plainAddress`) belongs to a trusted proxy. */
export type TrustedProxies = (address: string) => boolean

export const NO_PROXIES: TrustedProxies = () => false

/** The block of IPv6 that holds the mapped IPv4 addresses. */
const MAPPED = 0xffffn << 32n

/** The proxies within these networks; an IPv6 network also contains IPv4 addresses, in their mapped form. */
export const trustedProxies = (networks: ReadonlyArray<Network>): TrustedProxies => {
  if (networks.length === 0) return NO_PROXIES
  const holds = (ip: IpAddress) => networks.some((network) => contains(network, ip))
  return (address) => {
    const ip = parseIp(address)
    return ip !== null && (holds(ip) || (ip.family === 4 && holds({ family: 6, value: MAPPED | ip.value })))
  }
}

/**
 * The canonical spelling of an address: IPv4 even if it was mapped into IPv6, IPv6 compressed and without zone or brackets,
 * no port. Undefined if it is not an address.
 */
export const plainAddress = (text: string): string | undefined => {
  if (isIP(text) === 4) return text
  let bare = text.trim()
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(bare)
  if (bracketed !== null) bare = bracketed[1]!
  else if (/^[\d.]+:\d+$/.test(bare)) bare = bare.slice(0, bare.indexOf(":"))
  const zone = bare.indexOf("%")
  if (zone >= 0) bare = bare.slice(0, zone)
  const family = isIP(bare)
  if (family === 4) return bare
  if (family === 0) return undefined
  const { address } = new SocketAddress({ address: bare, family: "ipv6" })
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  return mapped === null ? address : mapped[1]!
}

/** The client's address in plain form; null when even the peer is unknown (a request created without a socket). */
export const clientAddress = (
  { peer, headers }: Pick<Request, "peer" | "headers">,
  trusted: TrustedProxies,
): string | null => {
  const address = peer === undefined ? undefined : plainAddress(peer)
  return address === undefined ? null : resolveClient(address, headers, trusted)
}

/**
 * The same by value. If both headers are present and disagree, the client has forged one of them: then the nearest
 * proxy's address counts as the client's.
 */
export const resolveClient = (peer: string, headers: Request["headers"], trusted: TrustedProxies): string => {
  if (!trusted(peer)) return peer
  const xForwardedFor = headers["x-forwarded-for"]
  const forwarded = headers["forwarded"]
  const byList = xForwardedFor === undefined ? undefined : walk(peer, xForwardedFor.split(","), trusted)
  const byForwarded = forwarded === undefined ? undefined : walk(peer, forwardedFor(forwarded), trusted)
  if (byList !== undefined && byForwarded !== undefined) return byList === byForwarded ? byList : peer
  return byList ?? byForwarded ?? peer
}

const walk = (peer: string, hops: ReadonlyArray<string>, trusted: TrustedProxies): string => {
  let address = peer
  for (const hop of hops.toReversed()) {
    const next = plainAddress(hop)
    if (next === undefined) return address
    address = next
    if (!trusted(address)) return address
  }
  return address
}

// RFC 7239: commas separate elements, semicolons separate pairs, and both may occur inside quotes.
const forwardedFor = (header: string): ReadonlyArray<string> =>
  split(header, ",").map((element) => {
    for (const pair of split(element, ";")) {
      const equals = pair.indexOf("=")
      if (equals === -1 || pair.slice(0, equals).trim().toLowerCase() !== "for") continue
      const value = pair.slice(equals + 1).trim()
      return value.startsWith('"') ? value.slice(1, -1).replaceAll(/\\(.)/g, "$1") : value
    }
    return ""
  })

const split = (text: string, at: string): ReadonlyArray<string> => {
  const parts = [""]
  let quoted = false
  for (let i = 0; i < text.length; i++) {
    const character = text[i]!
    if (character === '"') quoted = !quoted
    if (character === at && !quoted) parts.push("")
    else {
      parts[parts.length - 1] += character
      if (character === "\\" && quoted && i + 1 < text.length) parts[parts.length - 1] += text[++i]!
    }
  }
  return parts
}

const isLoopback = (address: string): boolean => address === "::1" || /^127\.\d+\.\d+\.\d+$/.test(address)

/** Headers that proxies add; a direct client that sends one loses access by its own doing. */
const PASSED_ON = ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip"]

/**
 * Whether a request comes from this machine and was meant for it: the peer is a loopback address, so is the host it
 * names, and no proxy header says that it was forwarded. So neither a proxy on the same machine nor a page open in a
 * browser there can make requests on a stranger's behalf.
 */
export const isLocalRequest = ({ peer, headers }: Pick<Request, "peer" | "headers">): boolean => {
  const address = peer === undefined ? undefined : plainAddress(peer)
  if (address === undefined || !isLoopback(address)) return false
  if (PASSED_ON.some((name) => headers[name] !== undefined)) return false
  const host = (headers["host"] ?? "").toLowerCase()
  const named = plainAddress(host)
  return named === undefined ? /^localhost(:\d+)?$/.test(host) : isLoopback(named)
}
