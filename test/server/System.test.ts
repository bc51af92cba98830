import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { call, running } from "../support/http.ts"

layer(running())("GET /api/v1", (it) => {
  it.effect("describes the service without a key", () =>
    Effect.gen(function* () {
      const answer = yield* call("/api/v1", { key: null })
      assert.strictEqual(answer.status, 200)
      assert.strictEqual(answer.json("version"), "v1")
      assert.strictEqual(answer.json("status"), "beta")
      assert.strictEqual(answer.json("serverTimeMs"), 0)
    })
  )

  it.effect("names documents that are there", () =>
    Effect.gen(function* () {
      const answer = yield* call("/api/v1", { key: null })
      for (const name of ["docsUrl", "openapiUrl", "changelogUrl"]) {
        const { pathname } = new URL(String(answer.json(name)))
        const document = yield* call(pathname, { key: null })
        assert.strictEqual(document.status, 200, pathname)
        assert.isAbove(document.text.length, 100)
      }
    })
  )
})
