/** The polls of a file, each named by its source and its URL. */
import { snakeKeys } from "@data-cabinet/core/json/KeyCase"
import { parseAddressUrl } from "@data-cabinet/core/delivery/AddressUrl"
import { pollChecks } from "@data-cabinet/core/poll/CheckPoll"
import { type NewPoll, type Poll, pollShape } from "@data-cabinet/core/poll/Poll"
import { POLL_SETTINGS } from "@data-cabinet/core/poll/PollSettings"
import { Polls } from "@data-cabinet/core/poll/Polls"
import { camelFields } from "@data-cabinet/http-node/manage/ManageBodies"
import { Effect, Result } from "effect"
import type { Entry } from "./FileSchema.ts"
import type { KnownSources, SourceNames } from "./PlanAddresses.ts"
import { planHeaders } from "./PlanHeaders.ts"
import type { Path, Problem } from "./Problem.ts"
import { fieldChanges, type Pair, pairUp, pick, type Planning, type SectionPlan, type Step } from "./Step.ts"

type PollEntry = Entry<"polls">

/** The defaults of a new poll, under their names in the file. */
export const POLL_DEFAULTS = snakeKeys(POLL_SETTINGS.defaults) as { readonly [name: string]: unknown }

const NAMES = Object.keys(POLL_DEFAULTS)

/** The settings of a poll as a file shows them. */
export const pollJson = (poll: Poll): { readonly [name: string]: unknown } => pick(pollShape.json(poll), NAMES)

const hrefOf = (url: string): string =>
  Result.match(parseAddressUrl(url), { onSuccess: ({ href }) => href, onFailure: () => url })

/** Checks everything but the network: a poll is checked against that when it is added. */
const { checked } = pollChecks({ check: () => Effect.void }, () => Effect.die("no poll is looked up"))

const PARAMS: { readonly [code: string]: string } = {
  bad_url: "url",
  bad_interval: "every_seconds",
  bad_format: "format",
  bad_pointer: "pointer",
  bad_key: "key_field",
  bad_header: "headers",
}

const problemsOf = (poll: NewPoll, path: Path): ReadonlyArray<Problem> => {
  const result = Effect.runSync(Effect.result(checked(poll)))
  if (Result.isSuccess(result)) return []
  const { code, message } = result.failure
  const member = PARAMS[code]
  return [{ path: member === undefined ? path : [...path, member], message }]
}

const planOne = ({ entry, path, object }: Pair<PollEntry, Poll>, planning: Planning) => {
  const { source, headers: listed, paused, ...settings } = entry
  const after = { ...POLL_DEFAULTS, ...pick(settings, NAMES) }
  const own = fieldChanges(object === null ? POLL_DEFAULTS : pollJson(object), after)
  const headers = planHeaders(listed, object?.headerNames ?? [], { path, replacesAll: true, planning })
  const wasPaused = object?.paused ?? false
  const switched =
    paused === undefined || paused === wasPaused ? [] : [{ name: "paused", before: wasPaused, after: paused }]
  const sent = headers.fields.length > 0 ? { headers: headers.set } : {}
  const whole = { ...camelFields(settings), ...sent }
  const step: Step = {
    section: "polls",
    action: object === null ? "create" : "change",
    name: `${source} ← ${hrefOf(entry.url)}`,
    fields: [...own, ...headers.fields, ...switched],
    run: Effect.fnUntraced(function* (made) {
      const polls = yield* Polls
      const id = object?.id ?? (yield* polls.add({ ...whole, sourceId: made.sources.get(source)! })).id
      if (object !== null && own.length + headers.fields.length > 0) {
        yield* polls.change(id, {
          ...camelFields(
            pick(
              after,
              own.map(({ name }) => name),
            ),
          ),
          ...sent,
        })
      }
      if (switched.length > 0) yield* paused === true ? polls.pause(id) : polls.resume(id)
    }),
  }
  const problems = [...problemsOf({ ...whole, sourceId: 1 }, path), ...headers.problems]
  return { step, problems, isSame: object !== null && step.fields.length === 0 }
}

const removal =
  (names: SourceNames) =>
  ({ id, sourceId, url }: Poll): Step => ({
    section: "polls",
    action: "remove",
    name: `${names.get(sourceId) ?? `source ${sourceId}`} ← ${url}`,
    fields: [],
    run: () => Polls.use((polls) => polls.remove(id)),
  })

/** The steps for the polls of a file. */
export const planPolls = (
  entries: ReadonlyArray<PollEntry>,
  current: ReadonlyArray<Poll>,
  { names, misfit }: KnownSources,
  planning: Planning,
): SectionPlan => {
  const keyOf = (source: string, url: string) => JSON.stringify([source, url])
  const { pairs, left, problems } = pairUp("polls", entries, current, {
    ofEntry: ({ source, url }) => keyOf(source, hrefOf(url)),
    ofObject: ({ sourceId, url }) => keyOf(names.get(sourceId) ?? "", url),
  })
  const planned = pairs.map((pair) => planOne(pair, planning))
  const strangers = entries.flatMap(({ source }, index): ReadonlyArray<Problem> => {
    const message = misfit(source)
    return message === null ? [] : [{ path: ["polls", index, "source"], message }]
  })
  return {
    steps: planned.filter(({ isSame }) => !isSame).map(({ step }) => step),
    removals: left.map(removal(names)),
    unchanged: planned.filter(({ isSame }) => isSame).length,
    problems: [...strangers, ...problems, ...planned.flatMap((one) => one.problems)],
  }
}
