/** `cabinet notices on`, `off` and `show`: what happens to the cabinet, as events of a separate source. */
import { type NoticeState, noticeStateShape, Notices } from "@data-cabinet/core/notice/Notices"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { columns } from "../output/Columns.ts"
import { report } from "../output/Report.ts"
import type { Style } from "../output/Style.ts"
import { format, withCabinet } from "./Root.ts"
import { EXAMPLES } from "./Examples.ts"

const carriers = ({ source, addresses }: NoticeState): string =>
  source === null
    ? ""
    : addresses.length === 0
      ? `No address is subscribed to them by name. To receive them: cabinet address add URL --source ${source.id}`
      : `They are delivered to ${addresses.map((id) => `address ${id}`).join(", ")}, which get no notices about themselves.`

const lines = (state: NoticeState, style: Style): string => {
  const { on, source, since, latest } = state
  if (source === null) return "Notices are off. Switch them on with: cabinet notices on"
  const place = `source ${source.id} (${source.name})`
  return [
    on
      ? `Notices are on since ${since}: they are events of ${place}.`
      : `Notices are off; earlier ones are events of ${place}.`,
    ...(on ? [carriers(state)] : []),
    "",
    columns(
      ["EVENT", "AT", "KIND", "SUBJECT", "MESSAGE"],
      latest.map(({ eventId, at, kind, subject, message }) => [String(eventId), at, kind, subject, message]),
      { style, none: "No notices yet." },
    ),
  ].join("\n")
}

const command = (
  name: "on" | "off" | "show",
  about: string,
  work: (notices: Notices["Service"]) => Notices["Service"]["show"],
) =>
  Command.make(name, {}, () =>
    withCabinet({}, () =>
      Effect.gen(function* () {
        const state = yield* Notices.use(work)
        yield* report(yield* format, noticeStateShape.json(state), (style) => lines(state, style))
      }),
    ),
  ).pipe(Command.withDescription(about))

export const noticesCommand = Command.make("notices").pipe(
  Command.withExamples(EXAMPLES.notices),
  Command.withDescription("Send notices as events: failing addresses, silent sources, new columns"),
  Command.withSubcommands([
    command("on", "Send notices, as events of a separate source", (notices) => notices.switchOn()),
    command("off", "Stop sending notices; those already sent are kept", (notices) => notices.switchOff()),
    command("show", "Show whether notices are on, and the latest of them", ({ show }) => show),
  ]),
)
