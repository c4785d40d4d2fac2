/** The parser of database URLs, compared with the rules of libpq's own. */
import { formatUri, type LibpqUri, parseUri } from "@data-cabinet/store-pg/connection/LibpqUri"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"

const read = (text: string): LibpqUri => Result.getOrThrow(parseUri(text))
const refusal = (text: string): string => Result.getOrThrow(Result.flip(parseUri(text)))

const of = (parts: Partial<LibpqUri>): LibpqUri => ({
  user: undefined,
  password: undefined,
  hosts: [],
  ports: [],
  database: undefined,
  parameters: [],
  ...parts,
})

describe("parseUri", () => {
  // The examples from libpq's documentation and its own tests (src/interfaces/libpq/t/001_uri.pl).
  it.each([
    ["postgresql://", of({})],
    ["postgresql://localhost", of({ hosts: ["localhost"] })],
    ["postgresql://localhost/mydb", of({ hosts: ["localhost"], database: "mydb" })],
    ["postgresql://user@localhost", of({ user: "user", hosts: ["localhost"] })],
    ["postgresql://user:secret@localhost", of({ user: "user", password: "secret", hosts: ["localhost"] })],
    ["postgres://user:@host", of({ user: "user", hosts: ["host"] })],
    ["postgres://:secret@host", of({ password: "secret", hosts: ["host"] })],
    ["postgres://@host", of({ hosts: ["host"] })],
    ["postgres://user@", of({ user: "user" })],
    ["postgres://:5433/db", of({ hosts: [], ports: ["5433"], database: "db" })],
    ["postgres://host:/db", of({ hosts: ["host"], database: "db" })],
    [
      "postgresql://host1:123,host2:456/somedb",
      of({ hosts: ["host1", "host2"], ports: ["123", "456"], database: "somedb" }),
    ],
    ["postgresql://h1,h2:5/db", of({ hosts: ["h1", "h2"], ports: ["", "5"], database: "db" })],
    ["postgres://[2001:db8::1234]/db", of({ hosts: ["2001:db8::1234"], database: "db" })],
    ["postgres://[::1]:5433,[::2]", of({ hosts: ["::1", "::2"], ports: ["5433", ""] })],
    ["postgresql:///dbname?host=/var/lib/postgresql", of({ hosts: ["/var/lib/postgresql"], database: "dbname" })],
    ["postgresql://%2Fvar%2Flib%2Fpostgresql/dbname", of({ hosts: ["/var/lib/postgresql"], database: "dbname" })],
    [
      "postgres://host/db?a=%3D%26&b=1+1",
      of({
        hosts: ["host"],
        database: "db",
        parameters: [
          ["a", "=&"],
          ["b", "1+1"],
        ],
      }),
    ],
    ["postgres://host?a=b", of({ hosts: ["host"], parameters: [["a", "b"]] })],
    ["postgres://u:a?b:c@host/db", of({ user: "u", password: "a?b:c", hosts: ["host"], database: "db" })],
    ["postgres://u:p@a/b?host=c&port=7", of({ user: "u", password: "p", hosts: ["c"], ports: ["7"], database: "b" })],
  ] as const)("reads %s", (text, parts) => assert.deepStrictEqual(read(text), parts))

  it.each([
    ["http://host/db", /such as postgres:/],
    ["postgres:/host/db", /such as postgres:/],
    ["postgres://host/%zz", /every % begins/],
    ["postgres://host/%", /every % begins/],
    ["postgres://ho%00st/db", /every % begins/],
    ["postgres://host/%ff", /every % begins/],
    ["postgres://[::1/db", /closed by \]/],
    ["postgres://[::1]x/db", /closed by \]/],
    ["postgres://[]/db", /not empty/],
    ["postgres://::1/db", /in brackets/],
    ["postgres://host/db?a", /name=value/],
    ["postgres://host/db?a=b=c", /name=value/],
    ["postgres://host/db?a=b&", /name=value/],
    ["postgres://host/db#x", /without #/],
    ["postgres://host/.", /not named \. or \.\./],
    ["postgres://host/%2e%2E", /not named \. or \.\./],
  ] as const)("refuses %s", (text, words) => assert.match(refusal(text), words))

  const part = Schema.String.check(Schema.isPattern(/^[^\0]{1,12}$/u))
  const host = Schema.Literals(["db", "db-2.example.com", "127.0.0.1", "::1", "fe80::1%eth0", "/run/pg"])
  const Parts = Schema.Struct({
    user: part,
    password: part,
    database: part.check(Schema.isPattern(/^(?!\.{1,2}$)/)),
    hosts: Schema.NonEmptyArray(host),
    ports: Schema.Array(Schema.Literals(["5432", "6000"])).check(Schema.isMaxLength(1)),
    parameters: Schema.Array(Schema.Tuple([Schema.Literals(["a", "b c", "ü"]), part])),
  })

  it.prop("parses any output of formatUri", { parts: Parts }, ({ parts }) => {
    const isWhole = !JSON.stringify(parts).includes("\\ud")
    if (!isWhole) return
    const text = formatUri(parts)
    assert.deepStrictEqual(read(text), parts)
    // The URLs of other roles are derived by a parser of web URLs.
    const url = new URL(text)
    assert.deepStrictEqual([url.username, url.password, url.pathname.slice(1)].map(decodeURIComponent), [
      parts.user,
      parts.password,
      parts.database,
    ])
    url.username = "other"
    assert.deepStrictEqual(read(url.toString()), { ...parts, user: "other" })
  })
})
