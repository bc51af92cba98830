import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { makeListTexts } from "../../../src/http/mcp/listTexts.ts"

const asked = (headers: Record<string, string> = {}) =>
  HttpServerRequest.fromWeb(
    new Request("http://fathom.invalid/mcp", {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers }
    })
  )

const list = (id: number, params = {}) => ({ text: "", id, method: "tools/list", params })

it.effect("lists are made once for each version, and never with a cursor", () =>
  Effect.gen(function* () {
    let made = 0
    const answer = makeListTexts()
    const routed = Effect.sync(() =>
      HttpServerResponse.jsonUnsafe({
        jsonrpc: "2.0",
        id: ++made,
        result: { tools: [{ name: "a", made }, { name: "b" }] }
      })
    )
    const texts: Array<string> = []
    for (const version of ["2025-06-18", "2025-11-25", "2025-06-18", "2025-11-25"]) {
      const response = yield* answer(asked(), list(7), version, null, routed)
      texts.push(yield* Effect.promise(() => HttpServerResponse.toWeb(response).text()))
    }
    assert.strictEqual(made, 2)
    assert.deepStrictEqual(JSON.parse(texts[2] ?? ""), {
      jsonrpc: "2.0",
      id: 7,
      result: { tools: [{ name: "a", made: 1 }, { name: "b" }] }
    })
    yield* answer(asked(), list(8, { cursor: "x" }), "2025-06-18", null, routed)
    yield* answer(asked({ "mcp-protocol-version": "2025-11-25" }), list(9), "2025-06-18", null, routed)
    assert.strictEqual(made, 4, "the runtime answers what is not plain")
  })
)

it.effect("a selection of the tools is answered from the same text, also to a request that the runtime answers", () =>
  Effect.gen(function* () {
    const answer = makeListTexts()
    const result = { tools: [{ name: "a" }, { name: "b" }], _meta: { kept: true } }
    const routed = Effect.sync(() => HttpServerResponse.jsonUnsafe({ jsonrpc: "2.0", id: 7, result }))
    const names = Effect.fnUntraced(function* (params: object) {
      const response = yield* answer(asked(), list(7, params), "2025-06-18", new Set(["b"]), routed)
      return JSON.parse(yield* Effect.promise(() => HttpServerResponse.toWeb(response).text())).result
    })
    const selected = { tools: [{ name: "b" }], _meta: { kept: true } }
    assert.deepStrictEqual(
      [yield* names({}), yield* names({}), yield* names({ odd: 1 })],
      [selected, selected, selected]
    )
  })
)
