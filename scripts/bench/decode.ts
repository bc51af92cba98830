/**
 * Time of reading and decoding a transaction: `node scripts/bench/decode.ts [--json]`.
 *
 * Transactions are written for the purpose and warm: a bare swap, a swap whose event has to be read, and a route over two
 * pools with a log of its own. `json` is `JSON.parse` of the same transaction in the same run, for comparison: reading
 * and decoding should not be the greater part of a block.
 */
import { Result } from "effect"
import { pumpSwap } from "../../src/programs/pump/pumpSwap.ts"
import { raydiumAmmV4 } from "../../src/programs/raydium/ammV4.ts"
import { balanceChangesOf } from "../../src/chain/decoding/balanceChanges.ts"
import { decodeTrades } from "../../src/chain/decoding/decodeTrades.ts"
import { readTransaction } from "../../src/chain/decoding/transaction.ts"
import { walletTransfersOf } from "../../src/chain/decoding/walletTransfers.ts"
import {
  accountsAt,
  bytesOf,
  encoded,
  event,
  little,
  named,
  parsed,
  type Plan,
  POOL,
  sendLamports,
  swapHoldings,
  swapTransfers,
  TRADER
} from "../../test/chain/decoding/transactions.ts"
import { dlmmSwap, holdings, jupiter, raydiumSwap } from "../../test/chain/decoding/twoPools.ts"
import { percentile, report } from "./report.ts"

const BATCH = 64
const SAMPLES = 300

const swapEvent = bytesOf(
  new Uint8Array(8),
  little(50n, 8),
  new Uint8Array(80).fill(3),
  little(990n, 8),
  new Uint8Array(300).fill(7)
)

const setUp = [sendLamports(TRADER, named("trader sol"), 2000n), sendLamports(TRADER, named("tip"), 100n)]

const plans: Readonly<Record<string, Plan>> = {
  swap: {
    signers: [TRADER],
    calls: [...setUp, raydiumSwap("my sol", TRADER, "my token", 200n, 50n)],
    holdings,
    logs: [`Program ${raydiumAmmV4.programId} invoke [1]`, `Program ${raydiumAmmV4.programId} success`]
  },
  swapWithEvent: {
    signers: [TRADER],
    calls: [
      ...setUp,
      {
        program: pumpSwap.programId,
        accounts: accountsAt(23, { 0: POOL, 7: named("vault token"), 8: named("vault sol") }),
        data: bytesOf("66063d1201daebea", new Uint8Array(16)),
        calls: [...swapTransfers(), event(pumpSwap.programId, "67f4521f2cf57777", swapEvent)]
      }
    ],
    holdings: swapHoldings()
  },
  route: {
    signers: [TRADER],
    calls: [
      ...setUp,
      jupiter([
        dlmmSwap("my usdc", TRADER, "my sol", 1000n, 200n),
        raydiumSwap("my sol", TRADER, "my token", 200n, 50n)
      ])
    ],
    holdings,
    logs: Array.from({ length: 40 }, (_, i) => `Program log: line ${i} of a log as long as routes write them`)
  }
}

/** Microseconds of one call: the middle and the slow end of batches. */
const timed = (work: () => unknown) => {
  const run = () => {
    for (let i = 0; i < BATCH; i++) {
      work()
    }
  }
  for (let i = 0; i < 50; i++) {
    run()
  }
  const samples = Array.from({ length: SAMPLES }, () => {
    const start = performance.now()
    run()
    return ((performance.now() - start) * 1000) / BATCH
  })
  const rounded = (p: number) => Math.round((percentile(samples, p) ?? 0) * 100) / 100
  return { p50: rounded(0.5), p99: rounded(0.99) }
}

const figures = Object.fromEntries(
  Object.entries(plans).map(([name, plan]) => {
    const answer = encoded(plan)
    const text = JSON.stringify(answer)
    const other = parsed(plan)
    const transaction = Result.getOrThrow(readTransaction(answer))
    const trades = decodeTrades(transaction)
    return [
      name,
      {
        bytes: text.length,
        legs: trades.legs.length,
        json: timed(() => JSON.parse(text)),
        read: timed(() => readTransaction(answer)),
        readParsed: timed(() => readTransaction(other)),
        decode: timed(() => decodeTrades(transaction)),
        wallets: timed(() => [walletTransfersOf(transaction, trades), balanceChangesOf(transaction, trades)])
      }
    ]
  })
)

report("decode", { unit: "microseconds a transaction", ...figures })
