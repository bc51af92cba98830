import { assert, it } from "@effect/vitest"
import { zstdCompressSync } from "node:zlib"
import { decodeBlock, encodeBlock, UnreadableBlock, VERSION } from "../../../src/market/tape/blockMessage.ts"
import type { Signature } from "../../../src/domain/Signature.ts"
import type { PricedBatch } from "../../../src/market/model/TradeBatch.ts"
import { leg, netOf, transactionOf } from "./decoded.ts"
import { address, makeTape, mintOf, MONDAY, trade } from "./tape.ts"

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
  liquidity: [
    {
      signature: "s3",
      index: 1024,
      kind: "removed",
      pool: address(5, 1),
      dex: "pumpswap",
      provider: null,
      sides: [{ mint: mintOf(2), amount: 2n ** 64n - 1n, decimals: null }],
      opens: false,
      includesFees: true
    }
  ],
  openings: [
    { signature: "s4" as Signature, index: 64, wallet: address(5, 2), funder: address(5, 3), lamports: 2n ** 60n }
  ],
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

/**
 * The bytes of version 2. They stay readable after a change of the encoding, so that a process can be deployed beside
 * one of the release before.
 */
const SECOND =
  "Aii1L/1grwUFFQD2qIEn8OjMAxDQDLAKeNk7Ch4yDgm2X/ASI6feTxQI4wdlyWDAM/CyeFEBdQBzAHoADMvKZsWiLI3BKxfxB/q74nCBsIEkvDzbgMWByKyua3QWlIAWFmFgqVwbPFkOioy9cPLKRXtv3VSeYDf8feVWj2LF3bf93RNz5pXbm7UvYJVvu1Ut+tt9K1f5ZsUKfuJmSMMUzUlJs/I9YMFP9H9m5WK+2xcCoU9yiiTJEE0HSD4SBD0PpS23Me3cO+Kb91ZDT8Njvf4Ojt/GqRP3v3fEld+cM66RbVcsON6s8Z+Vb7titU+H/i63qHMI1ut/qHzfCn6a3fxdzjGD1d8546Yn3gMzFo/tw4A1sRALpE6BciA5ss3EHUQwFBmlQnlXLEU5hlW+WV297U/dAGOBoM4eEohlQ0AgWVHDu4wQx2CpUN1FQ2zr4EQSGgdFQlD4+zMzZW+rt636AkAnrALailz1px2PArxy2+Hqaf6OiTx7gegyBQfJQUFwGU1gTg1kwoBk7+PcMBy3P+1YrVmNxSMXEIJjAB1KKfYUo5RS7DEqMUodBEMtQPtDL59S6l3KB3t6eP+JvXwqX2IYhr18aG+y9qfUpZSRv/z5PnESBkei0DgYLRzGRovrSuBESOMaHRmEK8wU32REWmMJMjZLQN6B9JiSh0NPKtcAZkJlDw5yQVmh4KIIZESKETcgIAJCjJHqPEobUEsOsAGN1DJg2/3yRrYgCFs4VhR95FBTxYSSZCSTIQIub/HPysQhrcTLuXBNgDEDgG/+xO9CvQEVVgbHa6yoD98GBTCQIB9QmANbYdCQTCjqANZ4FKJAKBPUjakLQBLAj9N73bLQHsiIIcx1p0OQKXcV7fjTxHE5IO5SWe3VJOuRbcXm2t2AlgkFwAk="

it("reads the block of a process that still writes version 2", () => {
  const { transactions, ...head } = decodeBlock(Buffer.from(SECOND, "base64"))
  assert.deepStrictEqual(head, {
    slot: 12,
    timeMs: MONDAY * 1000,
    timeEstimated: false,
    trades: [trade({ slot: 12 })],
    transfers: [trade({ role: "transfer", priceUsd: null, amount: 2n ** 63n })],
    launches: [{ mint: mintOf(1), launchpad: "pump-fun", pool: null, event: "created" }],
    supply: [{ mint: mintOf(2), change: -5n }],
    afterGap: false
  })
  const made = transactionOf({ index: 3, legs: [leg()], nets: [netOf(leg(), [0])] })
  assert.deepStrictEqual(Array.from(transactions, plain), [plain(made)])
})
