/**
 * Resolves a host name: the hosts file, `localhost`, then the name servers, queried by c-ares in a separate channel. A
 * name server that never responds costs its own lookup a few seconds and nothing else (the system's `getaddrinfo` would
 * block Node's few threads for everyone).
 */
import { Resolver } from "node:dns/promises"
import { readFile } from "node:fs/promises"
import { Clock, Context, Effect, Layer } from "effect"
import { parseIp } from "@data-cabinet/core/network/IpAddress"
import { OutgoingError } from "./OutgoingError.ts"

export interface NameLookupOptions {
  /** `127.0.0.1:5353`; default: the system's. */
  readonly servers?: ReadonlyArray<string>
  readonly hostsFile?: string
  /** Over all tries. Default 5,000. */
  readonly deadlineMillis?: number
}

export class NameLookup extends Context.Service<
  NameLookup,
  {
    /** Every address of the name, at least one and no more than 64; fails with `name_not_found`. */
    readonly addresses: (name: string) => Effect.Effect<ReadonlyArray<string>, OutgoingError>
  }
>()("@data-cabinet/delivery/outgoing/NameLookup") {}

/** All addresses are checked at every request, and a name server may return thousands: no legitimate host has this many. */
const MAX_ADDRESSES = 64

/** How long a result is reused, in milliseconds. The connected address is still checked each time. */
const CACHE_MILLIS = 1000
const MAX_CACHED_NAMES = 1000

const HOSTS_FILE = process.platform === "win32" ? "C:\\Windows\\System32\\drivers\\etc\\hosts" : "/etc/hosts"

/** The addresses of a name in a hosts file. */
export const inHostsFile = (file: string, name: string): ReadonlyArray<string> =>
  file
    .split("\n")
    .map((line) => line.replace(/#.*/, "").trim().split(/\s+/))
    .filter(([address = "", ...names]) => parseIp(address) !== null && names.some((n) => n.toLowerCase() === name))
    .map(([address = ""]) => address)

const notFound = (message: string) => new OutgoingError({ code: "name_not_found", message, peer: null })

const ask = (name: string, options: NameLookupOptions) =>
  Effect.suspend(() => {
    const resolver = new Resolver({ timeout: 2000, tries: 2 })
    if (options.servers !== undefined) resolver.setServers(options.servers)
    const both = Effect.promise(() => Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]))
    const deadline = options.deadlineMillis ?? 5000
    return both.pipe(
      Effect.timeoutOrElse({
        duration: deadline,
        orElse: () => Effect.fail(notFound(`the name servers did not respond for ${name} within ${deadline / 1000} s`)),
      }),
      Effect.ensuring(Effect.sync(() => resolver.cancel())),
      Effect.flatMap((lookups) => {
        const found = lookups.flatMap((lookup) => (lookup.status === "fulfilled" ? lookup.value : []))
        if (found.length > 0) return Effect.succeed(found)
        const codes = lookups.map((lookup) => (lookup.status === "rejected" ? String(lookup.reason?.code) : ""))
        const words = codes.some((code) => code === "ETIMEOUT")
          ? `the name servers did not respond for ${name}`
          : `the name ${name} has no address (${[...new Set(codes)].join(", ")})`
        return Effect.fail(notFound(words))
      }),
    )
  })

export const layer = (options: NameLookupOptions = {}) =>
  Layer.sync(NameLookup, () => {
    const kept = new Map<string, { readonly until: number; readonly addresses: ReadonlyArray<string> }>()
    const hosts = Effect.promise(() => readFile(options.hostsFile ?? HOSTS_FILE, "utf8").catch(() => ""))
    return NameLookup.of({
      addresses: Effect.fnUntraced(function* (given) {
        const name = given.toLowerCase().replace(/\.$/, "")
        const now = yield* Clock.currentTimeMillis
        const known = kept.get(name)
        if (known !== undefined && known.until > now) return known.addresses
        const written = inHostsFile(yield* hosts, name)
        const local = name === "localhost" || name.endsWith(".localhost") ? ["127.0.0.1", "::1"] : []
        const addresses = written.length > 0 ? written : local.length > 0 ? local : yield* ask(name, options)
        if (addresses.length > MAX_ADDRESSES) {
          return yield* notFound(`the name ${name} has ${addresses.length} addresses, more than ${MAX_ADDRESSES}`)
        }
        if (kept.size >= MAX_CACHED_NAMES) kept.clear()
        kept.set(name, { until: now + CACHE_MILLIS, addresses })
        return addresses
      }),
    })
  })
