import { assert, it } from "@effect/vitest"
import { zstdCompressSync } from "node:zlib"
import { decodeBlock, encodeBlock, UnreadableBlock, VERSION } from "../../../src/market/tape/blockMessage.ts"
import type { PricedBatch } from "../../../src/market/model/TradeBatch.ts"
import { leg, netOf, transactionOf } from "./decoded.ts"
import { makeTape, mintOf, MONDAY, trade } from "./tape.ts"

const sold = leg({ side: "sell" })
const transactions = [
  transactionOf({ index: 3, legs: [leg(), sold], nets: [netOf(leg(), [0, 1])] }),
  transactionOf({ index: 4, unresolved: 2 })
]

const batch: PricedBatch = {
  slot: 12,
  timeMs: MONDAY * 1000,
  timeEstimated: true,
  transactions,
  trades: makeTape({ seed: 5, trades: 40, tokens: 3, wallets: 5, paceSeconds: 0 }),
  transfers: [
    trade({ role: "transfer", priceUsd: null, amount: 2n ** 63n }),
    trade({
      lamports: 4n,
      otherToken: { mint: mintOf(4), amount: 2n ** 64n, decimals: null },
      feeUsdNanos: null,
      feeLamports: 0n,
      priorityLamports: 7n,
      tipLamports: 8n,
      held: { before: 0n, after: 2n ** 64n }
    })
  ],
  launches: [{ mint: mintOf(1), launchpad: "pump-fun", pool: null, event: "created" }],
  supply: [{ mint: mintOf(2), change: -5n }],
  checks: [{ dex: "pumpswap", counts: { confirmed: 3, unknown: 1 }, tags: { "2b644913e9f66f94": 1 } }],
  afterGap: true
}

const whole = ({ transactions, ...rest }: PricedBatch) => ({ ...rest, transactions: Array.from(transactions, plain) })
const plain = (each: (typeof transactions)[number]) => ({
  index: each.index,
  legs: each.legs,
  nets: each.nets,
  moves: each.moves,
  changes: each.changes,
  transfers: each.transfers,
  unresolved: each.unresolved,
  signature: each.signature
})

const failure = (bytes: Uint8Array): unknown => {
  try {
    return decodeBlock(bytes)
  } catch (error) {
    return error
  }
}

it("gives a block back whole, also when it is encoded again", () => {
  const bytes = encodeBlock(batch)
  assert.strictEqual(bytes[0], VERSION)
  assert.deepStrictEqual(whole(decodeBlock(bytes)), whole(batch))
  assert.deepStrictEqual(whole(decodeBlock(encodeBlock(decodeBlock(bytes)))), whole(batch))
})

it("distinguishes what a feed does not report from what it reports as none", () => {
  const { supply: _supply, transfers: _transfers, ...rest } = batch
  const bare = { ...rest, launches: null }
  assert.deepStrictEqual(whole(decodeBlock(encodeBlock(bare))), whole(bare))
})

it("refuses an unknown version with its number, and bytes that are not a block", () => {
  const bytes = encodeBlock(batch)
  const later = Uint8Array.from([VERSION + 1, ...bytes.subarray(1)])
  assert.deepInclude(failure(later), { _tag: "UnreadableBlock", version: VERSION + 1 })
  assert.deepInclude(failure(bytes.subarray(0, 40)), { _tag: "UnreadableBlock", version: VERSION })
  assert.deepInclude(failure(new Uint8Array()), { _tag: "UnreadableBlock", version: null })
  assert.instanceOf(failure(new Uint8Array()), UnreadableBlock)
  const withoutEnd = Buffer.concat([Buffer.of(VERSION), zstdCompressSync(Buffer.from("{}\n{}"))])
  assert.deepInclude(failure(withoutEnd), { _tag: "UnreadableBlock", version: VERSION })
})
