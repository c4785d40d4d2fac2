/**
 * Every block of the two IANA special-purpose address registries (IPv4 and IPv6), and further refused blocks.
 * SECURITY.md shows this table; a test keeps the two in step.
 */
import { type Network, parseNetwork } from "@data-cabinet/core/network/IpAddress"

export interface SpecialNetwork extends Network {
  readonly name: string
  /** "Globally Reachable: True" in the registry. The narrowest block that holds an address decides. */
  readonly reachable: boolean
}

const YES = true
const NO = false

const ROWS: ReadonlyArray<readonly [block: string, name: string, reachable: boolean]> = [
  // IANA IPv4 Special-Purpose Address Registry
  ["0.0.0.0/8", "this network", NO],
  ["0.0.0.0/32", "this host on this network", NO],
  ["10.0.0.0/8", "private use", NO],
  ["100.64.0.0/10", "shared address space", NO],
  ["127.0.0.0/8", "loopback", NO],
  ["169.254.0.0/16", "link local", NO],
  ["172.16.0.0/12", "private use", NO],
  ["192.0.0.0/24", "IETF protocol assignments", NO],
  ["192.0.0.0/29", "IPv4 service continuity prefix", NO],
  ["192.0.0.8/32", "IPv4 dummy address", NO],
  ["192.0.0.9/32", "port control protocol anycast", YES],
  ["192.0.0.10/32", "TURN anycast", YES],
  ["192.0.0.170/32", "NAT64/DNS64 discovery", NO],
  ["192.0.0.171/32", "NAT64/DNS64 discovery", NO],
  ["192.0.2.0/24", "documentation (TEST-NET-1)", NO],
  ["192.31.196.0/24", "AS112-v4", YES],
  ["192.52.193.0/24", "AMT", YES],
  ["192.88.99.0/24", "deprecated (6to4 relay anycast)", NO],
  ["192.88.99.2/32", "6a44 relay anycast", NO],
  ["192.168.0.0/16", "private use", NO],
  ["192.175.48.0/24", "direct delegation AS112 service", YES],
  ["198.18.0.0/15", "benchmarking", NO],
  ["198.51.100.0/24", "documentation (TEST-NET-2)", NO],
  ["203.0.113.0/24", "documentation (TEST-NET-3)", NO],
  ["240.0.0.0/4", "reserved", NO],
  ["255.255.255.255/32", "limited broadcast", NO],
  // IANA IPv6 Special-Purpose Address Registry
  ["::1/128", "loopback", NO],
  ["::/128", "unspecified address", NO],
  ["::ffff:0:0/96", "IPv4-mapped address", NO],
  ["64:ff9b::/96", "IPv4-IPv6 translation (the IPv4 address inside decides as well)", YES],
  ["64:ff9b:1::/48", "IPv4-IPv6 translation, local use", NO],
  ["100::/64", "discard only", NO],
  ["100:0:0:1::/64", "dummy IPv6 prefix", NO],
  ["2001::/23", "IETF protocol assignments", NO],
  ["2001::/32", "Teredo", NO],
  ["2001:1::1/128", "port control protocol anycast", YES],
  ["2001:1::2/128", "TURN anycast", YES],
  ["2001:1::3/128", "DNS-SD service registration protocol anycast", YES],
  ["2001:2::/48", "benchmarking", NO],
  ["2001:3::/32", "AMT", YES],
  ["2001:4:112::/48", "AS112-v6", YES],
  ["2001:10::/28", "deprecated (previously ORCHID)", NO],
  ["2001:20::/28", "ORCHIDv2", YES],
  ["2001:30::/28", "drone remote ID protocol entity tags", YES],
  ["2001:db8::/32", "documentation", NO],
  ["2002::/16", "6to4", NO],
  ["2620:4f:8000::/48", "direct delegation AS112 service", YES],
  ["3fff::/20", "documentation", NO],
  ["5f00::/16", "segment routing SIDs", NO],
  ["fc00::/7", "unique local", NO],
  ["fe80::/10", "link-local unicast", NO],
  // In neither registry
  ["224.0.0.0/4", "multicast", NO],
  ["168.63.129.16/32", "virtual address of a cloud's host agent", NO],
  ["::/96", "IPv4-compatible address, deprecated", NO],
  ["::ffff:0:0:0/96", "IPv4-translated address", NO],
  ["fec0::/10", "site local, deprecated", NO],
  ["ff00::/8", "multicast", NO],
]

export const SPECIAL_NETWORKS: ReadonlyArray<SpecialNetwork> = ROWS.map(([block, name, reachable]) => ({
  ...parseNetwork(block)!,
  name,
  reachable,
}))
