/** The findings of a remote cabinet's doctor, and the state of its cold history. */
import { ColdOverview, type ColdStatus } from "@data-cabinet/core/cold/ColdOverview"
import { Doctor, type DoctorReport } from "@data-cabinet/core/diagnostics/Doctor"
import { Effect, Layer } from "effect"
import { ManageApi } from "../http/ManageApi.ts"
import { refusalAsDefect } from "../http/RemoteRefusal.ts"

const doctor = Layer.effect(
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

const cold = Layer.effect(
  ColdOverview,
  Effect.map(ManageApi, (api) =>
    ColdOverview.of({ status: refusalAsDefect(api.json<ColdStatus>({ method: "GET", path: ["cold"] })) }),
  ),
)

export const layer = Layer.merge(doctor, cold)
