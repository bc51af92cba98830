/** Answers are compared with the record as of their own slot. */
import { assert, describe, it } from "@effect/vitest"
import type { Comparison } from "../../scripts/recompute/check.ts"
import { makeFindings } from "../../scripts/recompute/differences.ts"
import type { Block, Chain } from "../../scripts/recompute/follow.ts"
import { compareAtOneSlot } from "../../scripts/recompute/oneSlot.ts"
import { emptyRecord } from "../../scripts/recompute/record.ts"
import type { Service } from "../../scripts/recompute/service.ts"

/** Two blocks a second. */
const blocks: ReadonlyArray<Block> = Array.from({ length: 40 }, (_, at) => ({ slot: 100 + at, second: 50 + (at >> 1) }))

const chain: Pick<Chain, "after" | "blocks" | "readTo"> = {
  blocks: [...blocks],
  readTo: async () => {},
  after: (block) => ({ record: emptyRecord(), now: block?.slot ?? 0, from: 0, isWhole: true })
}

/** A service of which each answer is that of a slot given by the number of the answer; a slot passes as its newest is asked for. */
const serviceOf = (slots: ReadonlyArray<number>, shown: (slot: number, answer: number) => number) => {
  const state = { at: 0, answers: 0 }
  const slotNow = () => slots[Math.min(state.at, slots.length - 1)] ?? 0
  const service: Pick<Service, "newestSlot" | "prices"> = {
    newestSlot: async () => {
      const slot = slotNow()
      state.at++
      return slot
    },
    prices: async () => new Map([["slot", String(shown(slotNow(), state.answers++))]])
  }
  return { service: service as Service, state }
}

const compareSlot: Comparison = async (service, found, findings) => {
  const prices = await service.prices([])
  findings.exact("slots", "answer", "slot", prices.get("slot") ?? null, String(found.now))
}

/** The service of the test has as many wallets as the number of the slot. */
const compareWallets: Comparison = async (service, found, findings) => {
  const { wallets } = await service.leaders("1h", "trades")
  findings.number("leaders", "1h trades", "wallets", wallets, found.now)
}

describe("a comparison at one slot", () => {
  it("takes an answer during which no block came, at the first block of a second", async () => {
    // The second block of a second, one that ends during the answer, and one that stays.
    const { service, state } = serviceOf([101, 102, 103, 104, 104], (slot) => slot)
    const findings = makeFindings()
    await compareAtOneSlot(service, chain, findings, compareSlot, true, 0)
    assert.deepStrictEqual(findings.differences, [])
    assert.deepStrictEqual(Array.from(findings.compared), [["slots", 1]])
    assert.strictEqual(state.answers, 2)
  })

  it("reports an answer that is right for the block before", async () => {
    const { service } = serviceOf([104], (slot) => slot - 1)
    const findings = makeFindings()
    await compareAtOneSlot(service, chain, findings, compareSlot, true, 0)
    assert.deepStrictEqual(findings.differences, [{ of: "answer", field: "slot", service: "103", recomputed: "104" }])
  })

  it("asks again for leaders that show an older slot, or blocks of several", async () => {
    // The sums of another order were made two blocks earlier; then a block came while they were made.
    const shown = [102, null, 104]
    const state = { answers: 0 }
    const service: Pick<Service, "leaders" | "newestSlot"> = {
      newestSlot: async () => 104,
      leaders: async () => {
        const slot = shown[state.answers++] ?? null
        return { rows: [], wallets: slot ?? 0, slot }
      }
    }
    const findings = makeFindings()
    await compareAtOneSlot(service as Service, chain, findings, compareWallets, true, 0)
    assert.deepStrictEqual(findings.differences, [])
    assert.deepStrictEqual(Array.from(findings.compared), [["leaders", 1]])
    assert.strictEqual(state.answers, 3)
  })

  it("fails when a block comes during every answer", async () => {
    const state = { slot: 100 }
    const service = { newestSlot: async () => state.slot++, prices: async () => new Map() } as Partial<Service>
    const outcome = await compareAtOneSlot(service as Service, chain, makeFindings(), compareSlot, true, 0).then(
      () => "compared",
      (error: Error) => error.message
    )
    assert.include(outcome, "had a new block")
  })
})
