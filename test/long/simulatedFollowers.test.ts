import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { CopyFill, NewFollow } from "../../src/api/schemas/Copying.ts"
import { makeBank, SLOT_MS } from "../../src/simulator/chain/Bank.ts"
import { makeMarket } from "../../src/simulator/traders/Market.ts"
import { livePast } from "../../src/simulator/traders/past.ts"

const START = Date.UTC(2026, 9, 1, 12)
const PAST_SLOTS = 4_500

/** Half an hour of a market's past and this many slots after it, with all fills. */
const lived = (seed: string, slots: number) => {
  const startUnixMs = START - PAST_SLOTS * SLOT_MS
  const bank = makeBank({ seed, startSlot: 1_000, startUnixMs })
  bank.keep(Number.POSITIVE_INFINITY)
  const market = makeMarket({ seed, bank, swapsPerSecond: 60, liveUnixMs: START })
  const fills: Array<CopyFill> = []
  const past = Array.from(livePast(bank, market, 1_000 + PAST_SLOTS))
  market.copies.listen((fill) => fills.push(fill))
  const present = Array.from({ length: slots }, () => market.advance())
  return { bank, follows: market.copies.follows, fills, blocks: [...past, ...present] }
}

const isFollow = Schema.is(NewFollow)
const isFill = Schema.is(CopyFill)

describe("the simulated copier", () => {
  const { bank, blocks, fills, follows } = lived("copied", 500)
  const transactions = new Map(
    blocks.flatMap((block) => block.transactions).map((transaction) => [transaction.signature, transaction])
  )

  const of = (follow: NewFollow | undefined) => fills.filter(({ followId }) => followId === follow?.id)

  it("follows five wallets, one of them paused, and one stopped when its past ended", () => {
    assert.isTrue(follows.every((follow) => isFollow(follow)))
    assert.deepStrictEqual(
      follows.map(({ status }) => status),
      ["active", "active", "active", "paused", "stopped"]
    )
    assert.strictEqual(follows[4]?.stoppedAtMs, START)
    assert.strictEqual(new Set(follows.map(({ ownedWallet }) => ownedWallet.address)).size, 1)
  })

  it("writes valid fills, in order of their ids", () => {
    assert.isAtLeast(fills.length, 20)
    assert.isTrue(fills.every((fill) => isFill(fill)))
    const ids = fills.map(({ id }) => id)
    assert.deepStrictEqual(ids, ids.toSorted())
    assert.strictEqual(new Set(ids).size, ids.length)
  })

  it("copies on-chain trades of leaders with on-chain swaps, to the unit", () => {
    const filled = fills.filter(({ status }) => status === "filled")
    assert.isAtLeast(filled.length, 5)
    for (const { execution, followId, leader } of fills) {
      const follow = follows.find(({ id }) => id === followId)
      const original = transactions.get(leader.signature)
      assert.strictEqual(original?.wallet, follow?.leader.wallet)
      assert.strictEqual(original?.slot, leader.slot)
      if (execution !== null) {
        const copy = transactions.get(execution.signature)
        assert.strictEqual(copy?.wallet, follow?.ownedWallet.address)
        assert.strictEqual(copy?.slot, execution.slot)
        const [swap] = copy?.swaps ?? []
        assert.deepInclude(swap, {
          inputMint: execution.inMint,
          amountIn: execution.inAmount,
          outputMint: execution.outMint,
          amountOut: execution.outAmount
        })
        const delay = execution.slot - leader.slot
        assert.isTrue(delay >= 0 && delay <= 3, `${delay}`)
        assert.strictEqual(execution.atMs - leader.atMs, delay * SLOT_MS)
      }
    }
  })

  it("keeps the rules of each follow", () => {
    const [steady, , picky, paused, stopped] = follows
    for (const { execution, side } of of(steady)) {
      assert.isTrue(execution === null || side === "sell" || execution.inAmount === steady?.sizing.amount)
    }
    const small = of(picky).filter(({ leader }) => (leader.valueUsdNanos ?? 0n) < 2_500_000_000_000n)
    assert.isTrue(small.every(({ reason }) => reason === "filter"))
    const late = of(paused).filter(({ leader }) => leader.atMs > (paused?.updatedAtMs ?? 0))
    assert.isAbove(late.length, 0)
    assert.isTrue(late.every(({ reason }) => reason === "paused"))
    assert.isAbove(of(stopped).length, 0)
    assert.isTrue(of(stopped).every(({ leader }) => leader.atMs < START))
  })

  it("has fills with every reason of a refusal", () => {
    const reasons = new Set(fills.map(({ reason }) => reason))
    for (const reason of ["filter", "paused", "slippage", "insufficient_balance"] as const) {
      assert.isTrue(reasons.has(reason), reason)
    }
  })

  it("never holds less than it has copied", () => {
    const held = new Map<string, bigint>()
    for (const { execution, followId, mint, side } of fills) {
      const key = `${followId} ${mint}`
      const moved = side === "buy" ? (execution?.outAmount ?? 0n) : -(execution?.inAmount ?? 0n)
      held.set(key, (held.get(key) ?? 0n) + moved)
      assert.isTrue((held.get(key) ?? 0n) >= 0n)
    }
    assert.isAbove(bank.newest().slot, 0)
  })

  it("writes the same fills for the same seed, and different ids for another start", () => {
    const again = lived("copied", 1)
    assert.isAbove(again.fills.length, 0)
    assert.deepStrictEqual(again.fills, fills.slice(0, again.fills.length))
    const other = makeMarket({
      seed: "other",
      bank: makeBank({ seed: "other", startSlot: 1, startUnixMs: START }),
      swapsPerSecond: 1
    })
    assert.notIncludeMembers(
      other.copies.follows.map(({ id }) => id),
      follows.map(({ id }) => id)
    )
  })
})
