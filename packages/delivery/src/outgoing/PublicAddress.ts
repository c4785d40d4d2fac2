/**
 * Whether an IP address is public, and if not, why, in words. Delivery and polling share this rule.
 *
 * Decision: docs/decisions/0037-allowed-networks-are-a-process-setting.md
 */
import { contains, type IpAddress, type Network, parseIp, parseNetwork } from "@data-cabinet/core/network/IpAddress"
import { SPECIAL_NETWORKS, type SpecialNetwork } from "./SpecialNetworks.ts"

/** All IPv6 unicast space that was ever allocated. */
const GLOBAL_UNICAST = parseNetwork("2000::/3")!
const TRANSLATED = parseNetwork("64:ff9b::/96")!

const narrowest = (ip: IpAddress): SpecialNetwork | undefined =>
  SPECIAL_NETWORKS.filter((network) => contains(network, ip)).sort((a, b) => b.prefix - a.prefix)[0]

const whyNot = (ip: IpAddress): string | null => {
  const special = narrowest(ip)
  if (special !== undefined && !special.reachable) return `it is in ${special.text} (${special.name})`
  if (contains(TRANSLATED, ip)) {
    const inner = whyNot({ family: 4, value: ip.value & 0xffffffffn })
    return inner === null ? null : `the IPv4 address inside it is not public: ${inner}`
  }
  if (special === undefined && ip.family === 6 && !contains(GLOBAL_UNICAST, ip)) {
    return "it is outside 2000::/3, the addresses in use"
  }
  return null
}

/** Null for a public address, or one in an allowed network; otherwise the reason. */
export const whyNotPublic = (address: string, allowed: ReadonlyArray<Network>): string | null => {
  const ip = parseIp(address)
  if (ip === null) return "it is not an IP address"
  return allowed.some((network) => contains(network, ip)) ? null : whyNot(ip)
}
