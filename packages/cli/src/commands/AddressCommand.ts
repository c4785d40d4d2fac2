/** `cabinet address …`: who receives new events, and the outcomes of sending them. */
import type { Address, Subscription } from "@data-cabinet/core/delivery/Address"
import { Addresses } from "@data-cabinet/core/delivery/Addresses"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { card, columns } from "../output/Columns.ts"
import { report } from "../output/Report.ts"
import type { Style } from "../output/Style.ts"
import { CommandError } from "./CommandError.ts"
import { addressArgument, addressNamed, sourceNamed } from "./Named.ts"
import { confirmed, yes } from "./Confirm.ts"
import { log, ping, resend } from "./AddressDeliveryCommands.ts"
import { addressJson } from "@data-cabinet/core/delivery/DeliveryJson"
import { format, settingFlags, withCabinet } from "./Root.ts"
import { readUrl, requireUrl, urlFile } from "./UrlInput.ts"

const state = (address: Address): string => {
  if (address.pausedAt !== null) return "paused"
  return address.failingSince === null ? "working" : `failing since ${address.failingSince}`
}

const sourcesText = (sources: Subscription): string => (sources === "all" ? "all" : sources.join(", ") || "none")

const addressCard = (address: Address, style: Style): string =>
  card(
    [
      ["Address", `${address.id}  ${address.url}`],
      ["Signing secret", address.secret],
      ...(address.previousSecret === null
        ? []
        : [
            [
              "Previous secret",
              `${address.previousSecret.secret} (signs as well until ${address.previousSecret.until})`,
            ] as const,
          ]),
      ["Sources", sourcesText(address.sources)],
      ["State", state(address)],
      ["Made", address.createdAt],
    ],
    style,
  )

/** With its secrets. */
const showWhole = (address: Address) =>
  Effect.flatMap(format, (json) => report(json, addressJson(address, true), (style) => addressCard(address, style)))

const showChanged = (address: Address, words: string) =>
  Effect.flatMap(format, (json) => report(json, addressJson(address, false), () => words))

const url = Argument.String("URL").pipe(
  Argument.withDescription("A public http or https address; one that is a secret itself comes by --url-file"),
  Argument.optional,
)
const outgoing = settingFlags("allowedNetworks")

const sourceFlag = Flag.String("source").pipe(
  Flag.withMetavar("SOURCE"),
  Flag.withDescription(
    "Only events of this source, by number or name; may be given several times. Without it: all, those made later too",
  ),
  Flag.between(0, 10_000),
)

const allNamed = (sources: ReadonlyArray<string>) =>
  Effect.map(Effect.forEach(sources, sourceNamed), (ids): ReadonlyArray<number> => [...new Set(ids)])

const add = Command.make("add", { url, urlFile, sources: sourceFlag, ...outgoing }, (input) =>
  Effect.gen(function* () {
    // Read before anything is opened: a person may be typing it.
    const newUrl = yield* requireUrl(input.url, input.urlFile)
    yield* withCabinet(input, () =>
      Effect.gen(function* () {
        const sources = input.sources.length === 0 ? "all" : yield* allNamed(input.sources)
        yield* showWhole(yield* Addresses.use((addresses) => addresses.create({ url: newUrl, sources })))
      }),
    )
  }),
).pipe(Command.withDescription("Tell an address of every event from now on; shows the signing secret"))

const list = Command.make("list", {}, () =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const all = yield* Addresses.use((addresses) => addresses.list)
      yield* report(
        yield* format,
        all.map((address) => addressJson(address, false)),
        (style) =>
          columns(
            ["ID", "STATE", "SOURCES", "MADE", "URL"],
            all.map((one) => [String(one.id), state(one), sourcesText(one.sources), one.createdAt, one.url]),
            { style, none: "No delivery addresses yet. Add one with: cabinet address add URL" },
          ),
      )
    }),
  ),
).pipe(Command.withDescription("List the delivery addresses"))

