/** `cabinet apply FILE` and `cabinet export-config`: a cabinet as a file. */
import { writeFileSync } from "node:fs"
import { join, dirname } from "node:path"
import { inTurn } from "@data-cabinet/core/apply/ApplyTurn"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { CommandError } from "../error/CommandError.ts"
import { type ApplyOptions, lost, plannedFile, takeSteps } from "../config/ApplyFile.ts"
import { cabinetState } from "../config/CabinetState.ts"
import { exportMisfit, fileText } from "../config/ExportFile.ts"
import { fileJsonSchema, SCHEMA_FILE, SECTIONS } from "../config/FileSchema.ts"
import type { Plan } from "../config/PlanFile.ts"
import { readFileText } from "../config/ReadFile.ts"
import { issuedText, planJson, planText } from "../config/ShowPlan.ts"
import type { Issued } from "../config/Step.ts"
import { plainLines } from "../output/PlainText.ts"
import { printLine, report } from "../output/Report.ts"
import { styleFor } from "../output/Style.ts"
import { confirmed, yes } from "./Confirm.ts"
import { EXAMPLES } from "./Examples.ts"
import { format, root, withCabinet } from "./Root.ts"
import { readInput } from "./SecretInput.ts"

const say = (text: string) => Effect.sync(() => void process.stderr.write(`${plainLines(text)}\n`))

const WAITING = "Another apply is changing this cabinet; waiting until it is done."

const readConfig = Effect.fnUntraced(function* (name: string) {
  const text = yield* readInput(name, `The file ${name}`)
  return yield* Effect.try({
    try: () => readFileText(text, name === "-" ? "standard input" : name),
    catch: (error) => {
      if (error instanceof CommandError) return error
      throw error
    },
  })
})

const wholeRequests = Effect.gen(function* () {
  if (!(yield* root).curl) return
  const message = "--curl shows one request, and this command sends many: leave --curl out."
  return yield* new CommandError({ code: "usage", message })
})

const removals = ({ steps }: Plan) => steps.filter(({ action }) => action === "remove").length

/** The document of an apply. One that failed or was interrupted also has what it had issued, which is never shown again. */
const applyReport = Effect.fnUntraced(function* (plan: Plan, issued: ReadonlyArray<Issued>, isWhole: boolean) {
  const shown = issued.map(({ kind, name, secret, file }) => ({
    kind,
    name,
    ...(file === null ? { secret } : { file }),
  }))
  yield* report(yield* format, { ...planJson(plan), applied: isWhole, issued: shown }, () => "")
})

const carryOut = (read: ReturnType<typeof readFileText>, options: ApplyOptions, isConfirmed: boolean) =>
  inTurn(
    (renew) =>
      Effect.gen(function* () {
        const { plan, sources } = yield* plannedFile(read, options)
        const style = styleFor(process.stdout)
        const isText = (yield* format) === false
        if (isText) yield* printLine(planText(plan, style))
        const count = removals(plan)
        if (count > 0) {
          yield* confirmed(
            isConfirmed,
            `Remove ${count === 1 ? "one object" : `${count} objects`} that the file does not name?`,
          )
        }
        const issued: Array<Issued> = []
        const onIssued = (one: Issued) =>
          isText ? printLine(issuedText([one], style)) : Effect.sync(() => void issued.push(one))
        yield* Effect.onError(takeSteps(plan, sources, { renew, onIssued }), () =>
          issued.length === 0 ? Effect.void : Effect.ignore(applyReport(plan, issued, false)),
        )
        if (!isText) return yield* applyReport(plan, issued, true)
        if (plan.steps.length > 0) yield* printLine("Applied.")
      }),
    { onWait: say(WAITING), lost: Effect.fail(lost) },
  )

export const applyCommand = Command.make(
  "apply",
  {
    file: Argument.String("FILE").pipe(Argument.withDescription("A YAML or JSON file; - for standard input")),
    dryRun: Flag.Boolean("dry-run").pipe(
      Flag.withoutNegation,
      Flag.withDescription("Show what would change, and change nothing"),
      Flag.withDefault(false),
    ),
    prune: Flag.Boolean("prune").pipe(
      Flag.withoutNegation,
      Flag.withDescription("Remove what the sections of the file do not name; tables stay, schemas are hidden"),
      Flag.withDefault(false),
    ),
    resend: Flag.Boolean("resend").pipe(
      Flag.withoutNegation,
      Flag.withDescription("Send all secrets that the file refers to again, not only those that the cabinet lacks"),
      Flag.withDefault(false),
    ),
    yes,
  },
  ({ file, dryRun, prune, resend, yes: isConfirmed }) =>
    Effect.gen(function* () {
      yield* wholeRequests
      const read = yield* readConfig(file)
      const options = { name: file, prune, sendSecrets: resend }
      yield* withCabinet({}, () =>
        dryRun
          ? Effect.gen(function* () {
              const { plan } = yield* plannedFile(read, options)
              yield* report(
                yield* format,
                { ...planJson(plan), applied: false, issued: [] },
                (style) => `${planText(plan, style)}\nNothing was changed.`,
              )
            })
          : carryOut(read, options, isConfirmed),
      )
    }),
).pipe(
  Command.withExamples(EXAMPLES.apply),
  Command.withDescription(
    "Change the cabinet to match a file: sources, schemas, addresses, polls, keys, tokens and people",
  ),
)

const written = (path: string, text: string) =>
  Effect.try({
    try: () => {
      // A URL in it may be a secret.
      writeFileSync(path, text, { mode: 0o600 })
      writeFileSync(join(dirname(path), SCHEMA_FILE), `${JSON.stringify(fileJsonSchema(), null, 2)}\n`)
    },
    catch: (error) =>
      new CommandError({ code: "refused", message: `${path} cannot be written: ${(error as Error).message}.` }),
  })

export const exportConfigCommand = Command.make(
  "export-config",
  {
    to: Flag.String("to").pipe(
      Flag.withMetavar("FILE"),
      Flag.withDescription(
        `File to write, with its JSON Schema for editors (${SCHEMA_FILE}) beside it; otherwise it is printed`,
      ),
      Flag.optional,
    ),
  },
  ({ to }) =>
    Effect.gen(function* () {
      yield* wholeRequests
      const text = yield* withCabinet({}, () =>
        Effect.gen(function* () {
          const state = yield* cabinetState(SECTIONS)
          const misfit = exportMisfit(state)
          if (misfit !== null) return yield* new CommandError({ code: "refused", message: misfit })
          return fileText(state)
        }),
      )
      if (text === undefined) return
      if (Option.isNone(to)) return yield* report(yield* format, { file: text }, () => text.trimEnd())
      yield* written(to.value, text)
      yield* report(
        yield* format,
        { to: to.value },
        () => `The cabinet was written to ${to.value}. Secrets are not in it.`,
      )
    }),
).pipe(
  Command.withExamples(EXAMPLES["export-config"]),
  Command.withDescription("Write a cabinet as a file for cabinet apply, without secrets"),
)
