import { feedParams, FEED_PARAMS, parsePosition, writeCursor, writePosition } from "@data-cabinet/core/feed/FeedParams"
import { FEED_START, KEPT_EPOCHS } from "@data-cabinet/core/feed/FeedStore"
import { encodeCursor } from "@data-cabinet/core/pagination/Cursor"
import { CursorKey } from "@data-cabinet/core/pagination/CursorKey"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Schema } from "effect"

type Pairs = ReadonlyArray<readonly [string, string]>

const key = new CursorKey(Buffer.alloc(32, 7))
const read = (pairs: Pairs) => Effect.runSync(feedParams(key, pairs))
const refusal = (pairs: Pairs) => {
  const { code, param } = Effect.runSync(Effect.flip(feedParams(key, pairs)))
  return [code, param]
}

describe("feedParams", () => {
  it("starts at the beginning with a limit of 100 when nothing is given", () => {
    assert.deepEqual(read([]), {
      sourceId: null,
      channel: null,
      limit: 100,
      after: FEED_START,
      cursor: undefined,
      resets: undefined,
    })
  })

  it("refuses an unknown parameter before anything else", () => {
    assert.deepEqual(
      refusal([
        ["limit", "x"],
        ["page", "2"],
      ]),
      ["unknown_param", "page"],
    )
    assert.deepEqual(refusal([["Limit", "1"]]), ["unknown_param", "Limit"])
    assert.deepEqual(refusal([["__proto__", "1"]]), ["unknown_param", "__proto__"])
  })

  it("refuses each parameter sent twice with that parameter's own code", () => {
    const codes = { source_id: "bad_source_id", channel: "bad_channel", limit: "bad_limit", cursor: "bad_cursor" }
    for (const name of FEED_PARAMS)
      assert.deepEqual(
        refusal([
          [name, "1"],
          [name, "1"],
        ]),
        [codes[name], name],
      )
  })

  it("accepts a limit from 1 to 1000 in decimal digits", () => {
    for (const limit of ["1", "1000"]) assert.equal(read([["limit", limit]]).limit, Number(limit))
    for (const limit of ["0", "1001", "-1", "+5", "1.0", "1e2", "0x10", " 5", "", "ten", "99999999999999999999"]) {
      assert.deepEqual(refusal([["limit", limit]]), ["bad_limit", "limit"], limit)
    }
  })

  it("distinguishes a malformed source id from one that cannot exist", () => {
    assert.equal(read([["source_id", "7"]]).sourceId, 7)
    assert.equal(read([["source_id", "9007199254740992"]]).sourceId, "unknown")
    for (const id of ["0", "-1", "x", "", "1.5", "9223372036854775808"]) {
      assert.deepEqual(refusal([["source_id", id]]), ["bad_source_id", "source_id"], id)
    }
  })

  it("accepts three channels", () => {
    for (const channel of ["webhook", "file", "pull"]) assert.equal(read([["channel", channel]]).channel, channel)
    for (const channel of ["", "Webhook", "fax"])
      assert.deepEqual(refusal([["channel", channel]]), ["bad_channel", "channel"])
  })

  it("reads the resets of a follower's cursor, which is otherwise like any other", () => {
    const place = { epoch: 2, xid: 10n, id: 3, trail: { since: 4, places: "" } }
    const of = (resets?: number) =>
      read([["cursor", writeCursor(key, { sourceId: null, channel: null }, place, resets)]])
    assert.deepEqual([of().resets, of(0).resets, of(7).resets], [undefined, 0, 7])
    assert.deepEqual(of(7).after, place)
    assert.deepEqual(parsePosition(writePosition(place)), place)
  })

  it("refuses a cursor of another source, channel or list, and anything that is not a cursor", () => {
    const place = { epoch: 2, xid: 10n, id: 3 }
    const cursor = writeCursor(key, { sourceId: 1, channel: null }, place)
    assert.deepEqual(
      read([
        ["cursor", cursor],
        ["source_id", "1"],
        ["limit", "7"],
      ]).after,
      place,
    )
    for (const pairs of [
      [],
      [["source_id", "2"]],
      [
        ["source_id", "1"],
        ["channel", "file"],
      ],
    ] as ReadonlyArray<Pairs>) {
      assert.deepEqual(refusal([...pairs, ["cursor", cursor]]), ["bad_cursor", "cursor"])
    }
    const foreign = encodeCursor({ kind: "rows", scope: [null, null], key }, ["1", "2", "3", "0"])
    const made = (...places: ReadonlyArray<string | null>) =>
      encodeCursor({ kind: "feed", scope: [null, null], key }, places)
    const nowhere = [
      made("1", "-2", "3", "0"),
      made("1", "9223372036854775808", "3", "0"),
      made("9007199254740992", "2", "3", "0"),
      made("1", "2", "9007199254740992", "0"),
      made("1", "2", "3", "9223372036854775808"),
      made("1", "2", "3"),
      made("1", "2", "3", "0", "-1"),
      made("1", "2", "3", "0", null),
      made("1", "2", "3", "0", "5", "", "x"),
      made("1", "2", "3", "-9223372036854775809"),
      made("-1", "2", "3", "0"),
      made("1", "2", "3", "0", "x", ""),
      made("1", "2", "3", "0", "5", "1.2.3.4.5;"),
      made("1", "2", "3", "0", "5", "1".repeat(5_000)),
      made("1", "2", "3", "0", null, ""),
      made("1", "2", "3", "0", "5", null),
      made("1", "2", "3", null),
      made("x", "2", "3", "0"),
      made("1", "2", "", "0"),
      made("1", "2", "0x3", "0"),
      made("1", "2", "3", " 0"),
      made("1", "2", "3", "0 "),
      made("1", "2", "-3", "0"),
      made("1", "2", "3", "0", "-1", "2", "3", "0"),
      made("5", ""),
      made(...Array.from({ length: 24 }, () => "1")),
      made(...Array.from({ length: 26 }, () => "1")),
      made(),
    ]
    for (const text of ["", "x", foreign, ...nowhere, `${cursor}A`, cursor.slice(0, -1), "%00"]) {
      assert.deepEqual(refusal([["cursor", text]]), ["bad_cursor", "cursor"], text)
    }
  })

  it("restores a position with any time that the database can hold, and no other", () => {
    const at = (receivedAt: bigint) => {
      const cursor = encodeCursor({ kind: "feed", scope: [null, null], key }, ["1", "2", "3", String(receivedAt)])
      return Effect.runSync(Effect.option(feedParams(key, [["cursor", cursor]])))
    }
    for (const receivedAt of [-(2n ** 63n), -1n, 2n ** 63n - 1n])
      assert.deepInclude(Option.getOrThrow(at(receivedAt)).after, { epoch: 1, xid: 2n, id: 3, receivedAt })
    for (const receivedAt of [-(2n ** 63n) - 1n, 2n ** 63n]) assert.isTrue(Option.isNone(at(receivedAt)))
  })

  const whole = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))

  const Place = Schema.Struct({
    epoch: whole(2 ** 31 - 1),
    xid: whole(Number.MAX_SAFE_INTEGER),
    id: whole(Number.MAX_SAFE_INTEGER),
    receivedAt: Schema.Int.check(Schema.isBetween({ minimum: -(2 ** 50), maximum: 2 ** 53 - 1 })),
  })

  const Trail = Schema.NullOr(
    Schema.Struct({ since: whole(1e9), places: Schema.Literals(["", "0.3.2.1.7", "0.3.2.1.-7,9.0.-1.-1.-5"]) }),
  )

  it.prop(
    "restores every position from its cursor, with the ends of earlier epochs and the trail",
    { trail: Trail, places: Schema.Array(Place).check(Schema.isMinLength(1), Schema.isMaxLength(1 + KEPT_EPOCHS)) },
    ({ places, trail }) => {
      const [first, ...left] = places.map(({ epoch, xid, id, receivedAt }) => ({
        epoch,
        xid: BigInt(xid) * 1000n,
        id,
        ...(receivedAt === 0 ? {} : { receivedAt: BigInt(receivedAt) }),
      }))
      const place = {
        ...first!,
        ...(left.length === 0 ? {} : { left }),
        ...(trail === null ? {} : { trail }),
      }
      const cursor = writeCursor(key, { sourceId: null, channel: "pull" }, place)
      assert.match(cursor, /^[A-Za-z0-9_-]+$/)
      assert.deepEqual(
        read([
          ["channel", "pull"],
          ["cursor", cursor],
        ]).after,
        place,
      )
    },
    { arbitrary: { runs: 300 } },
  )

  it.prop(
    "refuses any text that was not issued",
    [Schema.String.check(Schema.isMaxLength(80))],
    ([text]) => assert.deepEqual(refusal([["cursor", text]]), ["bad_cursor", "cursor"]),
    { arbitrary: { runs: 300 } },
  )
})
