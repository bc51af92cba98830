/** Wallets by realized profit, volume or trades over all tokens, from memory. */
import { Effect } from "effect"
import { type LeaderSort, MOST_LEADERS, type WalletLeader } from "../../api/schemas/TopTraders.ts"
import { Address } from "../../domain/Address.ts"
import { ownTurn } from "../../domain/loopTime.ts"
import { decimalText } from "../../domain/rational.ts"
import type { WalletSums, WalletTotals } from "../memory/WalletSums.ts"
import { dollarsText } from "./measures.ts"
import { signedText } from "./traderRanking.ts"

/** What is ranked. */
export interface LeaderSelectors {
  readonly sort: LeaderSort
  /** Least share of proceeds whose cost is known, in percent. 0 asks for nothing. */
  readonly minKnownPct: number
  readonly minTrades: number
}

/** The ranked wallets, and how many there were. */
export interface RankedLeaders {
  readonly rows: ReadonlyArray<WalletLeader>
  readonly wallets: number
  /** Wallets that pass, also those beyond the rows. */
  readonly ranked: number
  readonly excluded: { readonly nothingKnown: number; readonly belowMinimum: number }
}

/** Wallets that are looked at between two yields. */
const AT_A_TIME = 1024
const NANO_DIGITS = 9

const percent = (part: bigint, whole: bigint): string | null =>
  whole === 0n ? null : decimalText({ numerator: 100n * part, denominator: whole })

const realizedOf = ({ costNanos, knownSoldNanos }: WalletTotals): bigint => knownSoldNanos - costNanos

/** True when the share of proceeds with a known cost is at least the minimum. Without every price the share is unknown. */
const isKnownEnough = ({ knownSoldNanos, soldNanos, unpricedSells }: WalletTotals, minKnownPct: number): boolean =>
  minKnownPct === 0 ||
  (unpricedSells === 0 && soldNanos > 0n && 100n * knownSoldNanos >= BigInt(minKnownPct) * soldNanos)

const valueOf = (totals: WalletTotals, sort: LeaderSort): bigint => {
  switch (sort) {
    case "realized":
      return realizedOf(totals)
    case "volume":
      return totals.volumeNanos
    case "trades":
      return BigInt(totals.buys + totals.sells)
  }
}

const leaderOf = (totals: WalletTotals, rank: number): WalletLeader => {
  const { buys, costNanos, knownSoldNanos, knownTokens, sells, soldNanos, unpricedBuys, unpricedSells } = totals
  const isKnown = knownTokens > 0
  return {
    rank,
    wallet: Address.make(totals.wallet),
    trades: buys + sells,
    buys,
    sells,
    tokens: totals.tokens,
    knownVolumeUsd: dollarsText(totals.volumeNanos),
    unpricedTrades: unpricedBuys + unpricedSells,
    realized: {
      knownUsd: isKnown ? signedText(realizedOf(totals), NANO_DIGITS) : null,
      costUsd: isKnown ? dollarsText(costNanos) : null,
      roiPct: isKnown ? percent(realizedOf(totals), costNanos) : null,
      knownTokens,
      unknownTokens: totals.unknownTokens,
      wins: totals.wins,
      knownSharePct: unpricedSells > 0 ? null : percent(knownSoldNanos, soldNanos)
    },
    lastTradeAtMs: totals.lastSecond * 1000
  }
}

interface Candidate {
  readonly totals: WalletTotals
  readonly value: bigint
}

const inOrder = (a: Candidate, b: Candidate): number =>
  a.value === b.value ? (a.totals.wallet < b.totals.wallet ? -1 : 1) : a.value < b.value ? 1 : -1

/** The first wallets in the order. Looks at each wallet once, and yields now and then. */
export const walletLeaders = Effect.fnUntraced(function* (
  sums: WalletSums,
  { minKnownPct, minTrades, sort }: LeaderSelectors
): Effect.fn.Return<RankedLeaders> {
  let best: Array<Candidate> = []
  let ranked = 0
  const excluded = { nothingKnown: 0, belowMinimum: 0 }
  for (let place = 0; place < sums.size; place++) {
    if (place % AT_A_TIME === AT_A_TIME - 1) {
      yield* ownTurn
    }
    const totals = sums.at(place)
    if (totals === null) {
      continue
    }
    if (sort === "realized" && totals.knownTokens === 0) {
      excluded.nothingKnown++
      continue
    }
    if (totals.buys + totals.sells < minTrades || !isKnownEnough(totals, minKnownPct)) {
      excluded.belowMinimum++
      continue
    }
    ranked++
    best.push({ totals, value: valueOf(totals, sort) })
    if (best.length >= 4 * MOST_LEADERS) {
      best = best.toSorted(inOrder).slice(0, MOST_LEADERS)
    }
  }
  const rows = best.toSorted(inOrder).slice(0, MOST_LEADERS)
  return { rows: rows.map(({ totals }, place) => leaderOf(totals, place + 1)), wallets: sums.size, ranked, excluded }
})
