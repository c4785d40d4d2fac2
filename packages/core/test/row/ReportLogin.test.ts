import { ReportLogin, issuedReportLoginShape } from "@data-cabinet/core/row/ReportLogin"
import {
  reportLoginShape,
  type LoginOutcome,
  type ReportLoginState,
  ReportLoginStore,
} from "@data-cabinet/core/row/ReportLoginStore"
import { Effect, Layer } from "effect"
import { expect, it } from "vitest"

const STATE: ReportLoginState = {
  role: "cabinet_reports",
  active: true,
  url: "postgresql://cabinet_reports@db.example:5432/shop?sslmode=require",
  sessions: 1,
  maxSessions: 20,
  beyond: [],
}

const over = ({
  urls = [STATE.url],
  issued = { is: "done", value: { password: "p@ss/w:rd?" } },
  revoked = { is: "done", value: null },
}: {
  /** Where it connects at each call; the last value repeats. */
  readonly urls?: ReadonlyArray<string | null>
  readonly issued?: LoginOutcome<{ readonly password: string }>
  readonly revoked?: LoginOutcome<null>
} = {}) => {
  const reached: Array<string> = []
  const left = [...urls]
  const noted = <A>(act: string, value: A) =>
    Effect.as(
      Effect.sync(() => reached.push(act)),
      value,
    )
  const store = Layer.succeed(ReportLoginStore, {
    read: Effect.sync(() => ({ ...STATE, url: left.length > 1 ? left.shift()! : left[0]! })),
    issue: noted("issue", issued),
    revoke: noted("revoke", revoked),
  })
  const run = <A, E>(work: (login: ReportLogin["Service"]) => Effect.Effect<A, E>) =>
    Effect.runSync(Effect.result(ReportLogin.use(work)).pipe(Effect.provide(Layer.provide(ReportLogin.layer, store))))
  return { reached, run }
}

it("ReportLogin shows the password of an issued login once, alone and in its URL", () => {
  const issued = over().run((login) => login.issue())
  expect(issued).toMatchObject({ success: { ...STATE, url: expect.any(String), password: "p@ss/w:rd?" } })
  const url = new URL((issued as { readonly success: { readonly url: string } }).success.url)
  expect(decodeURIComponent(url.password)).toBe("p@ss/w:rd?")
  expect([url.username, url.host, url.pathname, url.search]).toEqual([
    "cabinet_reports",
    "db.example:5432",
    "/shop",
    "?sslmode=require",
  ])
})

it("ReportLogin shows no password when read or revoked", () => {
  const { reached, run } = over()
  expect(run((login) => login.get)).toMatchObject({ success: STATE })
  expect(run((login) => login.revoke())).toMatchObject({ success: STATE })
  expect(reached).toEqual(["revoke"])
  const json = { role: "cabinet_reports", active: true, url: STATE.url, sessions: 1, max_sessions: 20, beyond: [] }
  expect(reportLoginShape.json(STATE)).toEqual(json)
  const login = { ...STATE, url: "postgresql://with:secret@db.example", password: "secret" }
  expect(reportLoginShape.json({ ...login, url: STATE.url })).toEqual(json)
  expect(issuedReportLoginShape.json(login)).toEqual({ ...json, url: login.url, password: "secret" })
})

it("ReportLogin issues no password when no client could connect", () => {
  const { reached, run } = over({ urls: [null] })
  expect(run((login) => login.issue())).toMatchObject({ failure: { code: "not_listening" } })
  expect(reached).toEqual([])
  const meanwhile = over({ urls: [STATE.url, null] })
  expect(meanwhile.run((login) => login.issue())).toMatchObject({ failure: { code: "not_listening" } })
})

it.each<[LoginOutcome<never>, string, RegExp]>([
  [{ is: "no_reader", role: "cabinet_reader" }, "no_reader", /cabinet_reader/],
  [
    { is: "denied", detail: "permission denied", statements: ["CREATE ROLE a", "GRANT b"] },
    "login_denied",
    /\(permission denied\).*CREATE ROLE a; GRANT b;$/,
  ],
])("a change that the database refuses is reported with the statement to run: %j", (outcome, code, words) => {
  const { run } = over({ issued: outcome, revoked: outcome })
  const refused = { failure: { code, message: expect.stringMatching(words) } }
  expect(run((login) => login.issue())).toMatchObject(refused)
  expect(run((login) => login.revoke())).toMatchObject(refused)
})
