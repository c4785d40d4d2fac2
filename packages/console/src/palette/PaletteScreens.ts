/**
 * The palette: one place that leads anywhere. It lists what the visitor's role may see, and changes nothing itself: an act leads
 * to the screen with its form.
 */
import { Addresses } from "@data-cabinet/core/delivery/Addresses"
import { EventBrowser } from "@data-cabinet/core/event/EventBrowser"
import { Inbox } from "@data-cabinet/core/inbox/Inbox"
import type { Action } from "@data-cabinet/core/key/Role"
import { allItems } from "@data-cabinet/core/pagination/IdPages"
import { shownPollUrl } from "@data-cabinet/core/poll/Poll"
import { Polls } from "@data-cabinet/core/poll/Polls"
import { Catalog } from "@data-cabinet/core/row/Catalog"
import { Sources } from "@data-cabinet/core/source/Sources"
import { SavedViews } from "@data-cabinet/core/view/SavedViews"
import { Effect } from "effect"
import { type Frame, may, sectionsOf } from "../html/Shell.ts"
import { shownUrl } from "../integration/IntegrationScreen.ts"
import { type ConsoleScreen, wantsFragment } from "../screen/ConsoleScreen.ts"
import { valueOf, withQuery } from "../screen/SelectionLinks.ts"
import { tablePath } from "../table/TablePath.ts"
import type { PaletteEntry } from "./PaletteEntries.ts"
import { paletteOptions, paletteScreen } from "./PaletteScreen.ts"

/** A cabinet may have many more addresses: the first of them are searched, and the list says so. */
const ADDRESSES = 500

/** Each act's screen and the action that it needs; after `#`, the menu with its form. */
const ACTS = {
  failed: ["deliveries?state=retrying", "delivery.read"],
  addSource: ["sources", "source.change"],
  importFile: ["files", "file.upload"],
  addAddress: ["integrations#add-address", "address.change"],
  issueKey: ["integrations#api", "key.change"],
  addPoll: ["polls#add-poll", "poll.change"],
  invite: ["people", "person.change"],
  issueToken: ["tokens", "token.change"],
  trash: ["trash", "event.read"],
  doctor: ["doctor", "diagnostics.read"],
  notices: ["notices", "notices.read"],
  audit: ["audit", "audit.read"],
  settings: ["me", "self.read"],
} as const satisfies Readonly<Record<string, readonly [path: string, action: Action]>>
export type PaletteAct = keyof typeof ACTS

const actsOf = (frame: Frame): ReadonlyArray<PaletteEntry> =>
  (Object.keys(ACTS) as ReadonlyArray<PaletteAct>).flatMap((act) => {
    const [path, action] = ACTS[act]
    return may(frame, action) ? [{ group: "acts", text: frame.words.palette.acts[act], path, also: path }] : []
  })

const sectionEntries = (frame: Frame): ReadonlyArray<PaletteEntry> =>
  sectionsOf(frame).map(({ section, path }) => ({
    group: "sections",
    text: frame.words.sections[section],
    path: below(frame, path),
    also: section,
  }))

/** A screen's path below `/console/`. */
const below = ({ base }: Frame, path: string): string => path.slice(`${base}/console/`.length)

const searchOf = (frame: Frame, text: string): ReadonlyArray<PaletteEntry> =>
  text === "" || !may(frame, "event.read")
    ? []
    : [
        {
          group: "search",
          text: frame.words.palette.searchEvents(text),
          path: withQuery("events", [["text", text]]),
          always: true,
        },
      ]

const otherAddresses = ({ words: { palette, sections } }: Frame): PaletteEntry => ({
  group: "addresses",
  text: sections.integrations,
  note: palette.firstAddresses(ADDRESSES),
  path: "integrations",
  always: true,
})

const entriesFrom = Effect.gen(function* () {
  const [catalog, views, sources, addresses] = [yield* Catalog, yield* SavedViews, yield* Sources, yield* Addresses]
  const [polls, inbox, browser] = [yield* Polls, yield* Inbox, yield* EventBrowser]
  return Effect.fnUntraced(function* (frame: Frame, text: string) {
    const listed = <A, E>(
      action: Action,
      read: Effect.Effect<ReadonlyArray<A>, E>,
      entry: (one: A) => PaletteEntry,
    ): Effect.Effect<ReadonlyArray<PaletteEntry>, E> =>
      may(frame, action) ? Effect.map(read, (all) => all.map(entry)) : Effect.succeed([])
    const number = Number(/^#?([1-9]\d{0,14})$/.exec(text)?.[1] ?? 0)
    const event =
      number === 0 ? Effect.succeed([]) : Effect.map(browser.page({ event: number, limit: 1 }), ({ items }) => items)
    const groups = yield* Effect.all(
      [
        listed("event.read", event, () => ({
          group: "event",
          text: `${frame.words.event.title} #${number}`,
          path: `events/${number}`,
          always: true,
        })),
        listed("row.read", catalog.list, ({ schema, name, source }) => ({
          group: "tables",
          text: name,
          note: [schema, ...(source === null ? [] : [source.name])].join(" · "),
          path: below(frame, tablePath(frame, schema, name)),
          also: `${schema}.${name}`,
        })),
        listed("view.read", views.list, ({ id, title, schema, name }) => ({
          group: "views",
          text: title,
          note: `${schema}.${name}`,
          path: `views/${id}`,
        })),
        listed("source.read", sources.list, ({ id, name }) => ({
          group: "sources",
          text: name,
          path: `sources/${id}`,
        })),
        listed("event.read", inbox.forms, ({ id, name }) => ({ group: "inboxes", text: name, path: `inbox/${id}` })),
        listed("address.read", addresses.list({ after: 0, limit: ADDRESSES }), (address) => ({
          group: "addresses",
          text: shownUrl(frame, address),
          path: `addresses/${address.id}`,
        })),
        listed("poll.read", allItems(polls.list), (poll) => ({
          group: "polls",
          // Like the list of polls: a URL may be a secret from this role.
          text: shownPollUrl(poll, frame.actor?.role ?? null),
          path: `polls/${poll.id}`,
        })),
      ],
      { concurrency: 3 },
    )
    const found = groups.flat()
    const isPart = found.filter(({ group }) => group === "addresses").length === ADDRESSES
    const others = isPart && text !== "" ? [otherAddresses(frame)] : []
    return [...found, ...others, ...sectionEntries(frame), ...actsOf(frame), ...searchOf(frame, text)]
  })
})

export const paletteScreens = Effect.map(entriesFrom, (entriesOf): ReadonlyArray<ConsoleScreen> => [
  {
    path: "/console/go",
    // Every entry is checked for itself.
    action: "self.read",
    get: Effect.fnUntraced(function* (call) {
      const text = (valueOf(call.pairs, "q") ?? "").replaceAll("\0", "").trim()
      const data = { entries: yield* entriesOf(call.frame, text), text }
      return wantsFragment(call)
        ? { fragment: paletteOptions(call.frame, data) }
        : { screen: paletteScreen(call.frame, data) }
    }),
  },
])
