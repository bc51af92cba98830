import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { call, keyOf, secretOf } from "../../support/http.ts"
import { probing } from "../../support/probe.ts"

/** Log lines of a service while it answers. */
const logOf = <E>(requests: Effect.Effect<unknown, E, Layer.Success<ReturnType<typeof probing>>>) =>
  Effect.gen(function* () {
    const lines: Array<string> = []
    const collect = Logger.layer([Logger.map(Logger.formatJson, (line) => void lines.push(line))])
    yield* requests.pipe(Effect.provide(probing({ keys: [keyOf("a")] }).pipe(Layer.provideMerge(collect))))
    return lines.filter((line) => !line.includes("Draining"))
  })

describe("the log", () => {
  it.effect("logs neither successful nor invalid requests", () =>
    Effect.gen(function* () {
      const lines = yield* logOf(
        Effect.forEach(
          ["/probe/free", "/probe/read?x=1", "/nothing", "/probe/perps", "/probe/fails/unavailable"],
          (path) => call(path)
        )
      )
      assert.deepStrictEqual(lines, [])
    })
  )

  it.effect("logs a defect with the id of its answer and with neither key nor query", () =>
    Effect.gen(function* () {
      const ids: Array<unknown> = []
      const lines = yield* logOf(
        Effect.forEach(["/probe/defect", "/outside?token=topsecret"], (path) =>
          Effect.map(call(path), (answer) => ids.push(answer.json("requestId")))
        )
      )
      assert.strictEqual(lines.length, 2)
      lines.forEach((line, at) => assert.include(line, String(ids[at])))
      assert.notInclude(lines.join(), secretOf("a"))
      assert.notInclude(lines.join(), "topsecret")
      assert.include(lines[0], "hunter2")
      assert.include(lines[0], "/probe/defect")
    })
  )
})
