/** `cabinet person …`: the people who may sign in to the console. */
import { allItems } from "@data-cabinet/core/pagination/IdPages"
import { People } from "@data-cabinet/core/person/People"
import { personShape } from "@data-cabinet/core/person/Person"
import { Sessions } from "@data-cabinet/core/person/Sessions"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { columns } from "../output/Columns.ts"
import { report } from "../output/Report.ts"
import { nameArgument } from "./Named.ts"
import { issueLink, linkJson, linkWords, personOf, personRoleFlag, serverFlags } from "./PersonInput.ts"
import { format, withCabinet } from "./Root.ts"
import { EXAMPLES } from "./Examples.ts"

const personArgument = Argument.String("PERSON").pipe(Argument.withDescription("The person's name or number"))

const add = Command.make(
  "add",
  { name: nameArgument("The person's name"), role: personRoleFlag, ...serverFlags },
  ({ name, role, ...own }) =>
    withCabinet(own, () =>
      Effect.gen(function* () {
        const person = yield* People.use((people) => people.add({ name, role: role ?? "viewer" }))
        const { issued, url, known } = yield* issueLink(person)
        yield* report(yield* format, linkJson(issued, url), (style) => linkWords(issued, url, known, style))
      }),
    ),
).pipe(Command.withDescription("Add a person (default role: viewer) and print a one-time link for them"))

const list = Command.make("list", {}, () =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const all = yield* People.use(({ list: page }) => allItems(page))
      yield* report(yield* format, all.map(personShape.json), (style) =>
        columns(
          ["ID", "ROLE", "ADDED", "SIGNED IN", "BY", "NAME"],
          all.map((person) => [
            String(person.id),
            person.removedAt === null ? person.role : "removed",
            person.createdAt,
            person.signedInAt ?? (person.linkExpiresAt === null ? "never" : `link until ${person.linkExpiresAt}`),
            person.issuer ?? (person.hasPassword ? "link, password" : "link"),
            person.name,
          ]),
          { style, none: "No people yet. Sign in with the link that this prints: cabinet console" },
        ),
      )
    }),
  ),
).pipe(Command.withDescription("List the people who may sign in"))

const name = Flag.String("name").pipe(
  Flag.withDescription("A new name"),
  Flag.optional,
  Flag.map(Option.getOrUndefined),
)

const set = Command.make("set", { person: personArgument, role: personRoleFlag, name }, (given) =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const { id } = yield* personOf(given.person)
      const change = { name: given.name, role: given.role ?? undefined }
      const person = yield* People.use((people) => people.set(id, change))
      yield* report(yield* format, personShape.json(person), () => `${person.name} has the role ${person.role}.`)
    }),
  ),
).pipe(Command.withDescription("Change a person's role or name, effective from their next request"))

const remove = Command.make("remove", { person: personArgument }, (given) =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const { id } = yield* personOf(given.person)
      const person = yield* People.use((people) => people.remove(id))
      yield* report(
        yield* format,
        personShape.json(person),
        () => `${person.name} is removed, and signed out everywhere.`,
      )
    }),
  ),
).pipe(Command.withDescription("Remove a person and end their sessions"))

const signOut = Command.make("sign-out", { person: personArgument }, (given) =>
  withCabinet({}, () =>
    Effect.gen(function* () {
      const person = yield* personOf(given.person)
      const count = yield* Sessions.use((sessions) => sessions.endAll(person.id))
      yield* report(yield* format, { id: person.id, count }, () =>
        count === 0 ? `${person.name} was not signed in.` : `${person.name} is signed out everywhere: ${count} ended.`,
      )
    }),
  ),
).pipe(Command.withDescription("Sign a person out everywhere"))

export const personCommand = Command.make("person").pipe(
  Command.withExamples(EXAMPLES.person),
  Command.withDescription("Add and remove the people who may sign in to the console"),
  Command.withSubcommands([add, list, set, remove, signOut]),
)
