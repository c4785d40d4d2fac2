/** `cabinet doctor`: examines a cabinet, or all cabinets of a server, and names problems and their fixes. */
import { Doctor, type Finding } from "@data-cabinet/core/diagnostics/Doctor"
import { CabinetRegistry } from "@data-cabinet/core/tenancy/CabinetRegistry"
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import type { CabinetDatabase } from "../compose/CabinetDatabase.ts"
import { cabinetLayer } from "../compose/CabinetLayer.ts"
import { report } from "../output/Report.ts"
import type { Style } from "../output/Style.ts"
import type { Settings } from "../settings/Settings.ts"
import { registryLayer, resolveTenant } from "../tenancy/ResolveTenant.ts"
import { CommandError } from "../error/CommandError.ts"
import { format, noCabinet, settingFlags, withCabinet, withDatabase } from "./Root.ts"

const line = ({ level, message }: Finding, style: Style): string => {
  if (level === "ok") return `${style.green("ok  ")}  ${message}`
  return `${level === "warn" ? style.yellow("warn") : style.red("bad ")}  ${message}`
}

const lines = (findings: ReadonlyArray<Finding>, style: Style): string =>
  findings.map((each) => line(each, style)).join("\n")

const isBad = ({ level }: Finding): boolean => level === "bad"

/** The findings about the open cabinet. */
const examine = Doctor.use((doctor) => doctor.examine)

/** Cabinets examined at the same time: each takes a few connections. */
const MAX_CONCURRENT = 4

/** A cabinet of the server. A cabinet that cannot be opened is a finding, and does not affect the others. */
const examineTenant = (own: CabinetDatabase, settings: Settings, name: string) =>
  Effect.gen(function* () {
    const database = yield* resolveTenant(own, name, settings, { changes: false })
    const services = cabinetLayer({ ...database, settings, delivers: false, maxConnections: 4 })
    return yield* Effect.provide(examine, services, { local: true })
  }).pipe(
    Effect.scoped,
    Effect.map((found) => ({ cabinet: name, ...found })),
    Effect.catch(({ message }) => {
      const findings: ReadonlyArray<Finding> = [{ check: "database", level: "bad", message }]
      return Effect.succeed({ cabinet: name, ok: false, findings })
    }),
  )

const examineAll = Effect.fnUntraced(function* (own: CabinetDatabase, settings: Settings) {
  const names = yield* Effect.provide(
    CabinetRegistry.use(({ list }) => Effect.map(list, (all) => all.map(({ name }) => name))),
    registryLayer(own),
  )
  const tenants = yield* Effect.forEach(names, (name) => examineTenant(own, settings, name), {
    concurrency: MAX_CONCURRENT,
  })
  return [{ cabinet: null, ...(yield* examine) }, ...tenants]
})

const refuseIfBad = Effect.fnUntraced(function* (findings: ReadonlyArray<Finding>) {
  const bad = findings.filter(isBad).length
  if (bad === 0) return
  const message = `${bad === 1 ? "1 problem needs" : `${bad} problems need`} attention now.`
  return yield* new CommandError({ code: "refused", message })
})

const all = Flag.Boolean("all").pipe(
  Flag.withoutNegation,
  Flag.withDescription("Check every cabinet of a multi-tenant server, and the server's own database"),
  Flag.withDefault(false),
)

export const doctorCommand = Command.make(
  "doctor",
  {
    all,
    ...settingFlags("readerUrl", "authorUrl", "reading", "readUrl", "readLag"),
    ...settingFlags("coldStore", "coldAfter", "coldEndpoint", "coldRegion", "coldUrlStyle", "allowedNetworks"),
  },
  (input) =>
    input.all
      ? withDatabase(
          input,
          (database, settings) =>
            Effect.gen(function* () {
              yield* noCabinet("--all examines every cabinet")
              const cabinets = yield* examineAll(database, settings)
              yield* report(yield* format, { ok: cabinets.every(({ ok }) => ok), cabinets }, (style) =>
                cabinets
                  .map(
                    ({ cabinet, findings }) => `${cabinet ?? "The server's own database"}\n${lines(findings, style)}`,
                  )
                  .join("\n\n"),
              )
              yield* refuseIfBad(cabinets.flatMap(({ findings }) => findings))
            }),
          { ofServer: true },
        )
      : withCabinet(
          input,
          () =>
            Effect.gen(function* () {
              const value = yield* examine
              yield* report(yield* format, value, (style) => lines(value.findings, style))
              yield* refuseIfBad(value.findings)
            }),
          { ofServer: true },
        ),
).pipe(Command.withDescription("Check the cabinet for problems and print how to fix them"))
