/** The keys, access tokens and people of a file. Secrets are issued, never chosen. */
import type { AccessToken } from "@data-cabinet/core/key/AccessToken"
import { AccessTokens } from "@data-cabinet/core/key/AccessTokens"
import type { ApiKey } from "@data-cabinet/core/key/ApiKey"
import { ApiKeys } from "@data-cabinet/core/key/ApiKeys"
import { checkHolderName, checkList, type KeyError } from "@data-cabinet/core/key/KeyError"
import { People } from "@data-cabinet/core/person/People"
import type { Person } from "@data-cabinet/core/person/Person"
import { Effect, Result } from "effect"
import type { Entry } from "./FileSchema.ts"
import { IssuedFile, isInterrupted, misfitOf } from "./IssuedFile.ts"
import type { Path, Problem } from "./Problem.ts"
import {
  fieldChanges,
  type Made,
  type Pair,
  pairUp,
  type Planning,
  repeated,
  SECRET,
  type SectionPlan,
  type Step,
} from "./Step.ts"

/** What the cabinet has of keys or tokens that are neither revoked nor expired. */
export interface Held {
  readonly id: number
  readonly name: string
  readonly createdAt: string
  readonly expiresAt: string | null
}

/** How long a key was to be valid when it was issued; null: for ever. */
export const lifetimeOf = ({ createdAt, expiresAt }: Held): number | null =>
  expiresAt === null ? null : Math.round((Date.parse(expiresAt) - Date.parse(createdAt)) / 1000)

interface Holder<E, K extends Held> {
  readonly section: "keys" | "tokens"
  readonly kind: string
  /** What is fixed when it is issued, as a file shows it. */
  readonly demanded: (entry: E) => { readonly [name: string]: unknown }
  readonly shown: (held: K) => { readonly [name: string]: unknown }
  readonly check: (entry: E) => Effect.Effect<void, KeyError>
  readonly issue: (entry: E) => Effect.Effect<string, Error, ApiKeys | AccessTokens>
  readonly revoke: (id: number) => Effect.Effect<unknown, Error, ApiKeys | AccessTokens>
}

type HolderEntry = Entry<"keys">

const issuing = <E extends HolderEntry, K extends Held>(
  holder: Holder<E, K>,
  entry: E,
  file: string | null,
  old: K | null,
) =>
  Effect.fnUntraced(function* ({ issued }: Made) {
    const place = file === null ? null : yield* IssuedFile.reserve(file)
    // First, so that a process that ends here leaves one key at most.
    if (old !== null) yield* holder.revoke(old.id)
    const secret = yield* holder.issue(entry)
    if (place !== null) yield* place.write(secret)
    issued.push({ kind: holder.kind, name: entry.name, secret, file: place === null ? null : (entry.write_to ?? null) })
  })

const fixed = (kind: string) =>
  `fixed when a ${kind} is issued: give it another name, or revoke the old one first (cabinet ${kind} revoke).`

const planOne = <E extends HolderEntry, K extends Held>(
  holder: Holder<E, K>,
  { entry, path, object }: Pair<E, K>,
  { references }: Planning,
) => {
  const after = holder.demanded(entry)
  const file = entry.write_to === undefined ? null : references.pathOf(entry.write_to)
  const again = object !== null && file !== null && isInterrupted(file)
  const changed = object === null ? [] : fieldChanges(holder.shown(object), after)
  const problems: Array<Problem> = changed.map(({ name }) => ({ path: [...path, name], message: fixed(holder.kind) }))
  const checked = Effect.runSync(Effect.result(holder.check(entry)))
  if (Result.isFailure(checked))
    problems.push({
      path: [...path, checked.failure.code === "bad_only" ? "only" : "name"],
      message: checked.failure.message,
    })
  const misfit = object === null && file !== null ? misfitOf(file) : null
  if (misfit !== null) problems.push({ path: [...path, "write_to"], message: misfit })
  const step: Step = {
    section: holder.section,
    action: object === null ? "create" : "change",
    name: entry.name,
    fields: [
      ...(object === null
        ? Object.entries(after)
            .map(([name, value]) => ({ name, before: null, after: value }))
            .filter((field) => field.after !== null)
        : []),
      ...(again ? [{ name: "write_to", before: "interrupted", after: SECRET }] : []),
    ],
    run: issuing(holder, entry, file, again ? object : null),
  }
  return { step, problems, isSame: object !== null && !again }
}

const planHolders = <E extends HolderEntry, K extends Held>(
  holder: Holder<E, K>,
  entries: ReadonlyArray<E>,
  current: ReadonlyArray<K>,
  planning: Planning,
): SectionPlan => {
  const nameOf = ({ name }: { readonly name: string }) => name
  const { pairs, left, problems } = pairUp(holder.section, entries, current, { ofEntry: nameOf, ofObject: nameOf })
  const planned = pairs.map((pair) => planOne(holder, pair, planning))
  return {
    steps: planned.filter(({ isSame }) => !isSame).map(({ step }) => step),
    removals: left.map(({ id, name }): Step => ({
      section: holder.section,
      action: "remove",
      name,
      fields: [],
      run: () => holder.revoke(id),
    })),
    unchanged: planned.filter(({ isSame }) => isSame).length,
    problems: [...repeated(holder.section, entries, nameOf), ...problems, ...planned.flatMap((one) => one.problems)],
  }
}

