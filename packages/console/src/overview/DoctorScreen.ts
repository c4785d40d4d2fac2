/** The findings of `cabinet doctor` as a screen, most urgent first. */
import type { Finding } from "@data-cabinet/core/diagnostics/Finding"
import { type Html, markup } from "@data-cabinet/http-node/html/Html"
import { badge, type Tone } from "../html/Badge.ts"
import { consolePath, type Frame, type Screen } from "../html/Shell.ts"

const TONES = { bad: "bad", warn: "warn", ok: "good" } as const satisfies Record<Finding["level"], Tone>

const ORDER: ReadonlyArray<Finding["level"]> = ["bad", "warn", "ok"]

/** In the visitor's language, with the message itself, which names the details. */
const said = ({ words: { doctor } }: Frame, { check, level, message }: Finding): Html => {
  const finding = doctor.finding(check, level)
  return finding === null
    ? markup`<th scope="row" class="mono nowrap">${check}</th><td lang="en">${message}</td>`
    : markup`<th scope="row" class="nowrap">${finding.name}</th><td>${finding.sentence}<small lang="en">${message}</small></td>`
}

export const doctorScreen = (frame: Frame, findings: ReadonlyArray<Finding>): Screen => {
  const { doctor: words, overview, table } = frame.words
  const sorted = findings.toSorted((one, other) => ORDER.indexOf(one.level) - ORDER.indexOf(other.level))
  const line = ({ check, level, message }: Finding) =>
    markup`<tr><td>${badge(TONES[level], words.levels[level])}</td>${said(frame, { check, level, message })}</tr>`
  const report = sorted.map(({ check, level, message }) => `${level.padEnd(4)} ${check}: ${message}`).join("\n")
  const troubles = findings.filter(({ level }) => level !== "ok").length
  return {
    title: words.title,
    section: "overview",
    main: markup`<p><a href="${consolePath(frame)}">← ${overview.title}</a></p><div class="head"><h1>${words.title}</h1><button type="button" data-copy="report">${table.copy}</button></div>
<p class="soft">${troubles === 0 ? words.well : words.troubles(troubles)}</p>
<div class="card flush"><table class="list stacked"><thead><tr><th scope="col">${frame.words.event.state}</th><th scope="col">${words.check}</th><th scope="col">${words.message}</th></tr></thead><tbody>${sorted.map(line)}</tbody></table></div>
<textarea id="report" class="hide" readonly tabindex="-1" aria-label="${words.title}">${report}</textarea>`,
  }
}
