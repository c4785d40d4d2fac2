/** `cabinet address …`: the receivers of new events, and the outcomes of sending to them. */
import { addressShape, type Subscription } from "@data-cabinet/core/delivery/Address"
import { Addresses } from "@data-cabinet/core/delivery/Addresses"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { columns } from "../output/Columns.ts"
import { report } from "../output/Report.ts"
import { CommandError } from "../error/CommandError.ts"
import { preview } from "./AddressPreview.ts"
import { idPage, idPageFlags } from "./LimitFlag.ts"
import { addressArgument, addressNamed, sourceNamed } from "./Named.ts"
import { confirmed, yes } from "./Confirm.ts"
import { log, ping, resend, skip, test } from "./AddressDeliveryCommands.ts"
import { format, settingFlags, withCabinet } from "./Root.ts"
import { readHeaderChange, singleHeaderFlags } from "./SingleHeaderFlags.ts"
import { readSending, removeCertificate, sendingFlags } from "./SendingFlags.ts"
import { readUrl, requireUrl, urlFile } from "./UrlInput.ts"
import { EXAMPLES } from "./Examples.ts"
import { state, sourcesText, showWhole, showChanged } from "./AddressCard.ts"
import { filtersOf } from "./RowsFlags.ts"

const url = Argument.String("URL").pipe(
  Argument.withDescription("A public http or https address; pass one that contains a secret with --url-file"),
  Argument.optional,
)
const outgoing = settingFlags("allowedNetworks")

const sourceFlag = (fallback: string) =>
  Flag.String("source").pipe(
    Flag.withMetavar("SOURCE"),
    Flag.withDescription(`Only events of this source, by number or name; repeatable. Default: ${fallback}`),
    Flag.between(0, 10_000),
  )

const addedSources = sourceFlag("all sources, including those created later")

const where = Flag.String("where").pipe(
  Flag.withMetavar("CONDITION"),
  Flag.withDescription(
    'Only events with such a field, such as "status=paid", "total>=100" or "name is not empty"; repeatable, and all must hold',
  ),
  Flag.between(0, 1000),
)

const allNamed = (sources: ReadonlyArray<string>) =>
  Effect.map(Effect.forEach(sources, sourceNamed), (ids): ReadonlyArray<number> => [...new Set(ids)])

const add = Command.make("add", { url, urlFile, sources: addedSources, where, ...sendingFlags, ...outgoing }, (input) =>
  Effect.gen(function* () {
    const filters = yield* filtersOf(input.where)
    // Read before anything is opened: a person may be typing it.
    const newUrl = yield* requireUrl(input.url, input.urlFile)
    const sending = yield* readSending(input)
    yield* withCabinet(input, () =>
      Effect.gen(function* () {
        const sources = input.sources.length === 0 ? "all" : yield* allNamed(input.sources)
        yield* showWhole(
          yield* Addresses.use((addresses) => addresses.create({ url: newUrl, sources, filters, ...sending })),
        )
      }),
    )
  }),
).pipe(Command.withDescription("Add a delivery address for all new events; prints the signing secret"))

const list = Command.make("list", idPageFlags("addresses"), ({ after, limit }) =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const { items: all, more } = yield* Addresses.use(({ list: page }) => idPage(page, { after, limit }))
      yield* report(
        yield* format,
        all.map(addressShape.json),
        (style) =>
          `${columns(
            ["ID", "STATE", "SOURCES", "CREATED", "URL"],
            all.map((one) => [
              String(one.id),
              one.subscription === null
                ? state(one)
                : `${state(one)}, agent ${one.subscription.agent} until ${one.subscription.endsAt}`,
              sourcesText(one.sources),
              one.createdAt,
              one.url,
            ]),
            {
              style,
              none:
                after === 0 ? "No delivery addresses yet. Add one with: cabinet address add URL" : "No more addresses.",
            },
          )}${more}`,
      )
    }),
  ),
).pipe(Command.withDescription("List the delivery addresses"))

const show = Command.make("show", { id: addressArgument }, (input) =>
  withCabinet({}, () =>
    Effect.flatMap(
      Effect.flatMap(addressNamed(input.id), (id) => Addresses.use((addresses) => addresses.reveal(id))),
      showWhole,
    ),
  ),
).pipe(Command.withDescription("Show a delivery address and its signing secret"))