const KEYS: Holder<Entry<"keys">, ApiKey> = {
  section: "keys",
  kind: "key",
  demanded: ({ expires_in_seconds = null }) => ({ expires_in_seconds }),
  shown: (key) => ({ expires_in_seconds: lifetimeOf(key) }),
  check: ({ name }) => checkHolderName(name, "A key"),
  issue: ({ name, expires_in_seconds = null }) =>
    Effect.map(
      ApiKeys.use((keys) => keys.issue(name, expires_in_seconds)),
      ({ key }) => key,
    ),
  revoke: (id) => ApiKeys.use((keys) => keys.revoke(id)),
}

const sorted = (only: ReadonlyArray<string> | null) => (only === null ? null : [...new Set(only)].sort())

const TOKENS: Holder<Entry<"tokens">, AccessToken> = {
  section: "tokens",
  kind: "token",
  demanded: ({ role, only = null, expires_in_seconds = null }) => ({ role, only: sorted(only), expires_in_seconds }),
  shown: (token) => ({ role: token.role, only: sorted(token.only), expires_in_seconds: lifetimeOf(token) }),
  check: ({ name, role, only = null }) => Effect.andThen(checkHolderName(name, "A token"), checkList(role, only)),
  issue: ({ name, role, only = null, expires_in_seconds: expiresInSeconds = null }) =>
    Effect.map(
      AccessTokens.use((tokens) => tokens.issue({ name, role, only, expiresInSeconds })),
      ({ token }) => token,
    ),
  revoke: (id) => AccessTokens.use((tokens) => tokens.revoke(id)),
}

/** The steps for the keys of a file; `current` are the valid ones. */
export const planKeys = (entries: ReadonlyArray<Entry<"keys">>, current: ReadonlyArray<ApiKey>, planning: Planning) =>
  planHolders(KEYS, entries, current, planning)

/** The steps for the access tokens of a file; `current` are the valid ones. */
export const planTokens = (
  entries: ReadonlyArray<Entry<"tokens">>,
  current: ReadonlyArray<AccessToken>,
  planning: Planning,
) => planHolders(TOKENS, entries, current, planning)

/** Those who sign in here: an issuer's people are the issuer's. */
export const ownPeople = (all: ReadonlyArray<Person>): ReadonlyArray<Person> =>
  all.filter(({ issuer, removedAt }) => issuer === null && removedAt === null)

const plainName = ({ name }: { readonly name: string }): string => name.trim().normalize("NFC")

const planPerson = ({ entry, object }: Pair<Entry<"people">, Person>): Step => ({
  section: "people",
  action: object === null ? "create" : "change",
  name: plainName(entry),
  fields: object?.role === entry.role ? [] : [{ name: "role", before: object?.role ?? null, after: entry.role }],
  run: () =>
    People.use((people) =>
      object === null
        ? people.add({ name: entry.name, role: entry.role })
        : people.set(object.id, { role: entry.role }),
    ),
})

/** A cabinet whose people sign in keeps an owner. */
const lastOwner = (entries: ReadonlyArray<Entry<"people">>, current: ReadonlyArray<Person>): ReadonlyArray<Problem> => {
  const named = new Map(entries.map((entry) => [plainName(entry), entry.role]))
  const owners = current.filter(({ role }) => role === "owner")
  const stays = [...named.values()].includes("owner") || owners.some(({ name }) => !named.has(name))
  const at = entries.findIndex((entry) => owners.some(({ name }) => name === plainName(entry)))
  if (owners.length === 0 || stays) return []
  const path: Path = at < 0 ? ["people"] : ["people", at, "role"]
  return [{ path, message: "The cabinet would have no owner left." }]
}

/** The steps for the people of a file. */
export const planPeople = (entries: ReadonlyArray<Entry<"people">>, current: ReadonlyArray<Person>): SectionPlan => {
  const { pairs, left, problems } = pairUp("people", entries, ownPeople(current), {
    ofEntry: plainName,
    ofObject: plainName,
  })
  const steps = pairs.map(planPerson)
  const changes = steps.filter(({ action, fields }) => action === "create" || fields.length > 0)
  return {
    steps: changes,
    removals: left.map(({ id, name }): Step => ({
      section: "people",
      action: "remove",
      name,
      fields: [],
      run: () => People.use((people) => people.remove(id)),
    })),
    unchanged: steps.length - changes.length,
    problems: [...repeated("people", entries, plainName), ...problems, ...lastOwner(entries, ownPeople(current))],
  }
}
