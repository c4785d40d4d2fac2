/** The flags and the words that commands about people share. */
import { allItems } from "@data-cabinet/core/pagination/IdPages"
import { PERSON_ROLES } from "@data-cabinet/core/key/Role"
import { People } from "@data-cabinet/core/person/People"
import {
  type IssuedLink,
  type Person,
  invitedPerson,
  invitedPersonShape,
  linkUrl,
} from "@data-cabinet/core/person/Person"
import { BaseAddress } from "@data-cabinet/core/source/BaseAddress"
import { lookup } from "@data-cabinet/remote/http/RemoteSettings"
import { Effect, Option } from "effect"
import { Flag } from "effect/cli"
import type { Style } from "../output/Style.ts"
import { CommandError } from "../error/CommandError.ts"
import { settingFlags } from "./Root.ts"
import { GUESSED } from "./SourceCard.ts"

const { baseUrl, host, port } = settingFlags("baseUrl", "host", "port")

/** Where the server of a link is, for a command that does not start one. */
export const serverFlags = {
  baseUrl,
  host: host.pipe(Flag.withDescription("IP address that the server listens on (HOST; default: 127.0.0.1)")),
  port: port.pipe(Flag.withDescription("Port that the server listens on (PORT; default: 8080)")),
}

export const personRoleFlag = Flag.Literals("role", PERSON_ROLES).pipe(
  Flag.withDescription("What the person may do"),
  Flag.optional,
  Flag.map(Option.getOrNull),
)

/** A person, by number or by name. */
export const personOf = Effect.fnUntraced(function* (given: string) {
  const all = yield* lookup(People.use(({ list }) => allItems(list)))
  const name = given.trim().normalize("NFC").toLowerCase()
  const found =
    all.find((person) => person.issuer === null && person.name.toLowerCase() === name) ??
    all.find(({ id }) => String(id) === given)
  if (found !== undefined) return found
  return yield* new CommandError({
    code: "refused",
    message: `Person ${JSON.stringify(given)} does not exist. See: cabinet person list`,
  })
})

export const issueLink = Effect.fnUntraced(function* (person: Person) {
  const base = yield* BaseAddress.use(({ get }) => get)
  const issued = yield* People.use((people) => people.link(person.id))
  return { issued, url: linkUrl(base.url, issued.secret), known: base.known }
})

export const linkJson = (issued: IssuedLink, url: string) => invitedPersonShape.json(invitedPerson(issued, url))

export const linkWords = (issued: IssuedLink, url: string, known: boolean, style: Style): string =>
  [
    style.bold(url),
    "",
    `It signs in ${issued.person.name} (${issued.person.role}) once, until ${issued.expiresAt}. Anyone who has it can use it.`,
    ...(known ? [] : [GUESSED]),
  ].join("\n")