const set = Command.make(
  "set",
  {
    id: addressArgument,
    url: Flag.String("url").pipe(
      Flag.withMetavar("URL"),
      Flag.withDescription("New URL of the delivery address"),
      Flag.optional,
    ),
    urlFile,
    sources: sourceFlag("no change"),
    allSources: Flag.Boolean("all-sources").pipe(
      Flag.withoutNegation,
      Flag.withDescription("Events of all sources, including those created later"),
      Flag.withDefault(false),
    ),
    where: where.pipe(Flag.withDescription('Replace the current conditions; "none" for all events')),
    ...sendingFlags,
    ...singleHeaderFlags,
    removeCertificate,
    ...outgoing,
  },
  (input) =>
    Effect.gen(function* () {
      const filters = input.where.join() === "none" ? [] : yield* filtersOf(input.where)
      const newUrl = Option.getOrUndefined(yield* readUrl(input.url, input.urlFile, "--url"))
      if (input.allSources && input.sources.length > 0) {
        return yield* new CommandError({ code: "usage", message: "Either --source or --all-sources, not both." })
      }
      const sending = { ...(yield* readSending(input)), ...(yield* readHeaderChange(input)) }
      const isChanged = newUrl !== undefined || input.allSources || input.sources.length > 0 || input.where.length > 0
      if (!isChanged && Object.keys(sending).length === 0) {
        const message = "Nothing to change: give at least one setting. See: cabinet address set --help"
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
            ...(input.where.length === 0 ? {} : { filters }),
            ...sending,
          } as const
          const address = yield* Addresses.use((addresses) => addresses.set(addressId, change))
          yield* showChanged(address, `Address ${address.id} was changed.`)
        }),
      )
    }),
).pipe(
  Command.withDescription(
    "Change a delivery address. A URL on another origin needs its headers and its client certificate again",
  ),
)

const remove = Command.make("remove", { id: addressArgument, yes }, (input) =>
  Effect.andThen(
    confirmed(input.yes, `Remove address ${input.id} and cancel its pending deliveries?`),
    withCabinet({}, () =>
      Effect.gen(function* () {
        const addressId = yield* addressNamed(input.id)
        yield* Addresses.use((addresses) => addresses.remove(addressId))
        const words = `Address ${addressId} was removed; no more deliveries are sent to it.`
        yield* report(yield* format, { id: addressId, removed: true }, () => words)
      }),
    ),
  ),
).pipe(Command.withDescription("Remove a delivery address and cancel its pending deliveries"))

const pause = Command.make("pause", { id: addressArgument }, (input) =>
  withCabinet({}, () =>
    Effect.flatMap(
      Effect.flatMap(addressNamed(input.id), (id) => Addresses.use((addresses) => addresses.pause(id))),
      (address) => showChanged(address, `Address ${address.id} is paused; deliveries are kept until you resume it.`),
    ),
  ),
).pipe(Command.withDescription("Pause a delivery address; its deliveries are kept"))

const resume = Command.make("resume", { id: addressArgument }, (input) =>
  withCabinet({}, () =>
    Effect.flatMap(
      Effect.flatMap(addressNamed(input.id), (id) => Addresses.use((addresses) => addresses.resume(id))),
      (address) => showChanged(address, `Address ${address.id} is active again.`),
    ),
  ),
).pipe(Command.withDescription("Resume a paused delivery address and send what is pending"))

const rotateSecret = Command.make("rotate-secret", { id: addressArgument }, (input) =>
  withCabinet({}, () =>
    Effect.flatMap(
      Effect.flatMap(addressNamed(input.id), (id) => Addresses.use((addresses) => addresses.rotateSecret(id))),
      showWhole,
    ),
  ),
).pipe(Command.withDescription("Create a new signing secret; the old one also signs for 24 hours"))

export const addressCommand = Command.make("address").pipe(
  Command.withExamples(EXAMPLES.address),
  Command.withDescription("Manage delivery addresses and their signed deliveries"),
  Command.withSubcommands([
    add,
    list,
    show,
    set,
    remove,
    ping,
    test,
    preview,
    log,
    rotateSecret,
    resend,
    skip,
    pause,
    resume,
  ]),
)
