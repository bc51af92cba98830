/** Upgraded and wrong programs in the answers of the service. */
import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { SOL } from "../../../src/domain/Address.ts"
import type { ProgramState } from "../../../src/api/schemas/ProgramState.ts"
import { meteoraDlmm } from "../../../src/programs/meteora/dlmm.ts"
import { raydiumCpmm } from "../../../src/programs/raydium/cpmm.ts"
import { ProgramWatch } from "../../../src/quotes/execution/ProgramWatch.ts"
import * as VenueProofs from "../../../src/quotes/VenueProofs.ts"
import { ProgramChain } from "../../quotes/execution/programScene.ts"
import { type Answer, call, running } from "../../support/http.ts"
import { engineOver, makeMarket, THIN_POOL, TOKEN } from "../../support/market.ts"

const chain = new ProgramChain()
const market = makeMarket()
const service = running({ engine: engineOver(market) }).pipe(
  Layer.provideMerge(chain.watch()),
  Layer.provideMerge(VenueProofs.layer)
)

const find = (answer: Answer, path: string, key: string, name: string): Record<string, unknown> => {
  const list = answer.json(path) as ReadonlyArray<Record<string, unknown>>
  return list.find((entry) => entry[key] === name) ?? assert.fail(`no ${name}`)
}
const programOf = (source: Record<string, unknown>, dex: string) =>
  (source["programs"] as ReadonlyArray<ProgramState>).find((one) => one.dex === dex)
const quotePath = (more = "") =>
  `/api/v1/spot/quote?inputMint=${TOKEN}&outputMint=${SOL}&amount=1000000&slippageBps=50${more}`
const outcome = { slot: 900, atMs: 0, sha256: "ab", pools: 2, exact: 60, refused: 4, wrong: 0 }
const { programId } = raydiumCpmm

layer(service)("the programs of venues", (it) => {
  it.effect("are at /freshness and in the parts of /readyz, and one that is upgraded lags", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust("1 second")
      const before = find(yield* call("/freshness", { key: null }), "data", "source", "programs")
      assert.strictEqual(before["status"], "known")
      assert.deepInclude(programOf(before, meteoraDlmm.dex), { state: "unchanged", provenAtSlot: null })
      chain.deploy(meteoraDlmm.programId, 990)
      yield* TestClock.adjust("1 minute")
      const expected = { state: "unproven", upgraded: true, deployedAtSlot: 990 } as const
      const after = find(yield* call("/freshness", { key: null }), "data", "source", "programs")
      assert.strictEqual(after["status"], "partial")
      assert.deepInclude(programOf(after, meteoraDlmm.dex), expected)
      const ready = yield* call("/readyz?verbose", { key: null })
      assert.strictEqual(ready.status, 200)
      const part = find(ready, "parts", "part", "programs")
      assert.deepInclude(programOf(part, meteoraDlmm.dex), expected)
      assert.include(JSON.stringify(part["lastError"]), "meteora-dlmm: upgraded at slot 990")
      assert.strictEqual(find(ready, "lagging", "source", "programs")["status"], "partial")
    })
  )

  it.effect(
    "are the evidence of quotes: a slot when proven, another route or a refusal when wrong, and back again",
    () =>
      Effect.gen(function* () {
        yield* TestClock.adjust("1 second")
        market.fresh = { ...market.fresh, heardAtMs: yield* Clock.currentTimeMillis }
        assert.isNull((yield* call(quotePath())).json("route.0.provenAtSlot"))
        const { proved } = yield* ProgramWatch
        yield* proved({ programId, slot: 500 }, outcome)
        assert.strictEqual((yield* call(quotePath())).json("route.0.provenAtSlot"), 900)
        yield* proved({ programId, slot: 500 }, { ...outcome, wrong: 2 })
        const around = yield* call(quotePath())
        assert.strictEqual(around.json("route.0.pool"), THIN_POOL)
        assert.isNull(around.json("route.0.provenAtSlot"))
        const refused = yield* call(quotePath("&venues=raydium-cpmm"))
        assert.strictEqual(refused.json("error.code"), "route_not_supported")
        assert.include(
          refused.text,
          "(raydium-cpmm) is not served: its prices were found wrong: 2 of 62 executed swaps"
        )
        yield* proved({ programId, slot: 500 }, outcome)
        assert.strictEqual((yield* call(quotePath())).json("route.0.provenAtSlot"), 900)
      })
  )
})
