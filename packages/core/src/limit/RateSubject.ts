/**
 * The name under which a client address is counted: IPv4 by the address, IPv6 by the /64 that a single customer is
 * assigned.
 */

const expand = (address: string): ReadonlyArray<string> => {
  const [head = "", tail] = address.split("::")
  const left = head === "" ? [] : head.split(":")
  if (tail === undefined) return left
  const right = tail === "" ? [] : tail.split(":")
  return [...left, ...Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => "0"), ...right]
}

/** `ip:203.0.113.9`, `ip:2001:db8:0:1::/64`; an IPv4 address mapped into IPv6 counts as the IPv4 address it is. */
export const rateSubject = (ip: string): string => {
  const address = ip.toLowerCase().replace(/%.*$/, "")
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(address)
  if (mapped !== null) return `ip:${mapped[1]}`
  if (!address.includes(":")) return `ip:${address}`
  const prefix = expand(address)
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
  return `ip:${prefix.join(":")}::/64`
}
