/** What the audit log records of each act, so that it can be searched, and that it contains no secret. */
import { X509Certificate } from "node:crypto"
import { rootCertificates } from "node:tls"
import { type Actor, CurrentActor } from "@data-cabinet/core/audit/Actor"
import { layer } from "@data-cabinet/core/acts/AuditedCabinet"
import { AuditLog, type Intent } from "@data-cabinet/core/audit/AuditLog"
import { Addresses } from "@data-cabinet/core/delivery/Addresses"
import { Deliveries } from "@data-cabinet/core/delivery/Deliveries"
import { Erasure } from "@data-cabinet/core/event/Erasure"
import { Rereading } from "@data-cabinet/core/intake/Rereading"
import { Trash } from "@data-cabinet/core/event/Trash"
import { Inbox } from "@data-cabinet/core/inbox/Inbox"
import { Followers } from "@data-cabinet/core/follower/Followers"
import { Import } from "@data-cabinet/core/file/Import"
import { Imports } from "@data-cabinet/core/file/Imports"
import { AccessTokens } from "@data-cabinet/core/key/AccessTokens"
import { ApiKeys } from "@data-cabinet/core/key/ApiKeys"
import { Notices } from "@data-cabinet/core/notice/Notices"
import { People } from "@data-cabinet/core/person/People"
import { Sessions } from "@data-cabinet/core/person/Sessions"
import { ColdHistory } from "@data-cabinet/core/cold/ColdHistory"
import { Destinations } from "@data-cabinet/core/destination/Destinations"
import { Polls } from "@data-cabinet/core/poll/Polls"
import { ColumnIndexes } from "@data-cabinet/core/row/ColumnIndexes"
import { LatestViews } from "@data-cabinet/core/row/LatestViews"
import { ReportLogin } from "@data-cabinet/core/row/ReportLogin"
import { SchemaGrants } from "@data-cabinet/core/row/SchemaGrants"
import { SearchIndex } from "@data-cabinet/core/row/SearchIndex"
import { SourceColumns } from "@data-cabinet/core/row/SourceColumns"
import { TableRebuild } from "@data-cabinet/core/row/TableRebuild"
import { Sources } from "@data-cabinet/core/source/Sources"
import { LateVerification } from "@data-cabinet/core/event/LateVerification"
import { SavedViews } from "@data-cabinet/core/view/SavedViews"
import { Context, Effect, Layer } from "effect"
import { expect, it } from "vitest"

const USE_CASES = {
  Addresses,
  ColdHistory,
  Deliveries,
  Destinations,
  Erasure,
  Followers,
  Trash,
  Inbox,
  Import,
  Imports,
  AccessTokens,
  ApiKeys,
  Notices,
  People,
  Sessions,
  Polls,
  ColumnIndexes,
  LatestViews,
  ReportLogin,
  SchemaGrants,
  SearchIndex,
  SourceColumns,
  Sources,
  LateVerification,
  Rereading,
  SavedViews,
  TableRebuild,
}
type UseCase = keyof typeof USE_CASES
type Provided = Layer.Success<typeof layer>
type Ports = Layer.Services<typeof layer>

const ADA: Actor = { kind: "person", id: 3, name: "Ada", role: "owner", from: null, requestId: null }

