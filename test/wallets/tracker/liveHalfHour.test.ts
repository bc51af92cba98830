import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { Address } from "../../../src/domain/Address.ts"
import { toBase58 } from "../../../src/domain/base58.ts"
import { SLOT_MS, type Bank } from "../../../src/simulator/chain/Bank.ts"
import { balanceOf, mintOf, ownerOf } from "../../../src/simulator/chain/tokens.ts"
import { isTokenAccount } from "../../../src/simulator/chain/World.ts"
import { getBlock } from "../../../src/simulator/node/blockMethods.ts"
import { tapeTradesOf } from "../../../src/market/model/tapeTrades.ts"
import { decodeBlock } from "../../../src/chain/decoding/decodeBlock.ts"
import { isMoney } from "../../../src/domain/stables.ts"
import { TrackerState } from "../../../src/wallets/tracker/TrackerState.ts"
import { AccountsRead } from "../../../src/wallets/wholeEvents.ts"
import { newMarket } from "../../simulator/chain/chains.ts"
import { named, marksOf } from "./liveScene.ts"

/** Swaps a second of the simulator with its default settings. */
const SWAPS_PER_SECOND = 0.2
const UNSEEN_MS = 5 * 60_000
const SEEN_MS = 30 * 60_000
/** 150 dollars for a SOL. */
const microPerLamport = { numerator: 3n, denominator: 20n }

/** Units of every owner and mint over all of its token accounts, money aside. */
const balancesOf = (bank: Bank): ReadonlyMap<string, bigint> => {
  const balances = new Map<string, bigint>()
  for (const account of bank.accounts()) {
    if (isTokenAccount(account) && account.data.length >= 165 && !isMoney(mintOf(account))) {
      const key = `${toBase58(account.data.subarray(32, 64))} ${mintOf(account)}`
      balances.set(key, (balances.get(key) ?? 0n) + balanceOf(account))
    }
  }
  return balances
}

/** Units of an owner and a mint over all token accounts. */
const balanceIn = (bank: Bank, owner: Address, mint: Address): bigint =>
  Array.from(bank.ownedBy(bank.must(mint).owner))
    .filter((account) => account.data.length >= 165 && ownerOf(account) === owner && mintOf(account) === mint)
    .reduce((sum, account) => sum + balanceOf(account), 0n)

const ownersOf = (balances: ReadonlyMap<string, bigint>): ReadonlySet<string> =>
  new Set(Array.from(balances).flatMap(([key, units]) => (units > 0n ? [key.split(" ")[0] ?? ""] : [])))

describe("half an hour of the simulated market with its default settings", () => {
  it(
    "leaves every position with the balance on the chain, a strict total when everything was seen, else the known share",
    { timeout: 180_000 },
    () => {
      const { bank, market } = newMarket("half an hour", SWAPS_PER_SECOND)
      for (let passed = 0; passed < UNSEEN_MS; passed += SLOT_MS) {
        market.advance()
      }
      const wallets = market.wallets.flatMap(({ address, label }) => (label === "validator" ? [] : [address]))
      const tracked = new Set(wallets)
      const state = new TrackerState({
        sincesOf: (wallet) => new Set(tracked.has(wallet) ? [0] : []),
        tokenOf: () => named,
        marksAt: (nowMs) => marksOf({ usd: 1n }, nowMs),
        commitment: "confirmed"
      })
      /** Wallets with units of unknown cost: held before, or arrived by a transfer. */
      const unknown = new Set(ownersOf(balancesOf(bank)))
      // The wallets have been followed from the newest block on, with a read of their token accounts there.
      const begin = balancesOf(bank)
      const { slot: readSlot, unixTimestamp } = bank.newest()
      const times = { atMs: unixTimestamp * 1000, chainMs: unixTimestamp * 1000 }
      const several = new Set(
        market.wallets.flatMap(({ address, label }, index) =>
          label.startsWith("retail") && index % 8 === 3 ? [address] : []
        )
      )
      let inSeveral = 0
      for (const wallet of wallets) {
        const own = Array.from(begin).filter(([key]) => key.startsWith(`${wallet} `))
        const units = new Map(own.map(([key, of]) => [Address.make(key.split(" ")[1] ?? ""), of] as const))
        const read = new AccountsRead([{ slot: readSlot, units }], times)
        assert.isTrue(state.restore(wallet, { trades: [], isClipped: false }, { read, fromMs: 0 }))
      }
      let timeMs = 0
      for (let passed = 0; passed < SEEN_MS; passed += SLOT_MS) {
        const block = market.advance()
        const text = Result.getOrThrow(
          getBlock(bank, [block.slot, { maxSupportedTransactionVersion: 0, rewards: false }])
        )
        timeMs = block.unixTimestamp * 1000
        const transactions = Array.from(decodeBlock(block.slot, JSON.parse(text))?.transactions ?? [])
        for (const { changes, index } of transactions) {
          for (const { after, mint, owner } of changes) {
            inSeveral += !isMoney(mint) && several.has(owner) && after !== balanceIn(bank, owner, mint) ? 1 : 0
          }
          const made = block.transactions[index]
          for (const { delta, mint, native, owner } of changes) {
            if (!native && !isMoney(mint) && delta > 0n && (made?.wallet !== owner || made.swaps.length === 0)) {
              unknown.add(owner)
            }
          }
        }
        const trades = transactions.flatMap((each) => tapeTradesOf(each, { timeMs, microPerLamport }))
        const batch = { slot: block.slot, timeMs, transactions, launches: null, afterGap: false, trades }
        state.apply(batch, timeMs, () => false)
      }

      const balances = balancesOf(bank)
      const { pnl, summaries } = state.pnlSnapshotOf(
        wallets.map((wallet) => ({ wallet, sinceMs: 0 })),
        100_000,
        timeMs
      )
      for (const { holding, mint, wallet } of pnl) {
        assert.strictEqual(holding, balances.get(`${wallet} ${mint}`) ?? 0n, `${wallet} ${mint}`)
      }
      const counts = { strict: 0, partly: 0 }
      for (const { known, realized, total, trades, unrealized, wallet } of summaries.filter(
        (each) => each.trades > 0
      )) {
        if (!unknown.has(wallet)) {
          assert.isNotNull(total, wallet)
          assert.deepStrictEqual([known.realized, known.unrealized], [realized, unrealized], wallet)
          assert.strictEqual(known.volumeShare, "1")
          counts.strict += trades
        } else {
          assert.isNotNull(known.total, wallet)
          assert.isNotNull(known.volumeShare, wallet)
          counts.partly += total === null ? 1 : 0
        }
      }
      assert.deepStrictEqual(state.takeBroken(), [])
      assert.isAbove(inSeveral, 10)
      assert.isAbove(counts.strict, 20)
      assert.isAbove(counts.partly, 0)
    }
  )
})
