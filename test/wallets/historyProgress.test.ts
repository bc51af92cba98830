import { assert, describe, it } from "@effect/vitest"
import { toBase58 } from "../../src/domain/base58.ts"
import { Signature } from "../../src/domain/Signature.ts"
import type { ListedTransaction } from "../../src/chain/rpc/TransactionHistory.ts"
import {
  advanced,
  askedAgain,
  type HistoryProgress,
  NOT_BEGUN,
  ranked,
  refused
} from "../../src/wallets/historyProgress.ts"

const NOW = 1_790_000_000_000

const signatureOf = (n: number) =>
  Signature.make(toBase58(Uint8Array.from({ length: 64 }, (_, at) => (at === 63 ? n : 7))))

/** The transaction of a slot. Each is a second after the previous one. */
const listed = (slot: number, n = slot): ListedTransaction => ({
  signature: signatureOf(n),
  slot,
  blockTime: 1_700_000_000 + slot,
  err: null
})

const timeOf = (slot: number) => (1_700_000_000 + slot) * 1000

const step = (progress: HistoryProgress, slots: ReadonlyArray<number>, asked: number, most = 100) =>
  advanced(progress, { asked, listed: slots.map((slot) => listed(slot)), missing: 0, startedMs: NOW }, most)

describe("the progress of a history", () => {
  it("goes back from the newest transaction, and the span that was read grows with it", () => {
    const first = step(NOT_BEGUN, [9, 8], 2)
    assert.deepInclude(first, { state: "running", before: signatureOf(8), read: 2, fromMs: timeOf(8), isWhole: false })
    assert.strictEqual(first.throughMs, NOW - 30_000)
    const second = step(first, [7], 2)
    assert.deepInclude(second, { state: "done", before: null, until: signatureOf(9), read: 3, fromMs: timeOf(7) })
    assert.isTrue(second.isWhole, "a list shorter than asked for ends with the first transaction")
  })

  it("ends at the bound without being whole", () => {
    const cut = step(step(NOT_BEGUN, [9, 8], 2, 3), [7], 1, 3)
    assert.deepInclude(cut, { state: "done", read: 3, isWhole: false, fromMs: timeOf(7) })
  })

  it("continues with newer transactions when requested again, and keeps its span", () => {
    const done = step(NOT_BEGUN, [9, 8], 3)
    assert.strictEqual(askedAgain(done, NOW), done, "too soon")
    const again = askedAgain(done, NOW + 3_600_000)
    assert.deepInclude(again, { state: "running", until: signatureOf(9), fromMs: timeOf(8), throughMs: NOW - 30_000 })
    const newer = advanced(again, { asked: 3, listed: [listed(10)], missing: 0, startedMs: NOW + 3_600_000 }, 100)
    assert.deepInclude(newer, { state: "done", until: signatureOf(10), fromMs: timeOf(8), isWhole: true, read: 3 })
    assert.strictEqual(newer.throughMs, NOW + 3_600_000 - 30_000)
  })

  it("begins a new span when more transactions came since than the bound allows", () => {
    const done = step(NOT_BEGUN, [9, 8], 3)
    const cut = step(askedAgain(done, NOW + 3_600_000), [30, 29], 2, 2)
    assert.deepInclude(cut, { state: "done", isWhole: false, fromMs: timeOf(29), until: signatureOf(30) })
  })

  it("of a wallet without transactions is whole", () => {
    const none = step(NOT_BEGUN, [], 25)
    assert.deepInclude(none, { state: "done", isWhole: true, read: 0, fromMs: NOW - 30_000, throughMs: NOW - 30_000 })
  })

  it("ranks the transactions of a slot from the newest, across steps", () => {
    const first = ranked(NOT_BEGUN, [listed(9, 90), listed(9, 91), listed(8, 80)])
    assert.deepStrictEqual(
      first.map(({ rank }) => rank),
      [0, 1, 0]
    )
    assert.deepStrictEqual(
      ranked({ slot: 8, rank: 0 }, [listed(8, 81), listed(7, 70)]).map(({ rank }) => rank),
      [1, 0]
    )
  })

  it("fails at the fifth refusal, at once when refused for good, and goes on where it was when requested again", () => {
    const begun = step(NOT_BEGUN, [9, 8], 2)
    const tried = [1, 2, 3, 4].reduce((progress) => refused(progress, "malformed", false), begun)
    assert.deepInclude(tried, { state: "running", tries: 4, error: "malformed" })
    const failed = refused(tried, "malformed", false)
    assert.strictEqual(failed.state, "failed")
    assert.strictEqual(refused(begun, "no such method", true).state, "failed")
    assert.deepStrictEqual(askedAgain(failed, NOW), begun)
  })
})
