import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { CallerLimits } from "../../../src/access/CallerLimits.ts"
import { DEFAULT_PLAN } from "../../../src/api/schemas/Plan.ts"
import * as Readings from "../../../src/operations/Readings.ts"
import { Drain } from "../../../src/http/Drain.ts"
import { StreamLimits } from "../../../src/http/streams/StreamLimits.ts"
import * as MemoryAccounts from "../../support/memoryAccounts.ts"
import * as MemoryKeys from "../../support/memoryKeys.ts"

const limits = StreamLimits.layer.pipe(
  Layer.provide([MemoryKeys.layer(), CallerLimits.layerMemory, MemoryAccounts.layer, Drain.layer]),
  Layer.provideMerge(Readings.layer)
)

const holder = (id: string) => ({ key: { id, plan: DEFAULT_PLAN }, accountId: "local", session: null })

layer(limits)("open quote streams", (it) => {
  it.effect("are reported as they begin and end", () =>
    Effect.gen(function* () {
      const { acquire } = yield* StreamLimits
      const { collect } = yield* Readings.Readings
      const open = () => collect(0).find(({ name }) => name === "fathom_quote_streams")?.samples
      assert.deepStrictEqual(open(), [{ value: 0 }])
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* Effect.forEach(["a", "a", "b"], (id) => acquire(holder(id)))
          assert.deepStrictEqual(open(), [{ value: 3 }])
        })
      )
      assert.deepStrictEqual(open(), [{ value: 0 }])
    })
  )
})