/** Calls a use case; returns its audit entries, and the calls that reached the use case behind the log. */
const call = (of: UseCase, method: string, args: ReadonlyArray<unknown>) => {
  const intents: Array<Intent> = []
  const made: Array<string | null> = []
  const reached: Array<unknown> = []
  const log = AuditLog.of({
    begin: (intent) => Effect.sync(() => (intents.push(intent), { id: 5, at: "2026-11-26T10:00:00Z" })),
    end: (_entry, _outcome, object) => Effect.sync(() => void made.push(object)),
    list: () => Effect.succeed([]),
  })
  const behind = Object.entries(USE_CASES).map(([name, key]) => {
    const service = new Proxy(name === of ? { [method]: null } : {}, {
      get:
        (_, asked) =>
        (...given: ReadonlyArray<unknown>) =>
          Effect.sync(() => (reached.push([name, asked, given]), { id: 9 })),
    })
    return Context.make(key as Context.Key<unknown, unknown>, service)
  })
  const ports = Layer.succeedContext(Context.mergeAll(...behind, Context.make(AuditLog, log)) as Context.Context<Ports>)
  const asked: Effect.Effect<object, never, Provided> = USE_CASES[of] as never
  const work = Effect.flatMap(asked, (service) =>
    (service as Record<string, (...given: ReadonlyArray<unknown>) => Effect.Effect<unknown>>)[method]!(...args),
  )
  Effect.runSync(work.pipe(Effect.provide(Layer.provide(layer, ports)), Effect.provideService(CurrentActor, ADA)))
  expect(reached).toEqual([[of, method, args]])
  const [intent] = intents
  return intent === undefined ? null : { ...intent, made: made[0] }
}

const URL = "https://user:word@example.com/hook?token=SECRET"
const MASKED = "https://…@example.com/hook?…"
const HEADERS = [["X-Token", "SECRET"]]

it.each<[UseCase, string, ReadonlyArray<unknown>, string, string | null]>([
  ["Sources", "reveal", [7], "source.reveal", "source 7"],
  ["Sources", "archive", [7], "source.archive", "source 7"],
  ["Sources", "restore", [7], "source.restore", "source 7"],
  ["Sources", "rotateSecret", [7], "source.rotate_secret", "source 7"],
  ["SavedViews", "remove", [7], "view.remove", "view 7"],
  ["ApiKeys", "revoke", [7], "key.revoke", "key 7"],
  ["AccessTokens", "revoke", [7], "token.revoke", "token 7"],
  ["People", "remove", [7], "person.remove", "person 7"],
  ["People", "link", [7], "person.link", "person 7"],
  ["People", "setPassword", [{ personId: 7 }, "SECRET", "SECRET"], "person.set_password", "person 7"],
  ["Sessions", "end", [7, null], "session.end", "session 7"],
  ["Sessions", "endAll", [7], "session.end_all", "person 7"],
  ["Addresses", "reveal", [7], "address.reveal", "address 7"],
  ["Addresses", "remove", [7], "address.remove", "address 7"],
  ["Addresses", "pause", [7], "address.pause", "address 7"],
  ["Addresses", "resume", [7], "address.resume", "address 7"],
  ["Addresses", "rotateSecret", [7], "address.rotate_secret", "address 7"],
  ["Addresses", "ping", [7], "address.ping", "address 7"],
  ["Deliveries", "resend", [7], "delivery.resend", "delivery 7"],
  ["Deliveries", "cancel", [7], "delivery.cancel", "delivery 7"],
  ["Destinations", "pause", [7], "destination.pause", "destination 7"],
  ["Destinations", "resume", [7], "destination.resume", "destination 7"],
  ["Destinations", "restart", [7], "destination.restart", "destination 7"],
  ["Destinations", "remove", [7], "destination.remove", "destination 7"],
  ["Polls", "pause", [7], "poll.pause", "poll 7"],
  ["Polls", "resume", [7], "poll.resume", "poll 7"],
  ["Polls", "remove", [7], "poll.remove", "poll 7"],
  ["Polls", "run", [7], "poll.run", "poll 7"],
  ["Notices", "switchOn", [], "notices.on", null],
  ["Notices", "switchOff", [], "notices.off", null],
  ["SearchIndex", "build", ["sources", "orders"], "search_index.build", "table sources.orders"],
  ["SearchIndex", "drop", ["sources", "orders"], "search_index.drop", "table sources.orders"],
  ["SchemaGrants", "expose", ["shop"], "schema.expose", "schema shop"],
  ["SchemaGrants", "hide", ["shop"], "schema.hide", "schema shop"],
  ["SchemaGrants", "add", ["shop"], "schema.add", "schema shop"],
  ["ReportLogin", "issue", [], "report_login.issue", null],
  ["ReportLogin", "revoke", [], "report_login.revoke", null],
])("the act %s.%s%j is logged as %s of %s, without details", (of, method, args, action, object) => {
  expect(call(of, method, args)).toEqual({ actor: ADA, action, object, changes: {}, made: null })
})

