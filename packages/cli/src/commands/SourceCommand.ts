/** `cabinet source …`: the sources, their intake addresses and their tables. */
import type { Source, SourceWithSecret } from "@data-cabinet/core/source/Source"
import { BaseAddress, type BaseUrl } from "@data-cabinet/core/source/BaseAddress"
import { ownSourceShape, sourceWithAddressShape, withAddress } from "@data-cabinet/core/source/SourceShape"
import { Notices } from "@data-cabinet/core/notice/Notices"
import { Sources } from "@data-cabinet/core/source/Sources"
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import type { DatabaseRole } from "../compose/CabinetDatabase.ts"
import { columns } from "../output/Columns.ts"
import { plainOutput } from "../output/PlainText.ts"
import { type Format, report } from "../output/Report.ts"
import { knownSender, unverifiedSender } from "@data-cabinet/core/diagnostics/KnownSender"
import type { ProviderName } from "@data-cabinet/core/source/Providers"
import { CommandError } from "../error/CommandError.ts"
import { nameArgument, sourceArgument, sourceNamed } from "./Named.ts"
import { confirmed, confirmedByPerson, yes } from "./Confirm.ts"
import { keepOldFlag } from "./Times.ts"
import { format, settingFlags, withCabinet } from "./Root.ts"
import { readSettings, sourceFlags } from "./SourceSettings.ts"
import { EXAMPLES } from "./Examples.ts"
import { schema, shape } from "./ShapeCommands.ts"
import { tableName, GUESSED, sourceCard } from "./SourceCard.ts"

/** A script that requests only a link has no room for a remark in its output. */
const remark = ({ known }: BaseUrl, chosen: Format) =>
  Effect.sync(() => {
    if (!known && typeof chosen === "object" && chosen.path.endsWith("_url")) process.stderr.write(`${GUESSED}\n`)
  })

const NO_ADDRESS = { intake_url: null, intake_path: null }

const showRevealed = (source: SourceWithSecret, baseUrl: BaseUrl) =>
  Effect.gen(function* () {
    const chosen = yield* format
    const notices = yield* Notices.use((all) => all.show)
    const isOwn = notices.source?.id === source.id
    const sender = chosen === false ? yield* knownSender(source) : null
    const json = { ...sourceWithAddressShape.json(withAddress(source, baseUrl)), ...(isOwn ? NO_ADDRESS : {}) }
    yield* report(chosen, json, (style) => sourceCard(source, { baseUrl, isOwn, sender }, style))
    yield* remark(baseUrl, chosen)
  })

const showChanged = (source: Source, words: string) =>
  Effect.flatMap(format, (json) => report(json, ownSourceShape.json(source), () => words))

const web = settingFlags("baseUrl", "serviceDomain")

/** Runs work that shows an intake address. */
const revealing = <E, R>(
  own: Readonly<Record<string, unknown>>,
  work: Effect.Effect<SourceWithSecret, E, R>,
  role: DatabaseRole = "join",
) =>
  withCabinet(
    own,
    () =>
      Effect.flatMap(work, (source) =>
        Effect.flatMap(
          BaseAddress.use((address) => address.get),
          (baseUrl) => showRevealed(source, baseUrl),
        ),
      ),
    { role },
  )

const remarkOn = (text: string) => Effect.sync(() => process.stderr.write(`${plainOutput(text)}\n`))

/** Points out what may surprise a person about the new source. */
const remarks = ({ id, name, verify }: Source, from: ProviderName | undefined) =>
  Effect.gen(function* () {
    const all = yield* Sources.use((sources) => sources.list)
    const others = all.filter((one) => one.name === name && one.id !== id)
    if (others.length > 0) {
      const numbers = others.map((one) => one.id).join(", ")
      yield* remarkOn(
        `Another source is also named ${JSON.stringify(name)} (${numbers}): use the number ${id} for this one.`,
      )
    }
    if (from === undefined || verify !== null) return
    yield* remarkOn(unverifiedSender(id, from))
  })

const add = Command.make("add", { name: nameArgument("The name of the source"), ...sourceFlags, ...web }, (input) =>
  Effect.flatMap(readSettings(input), (settings) =>
    revealing(
      input,
      Effect.tap(
        Sources.use((sources) => sources.create({ name: input.name, ...settings })),
        (source) => remarks(source, settings.from),
      ),
      "create",
    ),
  ),
).pipe(Command.withDescription("Create a source with its own intake address and table"))

const list = Command.make("list", {}, () =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const all = yield* Sources.use((sources) => sources.list)
      yield* report(yield* format, all.map(ownSourceShape.json), (style) =>
        columns(
          ["ID", "NAME", "STATE", "TABLE", "CREATED"],
          all.map((source) => [
            String(source.id),
            source.name,
            source.archived ? "archived" : "open",
            tableName(source),
            source.createdAt,
          ]),
          { style, none: "No sources yet. Create one with: cabinet source add NAME" },
        ),
      )
    }),
  ),
).pipe(Command.withDescription("List the sources"))

