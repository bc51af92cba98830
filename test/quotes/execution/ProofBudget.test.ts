import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect } from "effect"
import { ProofBudget } from "../../../src/quotes/execution/ProofBudget.ts"
import { isProving } from "../../../src/quotes/execution/proofSettings.ts"

const proves = (env: Record<string, string>) =>
  isProving.pipe(Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env }))))

describe("PROVE_BUDGET", () => {
  it.effect("turns proofs off when it is 0", () =>
    Effect.gen(function* () {
      assert.isTrue(yield* proves({ PROVE: "on" }))
      assert.isFalse(yield* proves({ PROVE: "on", PROVE_BUDGET: "0 seconds" }))
    })
  )
})

describe("PROVE", () => {
  it.effect("is on where a node is configured, unless it says otherwise", () =>
    Effect.gen(function* () {
      assert.isFalse(yield* proves({}))
      assert.isTrue(yield* proves({ SOLANA_RPC_URL: "http://127.0.0.1:8899" }))
      assert.isFalse(yield* proves({ SOLANA_RPC_URL: "http://127.0.0.1:8899", PROVE: "off" }))
    })
  )
})

describe("ProofBudget", () => {
  it("has room until the limit was used within an hour, and again once enough of that is older", () => {
    const budget = new ProofBudget(1000)
    assert.strictEqual(budget.waitMs(0), 0)
    budget.spend(0, 600)
    assert.strictEqual(budget.waitMs(10), 0)
    budget.spend(20_000, 500)
    assert.strictEqual(budget.waitMs(30_000), 3_570_000)
    assert.strictEqual(budget.waitMs(3_600_000), 0)
    assert.strictEqual(budget.totalMs, 1100)
    assert.isAbove(new ProofBudget(0).waitMs(5), 0)
  })
})
