/**
 * The project's words are those of docs/glossary.md. Earlier words that nobody outside of the project knew must not return:
 * in names, comments, SQL, messages, help or documents. The one exception is the table of the command's hidden aliases.
 */
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"

const root = join(import.meta.dirname, "..", "..")

/** Files that may contain old words, because they list them. */
const EXEMPT = new Set(["docs/glossary.md", "test/house/OldWords.test.ts", "packages/cli/src/commands/Aliases.ts"])

/** Old names in code; in prose their parts are ordinary words. */
const OLD_NAMES = `
  eachInTurn Present Deadlines StageName Haste lostWhenSilent orLost renewedPool RenewedPool
  PassedThrough passingThrough Underway ManyCabinets CabinetRounds cabinetRounds PickCabinet
  pickCabinet Admission IntakeAllowance CountedAhead FoldedCounts foldedCounts SenderCounts
  dealSenders ObjectTurns TurnLimits AddressPace roomy makeSettler SentForm SentRow SentValue
  SentMoment SentEvents SentObjects JsonBytes PlaceOfRow hastyPage carefulPage presume FoundTables
  TargetTables FittedRows fittedRows WaitingRows drainWaitingRows Exposure FileLook lookAt
  CharsetWitness restless CountedAlong countedAlong CarriesSecret carriesSecret SenderOf senderOf
  Gathered NoCabinet isTold crowded isAway isInTheWay lossAsFailure AddressBook PollBook verdictOf
  Checkup checkup FENCE_BOUND NextWork nextWork firstThings PATIENCE HELD_UP NOT_FEW BITE LOOK OperatorsFace
  ExposureError IntakeAnswer FeedAnswer PollAnswer WholeAnswer AnswerHead StagedImports PgStagedImports
  START_PATIENCE READ_BEFORE heedExpectations HostFault printedEvent isMoment noMoment owedResponses putInOrder UNASKED
  admitAuthor untilSoon saysItServes forgetOld forgetRepeatMarks lookMillis plannedAnew Caretaker careFor holdStill
  VouchedSignIn Vouchers findVouched setVouched NotedBaseUrl notedBaseUrl noteBaseUrl noteBaseUrlAt DatabaseAddress AddressDefaults
  AskedAddress mayAsk askedByGet askedByPost ReadPlace readerApart apartOf readApart
  AddressTls AddressParameters CompleteAddresses EndlessResponses endlessResponses LAST_WORDS MOST_THROWN_AWAY`
  .trim()
  .split(/\s+/)

const FORBIDDEN: ReadonlyArray<RegExp> = [
  new RegExp(`\\b(?:${OLD_NAMES.join("|")})\\b`),
  /\btogether\(/,
  /\b[A-Z][A-Za-z]*Face\b/,
  /\banew\b/i,
  /\bbe had\b/i,
  /\bcomes? again\b/i,
  /\b(?:served cabinet|repeat[ _]marks?|waiting rows?|upload tokens?|object turns?|address pace|renewed pool)\b/i,
  /\b(?:place of row|counte?d?s? ahead|check-?up|upkeep|housekeeping|underway|settler|stamped)\b/i,
]

/**
 * Turns of phrase that mark the old prose, and the most times that each may occur in sources and documents: where it is the
 * right word, and in migrations, which never change. "No longer" is allowed.
 */
const RARE: ReadonlyArray<readonly [turn: RegExp, most: number]> = [
  [/\btold\b/gi, 36],
  [/\bwhoever\b/gi, 13],
  [/\basked\b/gi, 48],
  [/\b(?:is|are) (?:none|no)\b(?! longer)/gi, 60],
]

const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
  cwd: root,
  encoding: "utf8",
})
  .split("\n")
  .filter((file) => /\.(?:ts|mjs|js|sql|md|json|sh|py|go|php)$|^\.ci\//.test(file))
  .filter((file) => !EXEMPT.has(file) && file !== "pnpm-lock.yaml")

/** Each line of a text that has an old word. */
const oldWordsIn = (text: string): ReadonlyArray<string> =>
  text.split("\n").flatMap((line, index) => {
    const found = FORBIDDEN.flatMap((pattern) => pattern.exec(line)?.[0] ?? [])
    return found.length === 0 ? [] : [`${index + 1}: ${found.join(", ")}`]
  })

describe("the project's words", () => {
  it("finds an old word in a name, a comment and a sentence", () => {
    for (const line of [
      "import { Present } from",
      "// made anew",
      "come again in 3 s",
      "class KeysFace {",
      "its Upkeep",
    ]) {
      assert.strictEqual(oldWordsIn(line).length, 1, line)
    }
    assert.deepStrictEqual(oldWordsIn("who is present, face to face, at the surface"), [])
  })

  it("include none that was replaced", () => {
    assert.isAbove(files.length, 500)
    const found = files.flatMap((file) =>
      oldWordsIn(readFileSync(join(root, file), "utf8")).map((where) => `${file}:${where}`),
    )
    assert.deepStrictEqual(found, [])
  })

  it("rarely include turns of phrase of the old prose", () => {
    const prose = files
      .filter((file) => /^(?:packages\/[^/]+\/src\/|docs\/|README\.md$|ARCHITECTURE\.md$)/.test(file))
      .map((file) => readFileSync(join(root, file), "utf8"))
    const tooMany = RARE.flatMap(([turn, most]) => {
      const count = prose.reduce((sum, text) => sum + (text.match(turn)?.length ?? 0), 0)
      return count > most ? [`${turn.source}: ${count}, at most ${most}`] : []
    })
    assert.deepStrictEqual(tooMany, [])
  })

  it("include the unit of a documented number at the end of its name", () => {
    const units = [
      [/\bin milliseconds\b|^\W*Milliseconds\b/, /_MILLIS$/],
      [/\bin seconds\b|^\W*Seconds\b/, /_SECONDS$/],
    ] as const
    const wrong = files
      .filter((file) => /^packages\/[^/]+\/src\/.*\.ts$/.test(file))
      .flatMap((file) => [
        ...readFileSync(join(root, file), "utf8").matchAll(
          /\/\*\*((?:[^*]|\*(?!\/))*)\*\/\s*(?:export )?const ([A-Z][A-Z0-9_]+) = [\d_]+/g,
        ),
      ])
      .filter(([, doc, name]) => units.some(([said, end]) => said.test(doc!) && !end.test(name!)))
      .map(([, , name]) => name)
    assert.deepStrictEqual(wrong, [])
  })

  it("name files and folders, and no replaced word does", () => {
    const old = new Set([...OLD_NAMES, "cabinet", "page", "pull", "embedding"])
    const found = files.filter(
      (file) =>
        /^packages\/[^/]+\/(?:src|test)\//.test(file) &&
        file
          .split("/")
          .slice(3)
          .some((part) => old.has(part.replace(/(?:\.test)?\.[a-z]+$/, ""))),
    )
    assert.deepStrictEqual(found, [])
  })
})
