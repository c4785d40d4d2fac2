/** The screen of files. A file is written to this machine's disk first, as an upload by a program is, and by the same use case. */
import { Import } from "@data-cabinet/core/file/Import"
import { ImportStore } from "@data-cabinet/core/file/ImportStore"
import { Sources } from "@data-cabinet/core/source/Sources"
import { Html } from "@data-cabinet/http-node/html/Html"
import { spool } from "@data-cabinet/http-node/file/Spool"
import { UploadLimits } from "@data-cabinet/http-node/file/UploadRoute"
import { type ManageError, manageErrorOf } from "@data-cabinet/http-node/manage/ManageError"
import { Effect, Option, Semaphore } from "effect"
import { ConsoleSettings } from "../ConsoleSettings.ts"
import { filledForm } from "../screen/FilledForm.ts"
import type { Frame, Screen } from "../html/Shell.ts"
import { idOf } from "../screen/Act.ts"
import {
  type ConsoleScreen,
  type FormCall,
  type FormRefusal,
  type Pairs,
  wantsFragment,
} from "../screen/ConsoleScreen.ts"
import { type FileData, fileScreen, csvChoiceIn } from "./FileScreen.ts"
import { reportBox } from "./ReportBox.ts"
import { notationIn } from "../html/Choice.ts"

const LISTED = 50
/** Uploads from the console at the same time, in one process; programs have slots of their own. */
const AT_ONCE = 2

/** The form's choices, next to the result for the file. */
const filledAgain = ({ frame, address }: FormCall, screen: Screen, pairs: Pairs): Screen => {
  const main = filledForm(screen.main.text, { action: frame.base + address, pairs }, null)
  return main === null ? screen : { ...screen, main: new Html(main) }
}

export const fileScreens = Effect.gen(function* () {
  const files = yield* Import
  const store = yield* ImportStore
  const sources = yield* Sources
  const limits = yield* UploadLimits
  const { timeZone } = yield* ConsoleSettings
  const slots = Semaphore.makeUnsafe(AT_ONCE)

  const shown = Effect.fnUntraced(function* (frame: Frame, report: FileData["report"]) {
    const data = { imports: yield* store.list(LISTED), sources: yield* sources.list, timeZone, report }
    return { screen: fileScreen(frame, data) }
  })

  const imported = Effect.fnUntraced(function* (call: FormCall) {
    const { file, fields } = yield* spool(call.request, limits)
    const is = (name: string) => fields.get(name) === "true"
    const options = {
      ...csvChoiceIn((name) => fields.get(name)),
      ...notationIn((name) => fields.get(name)),
      dryRun: is("dry_run"),
      again: is("again"),
      skipRefused: is("skip_refused"),
    }
    const typed = [...fields]
    return yield* Effect.mapBoth(files.file(idOf(fields.get("source_id")), file, options), {
      onSuccess: (report) => ({ report, typed }),
      onFailure: (error): FormRefusal => {
        // The message of an error is not among its own enumerable properties: spreading loses it.
        const { code, message, param = null, retryAfter } = manageErrorOf(error)
        return { code, message, param, retryAfter, typed }
      },
    })
  }, Effect.scoped)

  const screens: ReadonlyArray<ConsoleScreen> = [
    {
      path: "/console/files",
      action: "import.read",
      get: ({ frame }) => shown(frame, null),
      post: {
        action: "source.change",
        readsBody: true,
        repeat: "allowed",
        respond: Effect.fnUntraced(function* (call) {
          const outcome = yield* slots.withPermitsIfAvailable(1)(imported(call))
          if (Option.isNone(outcome)) {
            const message = "Too many files are being sent at once; try again when one of them has finished."
            return yield* Effect.fail<ManageError>({ code: "busy", message })
          }
          const { report, typed } = outcome.value
          if (wantsFragment(call)) return { fragment: reportBox(call.frame, report).text }
          const { screen } = yield* shown(call.frame, report)
          return { screen: report.state === "done" ? screen : filledAgain(call, screen, typed) }
        }),
      },
      back: () => "files",
    },
  ]
  return screens
})