it.each<[UseCase, string, ReadonlyArray<unknown>, object]>([
  [
    "Sources",
    "create",
    [
      {
        name: "Orders",
        verify: { recipe: "github", secret: "SECRET" },
        challenge: { recipe: "zoom", secret: "SECRET" },
      },
    ],
    {
      action: "source.create",
      object: null,
      made: "source 9",
      changes: {
        name: "Orders",
        verify: { recipe: "github", secret: "new" },
        challenge: { recipe: "zoom", secret: "new" },
      },
    },
  ],
  [
    "Sources",
    "change",
    [7, { verify: { recipe: "github" }, challenge: { recipe: "zoom" } }],
    {
      action: "source.change",
      object: "source 7",
      changes: { verify: { recipe: "github", secret: "kept" }, challenge: { recipe: "zoom", secret: "kept" } },
    },
  ],
  ["Sources", "change", [7, { verify: null, challenge: null }], { changes: { verify: null, challenge: null } }],
  ["Sources", "change", [7, { rate: 60 }], { changes: { rate: 60 } }],
  ["Sources", "remove", [7, "drop"], { action: "source.delete", object: "source 7", changes: { table: "drop" } }],
  ["Sources", "rotateSecret", [7, { keepOldSeconds: 60 }], { changes: { keep_old_seconds: 60 } }],
  ["Addresses", "skip", [7, { eventId: 9, reason: "broken" }], { changes: { event_id: 9, reason: "broken" } }],
  [
    "SourceColumns",
    "relabel",
    [7, "city", "City"],
    { action: "column.relabel", object: "source 7 column city", changes: { label: "City" } },
  ],
  [
    "SourceColumns",
    "retype",
    [7, "city", "text", { withViews: true, notation: { numbers: "comma" } }],
    {
      action: "column.retype",
      object: "source 7 column city",
      changes: { type: "text", with_views: true, numbers: "comma" },
    },
  ],
  [
    "SavedViews",
    "save",
    [{ title: "Mine", schema: "sources", name: "orders", shared: true, params: [["q", "SECRET"]] }],
    {
      action: "view.save",
      object: null,
      made: "view 9",
      changes: { title: "Mine", schema: "sources", name: "orders", shared: true },
    },
  ],
  [
    "ApiKeys",
    "issue",
    ["shop"],
    { action: "key.issue", made: "key 9", changes: { name: "shop", expires_in_seconds: null } },
  ],
  [
    "AccessTokens",
    "issue",
    [{ name: "shop", role: "reader", expiresInSeconds: 60 }],
    { action: "token.issue", made: "token 9", changes: { name: "shop", role: "reader", expires_in_seconds: 60 } },
  ],
  [
    "AccessTokens",
    "issue",
    [{ name: "shop", role: "reader", expiresInSeconds: 60, only: { sources: [1] } }],
    { changes: { name: "shop", role: "reader", expires_in_seconds: 60, only: { sources: [1] } } },
  ],
  [
    "People",
    "add",
    [{ name: "Bob", role: "viewer" }],
    { action: "person.add", object: null, made: "person 9", changes: { name: "Bob", role: "viewer" } },
  ],
  [
    "People",
    "set",
    [7, { role: "owner" }],
    { action: "person.change", object: "person 7", changes: { role: "owner" } },
  ],
  [
    "Deliveries",
    "resendRange",
    [{ addressId: 7, from: "a", to: "b" }],
    { action: "address.resend", object: "address 7", changes: { from: "a", to: "b" } },
  ],
  [
    "Deliveries",
    "resendListed",
    [{ addressId: 7, eventId: null, state: null, outcome: "refused", retrying: false }],
    { action: "delivery.resend", object: null, changes: { addressId: 7, outcome: "refused" } },
  ],
  [
    "Import",
    "file",
    [7, { name: "a.csv" }, {}],
    { action: "file.import", object: "source 7", changes: { file: "a.csv", dry_run: false } },
  ],
  ["Import", "file", [7, { name: "a.csv" }, { dryRun: true }], { changes: { file: "a.csv", dry_run: true } }],
  ["Imports", "cancel", [7], { action: "file.cancel", object: "import 7", changes: {} }],
  ["Imports", "undo", [7], { action: "file.undo", object: "import 7", changes: {} }],
  [
    "TableRebuild",
    "run",
    [7, { columns: [{ column: "city", type: "text" }], withoutEmpty: true, nestBrackets: false }],
    {
      action: "table.rebuild",
      object: "source 7",
      changes: { columns: [{ column: "city", type: "text" }], without_empty: true, nest_brackets: false },
    },
  ],
  [
    "TableRebuild",
    "start",
    [7, { columns: [], withoutEmpty: false, nestBrackets: true }],
    {
      action: "table.rebuild",
      object: "source 7",
      changes: { columns: [], without_empty: false, nest_brackets: true },
    },
  ],
  ["TableRebuild", "cancel", [7], { action: "table.cancel_rebuild", object: "source 7", changes: {} }],
  ["SourceColumns", "drop", [7, "city"], { action: "column.drop", object: "source 7 column city", changes: {} }],
  [
    "ColumnIndexes",
    "build",
    ["sources", "orders", ["city"]],
    { action: "index.build", object: "table sources.orders", changes: { columns: ["city"] } },
  ],
  [
    "ColumnIndexes",
    "drop",
    ["sources", "orders", "by_city"],
    { action: "index.drop", object: "table sources.orders", changes: { index: "by_city" } },
  ],
  ["ColdHistory", "thaw", ["all"], { action: "cold.thaw", changes: { range: "all" } }],
  [
    "LatestViews",
    "create",
    [{ schema: "sources", name: "orders", keys: ["id"], by: "at", view: "latest", replace: false }],
    {
      action: "latest_view.create",
      object: "table sources.orders",
      changes: { keys: ["id"], by: "at", view: "latest", replace: false },
    },
  ],
  [
    "Addresses",
    "create",
    [{ url: URL, sources: "all", headers: HEADERS, clientIdentity: { certificate: "SECRET", key: "SECRET" } }],
    {
      action: "address.create",
      made: "address 9",
      changes: { url: MASKED, sources: "all", header_names: ["X-Token"], client_certificate: null },
    },
  ],
  [
    "Addresses",
    "set",
    [7, { setHeaders: HEADERS, removeHeaders: ["X-Old"], clientIdentity: null, rate: 5 }],
    {
      action: "address.change",
      object: "address 7",
      changes: { set_header_names: ["X-Token"], removed_header_names: ["X-Old"], client_certificate: null, rate: 5 },
    },
  ],
  ["Addresses", "set", [7, { rate: 5 }], { changes: { rate: 5 } }],
  [
    "Addresses",
    "set",
    [7, { clientIdentity: { certificate: rootCertificates[0], key: "SECRET" } }],
    { changes: { client_certificate: new X509Certificate(rootCertificates[0]!).fingerprint256 } },
  ],
  [
    "Polls",
    "add",
    [{ sourceId: 7, url: URL, everySeconds: 60, headers: HEADERS }],
    {
      action: "poll.add",
      object: null,
      made: "poll 9",
      changes: { sourceId: 7, url: MASKED, everySeconds: 60, header_names: ["X-Token"] },
    },
  ],
  [
    "Polls",
    "change",
    [7, { url: URL, headers: HEADERS, everySeconds: 60 }],
    { action: "poll.change", object: "poll 7", changes: { url: MASKED, header_names: ["X-Token"], everySeconds: 60 } },
  ],
  ["Polls", "change", [7, { everySeconds: 60 }], { changes: { everySeconds: 60 } }],
  [
    "Polls",
    "tryAdd",
    [{ sourceId: 7, url: URL, everySeconds: 60 }],
    {
      action: "poll.try",
      object: "source 7",
      changes: { sourceId: 7, url: MASKED, everySeconds: 60, header_names: [] },
    },
  ],
  [
    "Polls",
    "tryAdd",
    [{ sourceId: 7, url: URL, headers: HEADERS }],
    { changes: { sourceId: 7, url: MASKED, header_names: ["X-Token"] } },
  ],
  [
    "Polls",
    "tryChange",
    [7, { url: URL, headers: HEADERS }],
    { action: "poll.try", object: "poll 7", changes: { url: MASKED, header_names: ["X-Token"] } },
  ],
  [
    "Erasure",
    "erase",
    [{ filters: [{ fc: "email", fo: "eq", fv: "SECRET" }], sourceId: 7, after: 0 }],
    { action: "event.erase", object: "source 7", changes: { conditions: ["email eq"], continued: false } },
  ],
  [
    "Erasure",
    "erase",
    [{ filters: [{ fc: "email", fo: "eq", fv: "SECRET" }], sourceId: null, after: 12 }],
    { object: null, changes: { conditions: ["email eq"], continued: true } },
  ],
  [
    "LateVerification",
    "events",
    [[1, 2], { deliver: true }],
    { action: "event.verify", object: null, changes: { count: 2, events: [1, 2], deliver: true } },
  ],
  [
    "LateVerification",
    "source",
    [{ sourceId: 7, deliver: false }],
    { action: "event.verify", object: "source 7", changes: { deliver: false, continued: false } },
  ],
  [
    "LateVerification",
    "source",
    [{ sourceId: 7, deliver: false, cursor: "c" }],
    { changes: { deliver: false, continued: true } },
  ],
  [
    "Rereading",
    "events",
    [[1, 2], { encoding: "koi8-r", allValues: false, deliver: true }],
    {
      action: "event.reread",
      object: null,
      changes: { count: 2, events: [1, 2], encoding: "koi8-r", all_values: false, deliver: true },
    },
  ],
  [
    "Rereading",
    "source",
    [{ sourceId: 7, encoding: "koi8-r", allValues: true, deliver: false, cursor: "c" }],
    {
      action: "event.reread",
      object: "source 7",
      changes: { encoding: "koi8-r", all_values: true, deliver: false, continued: true },
    },
  ],
  ["Trash", "trash", [7, [1]], { action: "event.trash", object: "source 7", changes: { count: 1, events: [1] } }],
  [
    "Inbox",
    "mark",
    [7, [1], { done: true }],
    { action: "inbox.mark", object: "source 7", changes: { count: 1, events: [1], done: true } },
  ],
  ["Trash", "untrash", [7, [1]], { action: "event.restore", object: "source 7", changes: { count: 1, events: [1] } }],
  ["Trash", "purge", [[1]], { action: "event.purge", object: null, changes: { count: 1, events: [1] } }],
])("the act %s.%s%j is logged with the requested changes, and without secrets", (of, method, args, expected) => {
  const written = call(of, method, args)
  expect(written).toMatchObject(expected)
  expect(written?.changes).toEqual((expected as Pick<Intent, "changes">).changes)
  expect(JSON.stringify(written)).not.toMatch(/SECRET|user:word/)
})

it("an act on many events records their number and the first hundred", () => {
  const events = Array.from({ length: 101 }, (_, n) => n + 1)
  expect(call("Trash", "purge", [events])?.changes).toEqual({ count: 101, events: events.slice(0, 100) })
})

it.each<[UseCase, string, ReadonlyArray<unknown>]>([
  ["Sources", "get", [7]],
  ["AccessTokens", "find", ["SECRET"]],
  ["Addresses", "test", [7]],
])("%s.%s%j, which changes and reveals nothing, is not logged", (of, method, args) => {
  expect(call(of, method, args)).toBeNull()
})
