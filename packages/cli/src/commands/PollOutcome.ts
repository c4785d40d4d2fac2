/** The outcome of a poll, or of its trial, as the command shows it. */
import { type Poll, type PollRun, type PollTrial, pollTrialShape } from "@data-cabinet/core/poll/Poll"
import { Effect } from "effect"
import { counted } from "@data-cabinet/core/text/Counted"
import { doubtLines } from "../output/DoubtLines.ts"
import { plainText } from "../output/PlainText.ts"
import { report } from "../output/Report.ts"
import type { Style } from "../output/Style.ts"
import { CommandError } from "../error/CommandError.ts"
import { format } from "./Root.ts"

/** Whether the poll works, fails or is paused, in words. */
export const state = (poll: Poll): string => {
  if (poll.paused) return "paused"
  return poll.failures === 0 ? "working" : `failed ${counted(poll.failures, "time")}`
}

const trialLines = (trial: PollTrial, style: Style): ReadonlyArray<string> => {
  const { failure, fresh, items, history, preview, beginning } = trial
  const facts = [trial.status, trial.contentType, trial.format, trial.encoding, `${trial.durationMs} ms`, trial.peer]
  const marks = [trial.etag === null ? null : `ETag ${trial.etag}`, trial.lastModified]
  const head =
    failure === null
      ? `${counted(items, "item")}, ${fresh} of them new${fresh > 0 && history ? ", as history" : ""}. Nothing was kept.`
      : `The response cannot be read: ${failure}.`
  const shown = [...facts, ...marks].filter((fact) => fact !== null).join(", ")
  const lines = preview.map(
    ({ payload, whole, fresh: isFresh }) => `${isFresh ? "new  " : "known"} ${payload}${whole ? "" : "…"}`,
  )
  return [head, shown, ...doubtLines(trial.doubts), ...lines, ...(beginning === null ? [] : [beginning])].map(
    (line, n) => (n === 0 ? line : style.dim(`  ${plainText(line)}`)),
  )
}

/** The result of a trial; its failure is an error of the command, like that of a run. */
export const reportTrial = Effect.fnUntraced(function* (trial: PollTrial) {
  yield* report(yield* format, pollTrialShape.json(trial), (style) => trialLines(trial, style).join("\n"))
  if (trial.failure !== null) {
    return yield* new CommandError({ code: "refused", message: `The poll would fail: ${trial.failure}` })
  }
})

/** What a run brought, or why it failed. */
export const outcome = (run: PollRun): string =>
  run.outcome === "failed"
    ? (run.failure ?? "failed")
    : run.outcome === "unchanged"
      ? `nothing new (${run.status})`
      : `${counted(run.items, "item")}, ${run.fresh} of them new`
