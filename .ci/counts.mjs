// counts.mjs REPORT STATUS NAME FAILURES: how many tests of a vitest run passed and failed, from its JSON report, and into
// the file FAILURES, for each that did not pass, its name and the beginning of why.
// A skipped test is a failed one; so is a run that ended before its report, or failed outside any test.
import { appendFileSync, readFileSync } from "node:fs"

const [report, status, name, failures] = process.argv.slice(2)
const tell = (words) => appendFileSync(failures, `FAILED  ${name}: ${words}\n`)
const beginning = (why) => why.replace(/\n +at .*node_modules.*/g, "").slice(0, 2000)

let passed = 0
let failed = 0
try {
  const read = JSON.parse(readFileSync(report, "utf8"))
  passed = read.numPassedTests
  failed = read.numFailedTests + read.numPendingTests + read.numTodoTests
  for (const file of read.testResults) {
    if (file.message) tell(`${file.name}\n${beginning(file.message)}`)
    for (const test of file.assertionResults) {
      if (test.status === "passed") continue
      tell(`${file.name}: ${test.fullName} (${test.status})\n${beginning(test.failureMessages.join("\n"))}`)
    }
  }
} catch (error) {
  tell(`no report: ${error.message}`)
}
if ((status !== "0" || passed === 0) && failed === 0) {
  failed = 1
  tell(`the run ended with ${status}, outside any test`)
}
console.log(passed, failed)
