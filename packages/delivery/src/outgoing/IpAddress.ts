/** IP addresses and networks as numbers, so that one spelling of an address is as good as another. */
import { isIP } from "node:net"

export interface IpAddress {
  readonly family: 4 | 6
  readonly value: bigint
}

/** A block of addresses: those that share the first `prefix` bits with `base`. */
export interface Network {
  readonly text: string
  readonly family: 4 | 6
  readonly base: bigint
  readonly prefix: number
}

const BITS = { 4: 32, 6: 128 } as const

const v4 = (text: string): bigint => text.split(".").reduce((sum, part) => sum * 256n + BigInt(part), 0n)

const v6 = (text: string): bigint => {
  const dotted = text.includes(".") ? text.slice(text.lastIndexOf(":") + 1) : null
  const embedded = dotted === null ? 0n : v4(dotted)
  const plain =
    dotted === null
      ? text
      : `${text.slice(0, -dotted.length)}${(embedded >> 16n).toString(16)}:${(embedded & 0xffffn).toString(16)}`
  const [head = "", tail] = plain.split("::")
  const groups = (part: string) => (part === "" ? [] : part.split(":"))
  const before = groups(head)
  const after = tail === undefined ? [] : groups(tail)
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => "0")
  return [...before, ...zeros, ...after].reduce((sum, group) => sum * 65536n + BigInt(`0x${group}`), 0n)
}

/** Reads an address, brackets of a URL allowed; null for anything else, an IPv6 zone too. */
export const parseIp = (text: string): IpAddress | null => {
  const bare = text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text
  if (bare.includes("%")) return null
  const family = isIP(bare)
  if (family === 4) return { family, value: v4(bare) }
  return family === 6 ? { family, value: v6(bare) } : null
}

/** Reads `10.0.0.0/8`, or one address; null for anything else. Bits after the prefix are ignored. */
export const parseNetwork = (text: string): Network | null => {
  const [address = "", length, ...rest] = text.trim().split("/")
  const ip = parseIp(address)
  if (ip === null || rest.length > 0) return null
  const bits = BITS[ip.family]
  if (length !== undefined && (!/^\d{1,3}$/.test(length) || Number(length) > bits)) return null
  const prefix = length === undefined ? bits : Number(length)
  const rest2 = BigInt(bits - prefix)
  return { text: text.trim(), family: ip.family, base: (ip.value >> rest2) << rest2, prefix }
}

export const contains = (network: Network, ip: IpAddress): boolean => {
  if (network.family !== ip.family) return false
  const rest = BigInt(BITS[ip.family] - network.prefix)
  return ip.value >> rest === network.base >> rest
}
