import { pageBody } from "@data-cabinet/http-node/page/PageBody"
import { assert, it } from "@effect/vitest"
import { Schema } from "effect"

it.prop(
  "pageBody joins the items in their order, with the rest behind them",
  [Schema.Array(Schema.String)],
  ([items]) => {
    const texts = items.map((item) => JSON.stringify({ item: item.toWellFormed() }))
    const body = pageBody(
      texts.map((text) => Buffer.from(text)),
      '"next_cursor":"é"',
    )
    assert.strictEqual(Buffer.from(body).toString(), `{"data":[${texts.join(",")}],"next_cursor":"é"}`)
  },
)
