/** The findings of a remote cabinet's doctor. */
import { Doctor, type DoctorReport } from "@data-cabinet/core/diagnostics/Doctor"
import { Effect, Layer } from "effect"
import { ManageApi } from "../http/ManageApi.ts"
import { refusalAsDefect } from "../http/RemoteRefusal.ts"

export const layer = Layer.effect(
  Doctor,
  Effect.map(ManageApi, (api) =>
    Doctor.of({
      examine: Effect.map(refusalAsDefect(api.text({ method: "GET", path: ["diagnostics"] })), (text): DoctorReport => {
        const { findings, database, deliveries } = JSON.parse(text) as Pick<
          DoctorReport,
          "findings" | "database" | "deliveries"
        >
        const ok = findings.every(({ level }) => level !== "bad")
        return { ok, findings, connection: null, database, standby: null, deliveries }
      }),
    }),
  ),
)
