import { type Route, routeTable, splitUrl } from "@data-cabinet/http-node/Route"
import { Effect } from "effect"
import { assert, it } from "vitest"

const route = (path: `/${string}`): Route => ({
  path,
  handle: () => Effect.die("not called"),
  fault: () => {
    throw new Error("not called")
  },
})

it("routeTable matches segment for segment, as written", () => {
  const find = routeTable([route("/a/b"), route("/a/{x}"), route("/a/{x}/c/{y}")])
  const at = (path: string) => {
    const match = find(path)
    return match === undefined ? undefined : [match.route.path, ...match.params]
  }
  assert.deepEqual(at("/a/b"), ["/a/b"])
  assert.deepEqual(at("/a/%62"), ["/a/{x}", "%62"])
  assert.deepEqual(at(`/a/${"ж".repeat(500)}`), ["/a/{x}", "ж".repeat(500)])
  assert.deepEqual(at("/a/1/c/2"), ["/a/{x}/c/{y}", "1", "2"])
  for (const path of ["/a/", "/a", "/A/b", "//a/b", "/a//b", "/a/1/d/2", "/a/1/c/", "", "*", "/"]) {
    assert.equal(at(path), undefined, path)
  }
})

it("routeTable finds what is mounted below a path with the path and without it", () => {
  const find = routeTable([route("/a/{x}")], "/data")
  for (const path of ["/a/1", "/data/a/1"]) assert.deepEqual(find(path)?.params, ["1"], path)
  for (const path of ["/dataa/1", "/data", "/data/data/a/1", "/DATA/a/1"]) assert.equal(find(path), undefined, path)
})

it("splitUrl reads bytes that came unescaped as UTF-8", () => {
  const latin = Buffer.from("/t/ж?q=я").toString("latin1")
  assert.deepEqual(splitUrl(latin), { path: "/t/ж", query: "q=я" })
  assert.deepEqual(splitUrl("/a?b?c#d"), { path: "/a", query: "b?c" })
  assert.deepEqual(splitUrl("/a#?b"), { path: "/a", query: "" })
})
