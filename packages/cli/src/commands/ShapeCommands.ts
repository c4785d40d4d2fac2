/** `cabinet source shape`, `cabinet source schema`, `cabinet types` and `cabinet asyncapi`: what the payloads of sources look like. */
import { type FieldChange, type PayloadField, sourceShapeShape } from "@data-cabinet/core/payload/ShapeFields"
import { Shapes } from "@data-cabinet/core/payload/Shapes"
import { BaseAddress } from "@data-cabinet/core/source/BaseAddress"
import { counted } from "@data-cabinet/core/text/Counted"
import { Effect, Option } from "effect"
import { Argument, Command } from "effect/cli"
import { columns } from "../output/Columns.ts"
import { JsonText, printValue, report } from "../output/Report.ts"
import { sourceArgument, sourceNamed } from "./Named.ts"
import { format, withCabinet } from "./Root.ts"

const CHANGES: Readonly<Record<FieldChange, string>> = {
  new: "new",
  kind_changed: "new kind",
  missing: "not seen for 7 days",
}

const percent = (share: number | null): string => (share === null ? "" : `${Math.floor(share * 1000) / 10} %`)

const row = ({ path, kinds, share, firstAt, lastAt, change }: PayloadField): ReadonlyArray<string> => [
  path,
  kinds.map(({ kind }) => kind).join(", "),
  percent(share),
  firstAt,
  lastAt,
  change === null ? "" : CHANGES[change],
]

/** `source shape`. */
export const shape = Command.make("shape", { id: sourceArgument("ID") }, (input) =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const id = yield* sourceNamed(input.id)
      const found = yield* Shapes.use((shapes) => shapes.fields(id))
      yield* report(yield* format, sourceShapeShape.json(found), (style) =>
        [
          `Learned from ${counted(found.events, "event", "events")}.`,
          ...(found.complete ? [] : [style.yellow("Some members have no field: there were too many.")]),
          "",
          columns(["FIELD", "KINDS", "SHARE", "FIRST SEEN", "LAST SEEN", ""], found.fields.map(row), {
            style,
            none: "No fields yet.",
          }),
        ].join("\n"),
      )
    }),
  ),
).pipe(Command.withDescription("Show the fields that a source sends, and what has changed about them"))

const reportJson = Effect.fnUntraced(function* (text: string) {
  const chosen = yield* format
  if (chosen === false) yield* printValue(text)
  else yield* report(chosen, new JsonText(text), () => text)
})

/** `source schema`. */
export const schema = Command.make("schema", { id: sourceArgument("ID") }, (input) =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const id = yield* sourceNamed(input.id)
      yield* reportJson(yield* Shapes.use((shapes) => shapes.schema(id)))
    }),
  ),
).pipe(Command.withDescription("Print a JSON Schema of what a source sends"))

/** `cabinet types`. */
export const typesCommand = Command.make(
  "types",
  {
    source: Argument.String("SOURCE").pipe(
      Argument.withDescription("The source's number or name; default: all sources"),
      Argument.optional,
    ),
  },
  (input) =>
    withCabinet({}, () =>
      Effect.gen(function* () {
        const given = Option.getOrNull(input.source)
        const id = given === null ? null : yield* sourceNamed(given)
        const types = yield* Shapes.use((shapes) => (id === null ? shapes.allTypes : shapes.types(id)))
        const chosen = yield* format
        if (chosen === false) yield* printValue(types.trimEnd(), false)
        else yield* report(chosen, { types }, () => types)
      }),
    ),
).pipe(Command.withDescription("Print TypeScript types of what a source sends, or all sources"))

/** `cabinet asyncapi`. */
export const asyncApiCommand = Command.make("asyncapi", {}, () =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const { url } = yield* BaseAddress.use((address) => address.get)
      yield* reportJson(yield* Shapes.use((shapes) => shapes.asyncApi(url)))
    }),
  ),
).pipe(Command.withDescription("Print an AsyncAPI document of what the cabinet sends"))
