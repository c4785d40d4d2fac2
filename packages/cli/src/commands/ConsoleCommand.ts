/** `cabinet console`: a one-time link for signing in to the console; also the way back in after losing one. */
import { allItems } from "@data-cabinet/core/pagination/IdPages"
import { People } from "@data-cabinet/core/person/People"
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { report } from "../output/Report.ts"
import { CommandError } from "../error/CommandError.ts"
import { issueLink, linkJson, linkWords, personRoleFlag, serverFlags } from "./PersonInput.ts"
import { format, withDatabase } from "./Root.ts"
import { userName } from "./CommandUser.ts"

const flags = {
  ...serverFlags,
  role: personRoleFlag,
  for: Flag.String("for").pipe(
    Flag.withMetavar("NAME"),
    Flag.withDescription("Person that the link signs in, added if missing (default: your user name, as owner)"),
    Flag.optional,
    Flag.map(Option.getOrNull),
  ),
}

export const consoleCommand = Command.make("console", flags, ({ role, for: given, ...own }) =>
  withDatabase(own, () =>
    Effect.gen(function* () {
      const name = given ?? userName()
      const all = yield* People.use(({ list }) => allItems(list))
      const known = all.find(
        (person) => person.issuer === null && person.name.toLowerCase() === name.trim().normalize("NFC").toLowerCase(),
      )
      if (known !== undefined && role !== null && role !== known.role) {
        return yield* new CommandError({
          code: "refused",
          message: `${known.name} has the role ${known.role}. Change it with: cabinet person set ${known.id} --role ${role}`,
        })
      }
      const person = known ?? (yield* People.use((people) => people.add({ name, role: role ?? "owner" })))
      const { issued, url, known: isKnown } = yield* issueLink(person)
      yield* report(yield* format, linkJson(issued, url), (style) => linkWords(issued, url, isKnown, style))
    }),
  ),
).pipe(Command.withDescription("Print a one-time link that signs in to the console"))
