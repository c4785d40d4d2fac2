/** The items that a tried poll would accept. All of it comes from outside, so it is shown as text. */
import type { PollTrial } from "@data-cabinet/core/poll/Poll"
import { type Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { doubtTable } from "../file/Doubts.ts"
import { failureText } from "../html/FailureText.ts"
import { badge } from "../html/Badge.ts"
import { jsonTree } from "../html/JsonTree.ts"
import type { Frame } from "../html/Shell.ts"

const fact = (name: string, value: HtmlValue) => value !== null && markup`<dt>${name}</dt><dd>${value}</dd>`

const item = ({ words: { poll: words } }: Frame, { payload, whole, key, fresh }: PollTrial["preview"][number]): Html =>
  markup`<li>${badge(fresh ? "good" : "quiet", fresh ? words.isNew : words.isKnown)} ${key !== null && markup`<bdi class="mono">${key}</bdi>`}${whole ? jsonTree(payload) : markup`<pre class="text" tabindex="0">${payload}…</pre>`}</li>`

export const trialBox = (frame: Frame, trial: PollTrial): Html => {
  const { poll: words, integration, event } = frame.words
  const { status, failure, preview, beginning, keyField, pointer } = trial
  const read = failure === null
  const said = read ? words.wouldTake(trial.fresh, trial.items) : words.outcomes.failed
  return markup`<section class="card" role="status" aria-labelledby="trial"><h2 id="trial">${words.tried} ${badge(read ? "good" : "bad", said)}</h2>
${!read && markup`<p>${failureText(frame, failure)}</p>`}${doubtTable(frame, trial.doubts)}<p class="soft">${words.nothingKept}${read && trial.fresh > 0 && trial.history && ` ${words.asHistory}`}</p>
<dl class="facts">${fact(words.status, status)}${fact(integration.duration, integration.millis(trial.durationMs))}${fact(event.size, event.bytes(trial.bytes))}${fact(words.peer, trial.peer)}
${fact("Content-Type", trial.contentType)}${fact("ETag", trial.etag)}${fact("Last-Modified", trial.lastModified)}${fact(words.format, trial.format)}${fact(event.charset, trial.encoding)}
${read && markup`<dt>${words.pointer}</dt><dd class="mono">${pointer === "" ? "–" : pointer}</dd><dt>${words.key}</dt><dd>${keyField ?? words.wholeContent}</dd>`}</dl>
${preview.length > 0 && markup`<details open><summary>${words.firstItems}</summary><ol>${preview.map((one) => item(frame, one))}</ol></details>`}${beginning !== null && markup`<details open><summary>${words.beginning}</summary><pre class="text" tabindex="0">${beginning}</pre></details>`}</section>`
}
