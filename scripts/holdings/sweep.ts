/** One look at all wallets, each until it agrees with the chain. */
import { type ChainFigures, heldBy } from "./chainFigures.ts"
import type { LiveFigures } from "./liveFigures.ts"
import { type Caller, dataOf } from "./service.ts"
import {
  type HoldingDifference,
  readDifferences,
  type ReadPosition,
  verdictOf,
  type WalletKind,
  type WalletVerdict
} from "./verdicts.ts"

/** The parts of a check. */
export interface HoldingsSource {
  readonly caller: Caller
  readonly rpc: string
  readonly chain: ChainFigures
  readonly live: LiveFigures
}

/** Wallets by kind, holdings compared, and what still differs. */
export interface SweepReport {
  readonly kinds: Readonly<Record<WalletKind, number>>
  readonly holdings: number
  readonly rounds: number
  readonly differences: ReadonlyArray<HoldingDifference>
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Wallets that are looked at beside each other. */
const AT_ONCE = 8

const positionsOf = async (caller: Caller, wallet: string): Promise<ReadonlyArray<ReadPosition>> => {
  const answer = await dataOf(caller, `/api/v1/wallets/${wallet}/positions?limit=500`)
  return (answer as { readonly positions: ReadonlyArray<ReadPosition> }).positions
}

/** The live figures of a wallet, and its units at the node. */
const figuresNow = async ({ live, rpc }: HoldingsSource, wallet: string) => {
  const shown = { live: new Map(live.positionsOf(wallet)), summary: live.summaryOf(wallet) }
  return { wallet, ...shown, ...(await heldBy(rpc, wallet)) }
}

/** Compares a wallet as it is now: its live figures with the blocks, then its read positions where these agree. */
const compared = async (
  { caller, chain, rpc }: HoldingsSource,
  { listed, ...of }: Awaited<ReturnType<typeof figuresNow>>,
  isRead: boolean
): Promise<WalletVerdict> => {
  const verdict = verdictOf({ ...of, book: chain.bookOf(of.wallet, listed), unseen: chain.unseenTransfers(of.wallet) })
  if (!isRead || verdict.differences.length > 0) {
    return verdict
  }
  const read = await positionsOf(caller, of.wallet)
  const { units } = await heldBy(rpc, of.wallet)
  const differences = readDifferences({ wallet: of.wallet, units }, read)
  return { ...verdict, holdings: verdict.holdings + read.length, differences }
}

/** Compares wallets as they are now, with the blocks up to now. */
const verdictsNow = async (source: HoldingsSource, wallets: ReadonlyArray<string>, reads: ReadonlySet<string>) => {
  const figures: Array<Awaited<ReturnType<typeof figuresNow>>> = []
  for (let from = 0; from < wallets.length; from += AT_ONCE) {
    const some = wallets.slice(from, from + AT_ONCE)
    figures.push(...(await Promise.all(some.map((wallet) => figuresNow(source, wallet)))))
  }
  await source.chain.readOn()
  const verdicts = []
  for (const of of figures) {
    verdicts.push({ wallet: of.wallet, verdict: await compared(source, of, reads.has(of.wallet)) })
  }
  return verdicts
}

/**
 * The most rounds, the pause before each further round, and how many wallets also have their positions read. A key's
 * minute has budget for that many.
 */
export interface SweepOptions {
  readonly rounds: number
  readonly pauseMs: number
  readonly reads: ReadonlySet<string>
}

/**
 * Looks at every wallet. One that differs is looked at again after a pause, `rounds` times at most: a wallet may have traded
 * between two reads, and live figures are sent once a second.
 */
export const sweep = async (
  source: HoldingsSource,
  wallets: ReadonlyArray<string>,
  { pauseMs, reads, rounds }: SweepOptions
): Promise<SweepReport> => {
  const kinds: Record<WalletKind, number> = { idle: 0, partly: 0, strict: 0, unmarked: 0 }
  let holdings = 0
  let left = wallets
  let differences: ReadonlyArray<HoldingDifference> = []
  let round = 0
  for (; round < rounds && left.length > 0; round++) {
    await (round === 0 ? undefined : pause(pauseMs))
    const again: Array<string> = []
    const found: Array<HoldingDifference> = []
    for (const { verdict, wallet } of await verdictsNow(source, left, reads)) {
      if (verdict.differences.length === 0) {
        kinds[verdict.kind]++
        holdings += verdict.holdings
      } else {
        again.push(wallet)
        found.push(...verdict.differences)
      }
    }
    left = again
    differences = found
  }
  return { kinds, holdings, rounds: round, differences }
}