const show = Command.make("show", { id: addressArgument }, (input) =>
  withCabinet({}, () =>
    Effect.flatMap(
      Effect.flatMap(addressNamed(input.id), (id) => Addresses.use((addresses) => addresses.get(id))),
      showWhole,
    ),
  ),
).pipe(Command.withDescription("Show an address with its signing secret"))

const set = Command.make(
  "set",
  {
    id: addressArgument,
    url: Flag.String("url").pipe(
      Flag.withMetavar("URL"),
      Flag.withDescription("Send to this address instead"),
      Flag.optional,
    ),
    urlFile,
    sources: sourceFlag,
    allSources: Flag.Boolean("all-sources").pipe(
      Flag.withoutNegation,
      Flag.withDescription("Events of all sources, those made later too"),
      Flag.withDefault(false),
    ),
    ...outgoing,
  },
  (input) =>
    Effect.gen(function* () {
      const newUrl = Option.getOrUndefined(yield* readUrl(input.url, input.urlFile, "--url"))
      if (input.allSources && input.sources.length > 0) {
        return yield* new CommandError({ code: "usage", message: "Either --source or --all-sources, not both." })
      }
      if (newUrl === undefined && !input.allSources && input.sources.length === 0) {
        const message = "Say what to set: --url, --url-file, --source or --all-sources."
        return yield* new CommandError({ code: "usage", message })
      }
      yield* withCabinet(input, () =>
        Effect.gen(function* () {
          const addressId = yield* addressNamed(input.id)
          const sources: Subscription | undefined = input.allSources
            ? "all"
            : input.sources.length > 0
              ? yield* allNamed(input.sources)
              : undefined
          const change = {
            ...(newUrl === undefined ? {} : { url: newUrl }),
            ...(sources === undefined ? {} : { sources }),
          } as const
          const address = yield* Addresses.use((addresses) => addresses.set(addressId, change))
          yield* showChanged(address, `Address ${address.id} is changed.`)
        }),
      )
    }),
).pipe(Command.withDescription("Change where an address leads, or what it hears of"))

const remove = Command.make("remove", { id: addressArgument, yes }, (input) =>
  Effect.andThen(
    confirmed(input.yes, `Remove address ${input.id}, and cancel what is still due to it?`),
    withCabinet({}, () =>
      Effect.gen(function* () {
        const addressId = yield* addressNamed(input.id)
        yield* Addresses.use((addresses) => addresses.remove(addressId))
        const words = `Address ${addressId} is removed: nothing more is sent to it.`
        yield* report(yield* format, { id: addressId, removed: true }, () => words)
      }),
    ),
  ),
).pipe(Command.withDescription("Remove an address; what was still due is cancelled"))

const pause = Command.make("pause", { id: addressArgument }, (input) =>
  withCabinet({}, () =>
    Effect.flatMap(
      Effect.flatMap(addressNamed(input.id), (id) => Addresses.use((addresses) => addresses.pause(id))),
      (address) => showChanged(address, `Address ${address.id} is paused: what comes due meanwhile waits.`),
    ),
  ),
).pipe(Command.withDescription("Send nothing to an address for a while"))

const resume = Command.make("resume", { id: addressArgument }, (input) =>
  withCabinet({}, () =>
    Effect.flatMap(
      Effect.flatMap(addressNamed(input.id), (id) => Addresses.use((addresses) => addresses.resume(id))),
      (address) => showChanged(address, `Address ${address.id} is served again.`),
    ),
  ),
).pipe(Command.withDescription("End a pause; what waited is sent"))

const rotateSecret = Command.make("rotate-secret", { id: addressArgument }, (input) =>
  withCabinet({}, () =>
    Effect.flatMap(
      Effect.flatMap(addressNamed(input.id), (id) => Addresses.use((addresses) => addresses.rotateSecret(id))),
      showWhole,
    ),
  ),
).pipe(Command.withDescription("Sign with a new secret; the old one signs as well for 24 hours"))

export const addressCommand = Command.make("address").pipe(
  Command.withDescription("Send signed deliveries to addresses of yours"),
  Command.withSubcommands([add, list, show, set, remove, ping, log, rotateSecret, resend, pause, resume]),
)