const show = Command.make("show", { id: sourceArgument("ID"), ...web }, (input) =>
  revealing(
    input,
    Effect.flatMap(sourceNamed(input.id), (id) => Sources.use((sources) => sources.reveal(id))),
  ),
).pipe(Command.withDescription("Show a source and its intake address"))

const set = Command.make("set", { id: sourceArgument("ID"), ...sourceFlags }, (input) =>
  Effect.gen(function* () {
    const change = yield* readSettings(input)
    if (Object.keys(change).length === 0) {
      const message = "Nothing to change: give at least one setting. See: cabinet source set --help"
      return yield* new CommandError({ code: "usage", message })
    }
    yield* withCabinet({}, () =>
      Effect.gen(function* () {
        const source = yield* Effect.flatMap(sourceNamed(input.id), (id) =>
          Sources.use((sources) => sources.change(id, change)),
        )
        yield* showChanged(source, `Source ${source.id} was changed.`)
      }),
    )
  }),
).pipe(Command.withDescription("Change the settings of a source"))

const rename = Command.make("rename", { id: sourceArgument("ID"), name: nameArgument("The new name") }, (input) =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const source = yield* Effect.flatMap(sourceNamed(input.id), (id) =>
        Sources.use((sources) => sources.change(id, { name: input.name })),
      )
      yield* showChanged(source, `Source ${source.id} is now named ${source.name}; its table keeps its name.`)
    }),
  ),
).pipe(Command.withDescription("Rename a source"))

const archive = Command.make("archive", { id: sourceArgument("ID") }, (input) =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const source = yield* Effect.flatMap(sourceNamed(input.id), (id) => Sources.use((sources) => sources.archive(id)))
      yield* showChanged(source, `Source ${source.id} is switched off: its intake address returns 404.`)
    }),
  ),
).pipe(Command.withDescription("Switch a source off"))

const restore = Command.make("restore", { id: sourceArgument("ID") }, (input) =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const source = yield* Effect.flatMap(sourceNamed(input.id), (id) => Sources.use((sources) => sources.restore(id)))
      yield* showChanged(source, `Source ${source.id} accepts data again.`)
    }),
  ),
).pipe(Command.withDescription("Switch an archived source back on"))

const remove = Command.make(
  "delete",
  {
    id: sourceArgument("ID"),
    keepTable: Flag.Boolean("keep-table").pipe(
      Flag.withoutNegation,
      Flag.withDescription("Keep its table (default)"),
      Flag.withDefault(false),
    ),
    dropTable: Flag.Boolean("drop-table").pipe(
      Flag.withoutNegation,
      Flag.withDescription("Drop its table with all rows; its events stay in the feed"),
      Flag.withDefault(false),
    ),
    yes,
  },
  (input) =>
    Effect.gen(function* () {
      if (input.keepTable && input.dropTable) {
        return yield* new CommandError({ code: "usage", message: "Either --keep-table or --drop-table, not both." })
      }
      const also = input.dropTable ? " and its table with all its rows" : ""
      yield* confirmed(input.yes, `Delete source ${input.id}${also}?`)
      return yield* withCabinet({}, () =>
        Effect.gen(function* () {
          const table = input.dropTable ? "drop" : "keep"
          const sourceId = yield* sourceNamed(input.id)
          yield* Sources.use((sources) => sources.remove(sourceId, table))
          yield* report(
            yield* format,
            { id: sourceId, deleted: true, table },
            () =>
              `Source ${sourceId} was deleted; its table was ${input.dropTable ? "dropped" : "kept"}, its events stay in the feed.`,
          )
        }),
      )
    }),
).pipe(Command.withDescription("Delete a source permanently"))

const keepOld = keepOldFlag("Also accept the old address for this long, such as 24h, 30m or 7d; at most 30d")

const rotateSecret = Command.make("rotate-secret", { id: sourceArgument("ID"), keepOld, yes, ...web }, (input) =>
  Effect.andThen(
    input.keepOld === null
      ? confirmedByPerson(
          input.yes,
          `Source ${input.id} gets a new intake address. The old one returns 404 immediately; --keep-old 24h would keep it. Continue?`,
        )
      : Effect.void,
    revealing(
      input,
      Effect.flatMap(sourceNamed(input.id), (id) =>
        Sources.use((sources) => sources.rotateSecret(id, { keepOldSeconds: input.keepOld })),
      ),
    ),
  ),
).pipe(
  Command.withDescription(
    "Give a source a new intake address; the old one returns 404 immediately, or after --keep-old",
  ),
)

export const sourceCommand = Command.make("source").pipe(
  Command.withExamples(EXAMPLES.source),
  Command.withDescription("Create and manage sources"),
  Command.withSubcommands([add, list, show, shape, schema, set, rename, archive, restore, remove, rotateSecret]),
)
