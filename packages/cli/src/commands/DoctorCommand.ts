/** `cabinet doctor`: examines a cabinet, names its problems and what to do about them. */
import { Diagnostics } from "@data-cabinet/core/diagnostics/Diagnostics"
import { DeliveryQueue } from "@data-cabinet/core/delivery/DeliveryQueue"
import { connectionSecurity } from "@data-cabinet/store-pg/connection/ConnectionSecurity"
import { ReaderClient } from "@data-cabinet/store-pg/connection/ReaderClient"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { snakeKeys } from "@data-cabinet/core/json/SnakeKeys"
import { report } from "../output/Report.ts"
import type { Style } from "../output/Style.ts"
import { CommandError } from "./CommandError.ts"
import { doctorFindings, type Finding } from "./DoctorFindings.ts"
import { format, settingFlags, withCabinet } from "./Root.ts"

const line = ({ level, message }: Finding, style: Style): string => {
  if (level === "ok") return `${style.green("ok  ")}  ${message}`
  return `${level === "warn" ? style.yellow("warn") : style.red("bad ")}  ${message}`
}

export const doctorCommand = Command.make(
  "doctor",
  settingFlags("readerUrl", "authorUrl", "reading", "readUrl", "readLag"),
  (input) =>
    withCabinet(
      input,
      (database, settings) =>
        Effect.gen(function* () {
          const diagnostics = yield* Diagnostics.use((one) => one.examine)
          const gauge = yield* DeliveryQueue.use((queue) => queue.gauge)
          const { standby } = yield* ReaderClient
          const replica = standby === undefined ? null : yield* standby.settled
          const { roles, url } = database
          const connection = yield* connectionSecurity(url)
          const { reading } = settings
          const findings = doctorFindings({ connection, roles, reading, diagnostics, standby: replica, gauge })
          const bad = findings.filter(({ level }) => level === "bad").length
          const value = {
            ok: bad === 0,
            findings,
            connection: snakeKeys(connection),
            database: snakeKeys(diagnostics),
            standby: snakeKeys(replica),
            deliveries: snakeKeys(gauge),
          }
          yield* report(yield* format, value, (style) => findings.map((each) => line(each, style)).join("\n"))
          if (bad > 0) {
            const message = `${bad === 1 ? "1 problem needs" : `${bad} problems need`} attention now.`
            return yield* new CommandError({ code: "refused", message })
          }
        }),
      { ofServer: true },
    ),
).pipe(Command.withDescription("Check the cabinet for problems and print how to fix them"))
