import { addressOf, type Route, routeTable } from "@data-cabinet/http-node/server/Route"
import { assert, it } from "vitest"

const route = (path: `/${string}`): Route => ({
  path,
  handle: () => Promise.reject(new Error("not called")),
  fault: () => {
    throw new Error("not called")
  },
})

it("routeTable matches segment for segment, as written", () => {
  const find = routeTable([route("/a/b"), route("/a/{x}"), route("/a/{x}/c/{y}")])
  const at = (path: string) => {
    const match = find(addressOf(path))
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

it("routeTable matches {...} with everything below it that no other pattern matches", () => {
  for (const mountedAt of ["", "/data"]) {
    const find = routeTable([route("/c/{...}"), route("/c/a"), route("/c/{x}/b")], mountedAt)
    const at = (path: string) => find(addressOf(mountedAt + path))?.route.path
    assert.deepEqual(["/c/a", "/c/1/b"].map(at), ["/c/a", "/c/{x}/b"])
    for (const path of ["/c/z", "/c/a/", "/c//b", "/c/1/2/3/4?q=1", "/c/"]) assert.equal(at(path), "/c/{...}", path)
    for (const path of ["/cx", "/C/z", "/d/c/z", "/"]) assert.equal(at(path), undefined, path)
  }
})

it("routeTable finds routes mounted below a path, with and without the path", () => {
  for (const mountedAt of ["/data", "/our/own/data"]) {
    const find = routeTable([route("/a/{x}")], mountedAt)
    for (const path of ["/a/1", `${mountedAt}/a/1`]) assert.deepEqual(find(addressOf(path))?.params, ["1"], path)
    const astray = [
      `${mountedAt}a/1`,
      `${mountedAt}x/a/1`,
      mountedAt,
      `${mountedAt}${mountedAt}/a/1`,
      `${mountedAt.toUpperCase()}/a/1`,
    ]
    for (const path of [...astray, `/${mountedAt}/a/1`]) assert.equal(find(addressOf(path)), undefined, path)
  }
})

it("addressOf decodes unescaped bytes as UTF-8", () => {
  const latin = Buffer.from("/t/ж?q=я").toString("latin1")
  assert.deepEqual(addressOf(latin), { path: "/t/ж", segments: ["", "t", "ж"], query: "q=я" })
  assert.deepEqual(addressOf("/a/?b?c#d"), { path: "/a/", segments: ["", "a", ""], query: "b?c" })
  assert.deepEqual(addressOf("/a#?b"), { path: "/a", segments: ["", "a"], query: "" })
})
