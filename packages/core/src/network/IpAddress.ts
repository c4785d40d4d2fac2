/** IP addresses and networks as numbers, so that all spellings of an address are equal. */
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

/** Four decimal numbers up to 255 without leading zeros, which some programs read as octal. */
const V4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/

const GROUPS = /^(?:[0-9a-f]{1,4}(?::(?!$)|$))*$/i

/** The maximum length of an address as text, with an IPv4 address at its end. */
const MAX_LENGTH = 45

const v4 = (text: string): bigint | null =>
  V4.test(text) ? BigInt(text.split(".").reduce((sum, part) => sum * 256 + Number(part), 0)) : null

const groupsOf = (text: string): ReadonlyArray<string> => (text === "" ? [] : text.split(":"))

const v6 = (text: string): bigint | null => {
  const dotted = text.includes(".") ? text.slice(text.lastIndexOf(":") + 1) : null
  const embedded = dotted === null ? 0n : v4(dotted)
  if (embedded === null) return null
  const plain =
    dotted === null
      ? text
      : `${text.slice(0, -dotted.length)}${(embedded >> 16n).toString(16)}:${(embedded & 0xffffn).toString(16)}`
  const [head = "", tail, ...more] = plain.split("::")
  if (more.length > 0 || !GROUPS.test(head) || (tail !== undefined && !GROUPS.test(tail))) return null
  const before = groupsOf(head)
  const after = groupsOf(tail ?? "")
  const count = before.length + after.length
  // The two colons replace at least one group.
  if (tail === undefined ? count !== 8 : count > 7) return null
  const zeros = Array.from({ length: 8 - count }, () => "0")
  return [...before, ...zeros, ...after].reduce((sum, group) => sum * 65536n + BigInt(`0x${group}`), 0n)
}

/** Parses an address, optionally in the brackets of a URL; null for anything else, including an IPv6 zone. */
export const parseIp = (text: string): IpAddress | null => {
  const bare = text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text
  if (bare.length > MAX_LENGTH) return null
  const family = bare.includes(":") ? 6 : 4
  const value = family === 6 ? v6(bare) : v4(bare)
  return value === null ? null : { family, value }
}

/** Parses `10.0.0.0/8`, or a single address; null for anything else. Bits after the prefix are ignored. */
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

/** True if the address is in the network. */
export const contains = (network: Network, ip: IpAddress): boolean => {
  if (network.family !== ip.family) return false
  const rest = BigInt(BITS[ip.family] - network.prefix)
  return ip.value >> rest === network.base >> rest
}

/** Parses a list of networks such as `10.0.0.0/8, fd00::/8`; a string result is the word that could not be parsed. */
export const parseNetworks = (text: string): ReadonlyArray<Network> | string => {
  const networks: Array<Network> = []
  for (const word of text.split(/[\s,]+/).filter((part) => part !== "")) {
    const network = parseNetwork(word)
    if (network === null) return word
    networks.push(network)
  }
  return networks
}
