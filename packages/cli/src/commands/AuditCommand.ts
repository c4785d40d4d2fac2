/** `cabinet audit`: who did what, newest first. */
import { type AuditEntry, auditEntryShape, AuditLog } from "@data-cabinet/core/audit/AuditLog"
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { columns } from "../output/Columns.ts"
import { report } from "../output/Report.ts"
import { limitFlag } from "./LimitFlag.ts"
import { format, withCabinet } from "./Root.ts"

const only = (name: string, metavar: string, about: string) =>
  Flag.String(name).pipe(Flag.withMetavar(metavar), Flag.withDescription(about), Flag.optional)

const cells = ({ at, actor, action, object, outcome, changes }: AuditEntry): ReadonlyArray<string> => [
  at,
  actor.name,
  actor.role,
  action,
  object ?? "",
  outcome ?? "open",
  Object.keys(changes).length === 0 ? "" : JSON.stringify(changes),
]

export const auditCommand = Command.make(
  "audit",
  {
    limit: limitFlag("entries", 10_000, 50),
    before: Flag.Int("before").pipe(
      Flag.withMetavar("ID"),
      Flag.withDescription("Only entries older than the one with this id"),
      Flag.optional,
    ),
    action: only("action", "ACTION", "Only this action, such as source.create"),
    object: only("object", "OBJECT", "Only actions on this object, such as 'source 5'"),
    who: only("who", "NAME", "Only actions of the person or token with this name"),
  },
  (input) =>
    withCabinet({}, () =>
      Effect.gen(function* () {
        const entries = yield* AuditLog.use((log) =>
          log.list({
            limit: input.limit,
            before: Option.getOrUndefined(input.before),
            action: Option.getOrUndefined(input.action),
            object: Option.getOrUndefined(input.object),
            who: Option.getOrUndefined(input.who),
          }),
        )
        yield* report(yield* format, entries.map(auditEntryShape.json), (style) =>
          columns(["AT", "WHO", "ROLE", "ACTION", "OBJECT", "OUTCOME", "CHANGES"], entries.map(cells), {
            style,
            none: "No entries.",
          }),
        )
      }),
    ),
).pipe(Command.withDescription("List the audit log: who did what, newest first"))
