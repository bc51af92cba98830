import { assert, describe, it } from "@effect/vitest"
import { HttpServerRequest } from "effect/http"
import { realtimeUrl } from "../../../src/http/handlers/Tracker.ts"
import { addressOf } from "../../callouts/callouts.ts"

const request = HttpServerRequest.fromWeb(new Request("http://localhost/"))
const wallets = Array.from({ length: 500 }, (_, i) => addressOf(i))

const urlAt = (pathLength: number) =>
  realtimeUrl(`https://fathom.example/${"p".repeat(pathLength)}`, request, { ticket: "tkt_1", wallets })

const listedIn = (url: string) => (URL.parse(url)?.searchParams.get("wallets") ?? "").split(",").filter(Boolean)

describe("realtimeUrl", () => {
  it("lists the first hundred wallets", () => {
    assert.deepStrictEqual(listedIn(urlAt(0)), wallets.slice(0, 100))
  })

  it("lists as many as the longest URL that servers take has room for", () => {
    for (const length of [3600, 4000, 6000, 8000]) {
      const url = urlAt(length)
      const listed = listedIn(url)
      assert.isAtMost(url.length, 8192)
      assert.isAbove(url.length, 8192 - 150)
      assert.deepStrictEqual(listed, wallets.slice(0, listed.length))
    }
  })
})
