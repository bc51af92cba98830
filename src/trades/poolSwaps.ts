/** Swaps between pools and their traders, from transfers and events. */
import { type Address, type Mint, SOL } from "../domain/Address.ts"
import { loggedReports } from "./programLogs.ts"
import { type CallReport, reportsIn, type SwapCall, swapCallsOf, type TokenPayment, transfersIn } from "./swapCalls.ts"
import type { Hop } from "../programs/SwapDecoder.ts"
import type { Transaction } from "./transaction.ts"

/** One swap through one pool. */
export interface PoolSwap {
  readonly dex: string
  readonly pool: Address
  /** The instruction that swapped, among all that ran. */
  readonly at: number
  /** The token account that paid in, and who moved it; null where lamports were paid in. */
  readonly paidFrom: { readonly account: Address; readonly authority: Address | null } | null
  readonly inputMint: Mint
  readonly outputMint: Mint
  readonly amountIn: bigint
  readonly amountOut: bigint
  readonly vaults: readonly [Address, Address]
  /** The trader in lamports, and how many were paid or received, fees included, null when unknown; null for a swap of tokens. */
  readonly native: { readonly trader: Address; readonly lamports: bigint | null } | null
  readonly confirmed: boolean | null
}

/** The swaps of a transaction, and the count of swap instructions whose amounts could not be resolved. */
export interface PoolSwaps {
  readonly swaps: ReadonlyArray<PoolSwap>
  readonly unresolved: number
}

/** Amounts that one vault received and paid. */
interface Flow {
  readonly mint: Mint | null
  readonly taken: bigint
  readonly paid: bigint
  readonly from: TokenPayment | null
}

const flowOf = (transaction: Transaction, vault: Address, transfers: ReadonlyArray<TokenPayment>): Flow => {
  let taken = 0n
  let paid = 0n
  let mint = transaction.tokenAccounts.get(vault)?.mint ?? null
  let from: TokenPayment | null = null
  for (const transfer of transfers) {
    if (transfer.destination === vault) {
      taken += transfer.amount
      from ??= transfer
      mint ??= transfer.mint
    }
    if (transfer.source === vault) {
      paid += transfer.amount
      mint ??= transfer.mint
    }
  }
  return { mint, taken, paid, from }
}

/** The flow of the lamports' side, which has no transfers, from the event. */
const nativeFlow = (tokens: Flow, { amountIn, amountOut }: CallReport): Flow =>
  tokens.paid > tokens.taken
    ? { mint: SOL, taken: amountIn, paid: 0n, from: null }
    : { mint: SOL, taken: 0n, paid: amountOut, from: null }

/** Lamports of the trader. A fee that the event does not state is the growth of its recipient's lamports, if the swap is alone. */
const lamportsOf = (
  transaction: Transaction,
  feeRecipient: Address | null,
  report: CallReport,
  isBuy: boolean,
  alone: boolean
): bigint | null => {
  if (report.traderLamports !== null) {
    return report.traderLamports
  }
  const at = feeRecipient === null ? -1 : transaction.keys.indexOf(feeRecipient)
  const before = transaction.lamportsBefore[at] ?? null
  const after = transaction.lamportsAfter[at] ?? null
  if (!alone || before === null || after === null) {
    return null
  }
  return isBuy ? report.amountIn + (after - before) : report.amountOut - (after - before)
}

/** The swap of one hop; null when what moved is not one mint for another. */
const swapOf = (
  transaction: Transaction,
  call: SwapCall,
  hop: Hop,
  transfers: ReadonlyArray<TokenPayment>,
  report: CallReport | null,
  alone: boolean
): PoolSwap | null => {
  const a = flowOf(transaction, hop.vaults[0], transfers)
  const tokens = flowOf(transaction, hop.vaults[1], transfers)
  const inLamports = hop.native !== undefined && tokens.taken === 0n && tokens.paid === 0n && report !== null
  const b = inLamports ? nativeFlow(a, report) : tokens
  const paysA = a.paid > a.taken
  const [input, output] = paysA ? [b, a] : [a, b]
  if (input.taken <= input.paid || output.paid <= output.taken || input.mint === null || output.mint === null) {
    return null
  }
  const decides = call.program.reportDecides === true
  const confirmed = report === null ? null : agrees(report, input.taken, output.paid, decides ? paysA : null)
  return {
    dex: report?.dex ?? call.program.dex,
    pool: hop.pool,
    at: call.at,
    paidFrom: input.from === null ? null : { account: input.from.source, authority: input.from.authority },
    inputMint: input.mint,
    outputMint: output.mint,
    amountIn: report !== null && decides ? report.amountIn : input.taken,
    amountOut: report !== null && decides ? report.amountOut : output.paid,
    vaults: hop.vaults,
    native:
      inLamports && hop.native !== undefined
        ? {
            trader: hop.native.trader,
            // An event of other amounts does not state the cost of these.
            lamports: confirmed === true ? lamportsOf(transaction, hop.native.feeRecipient, report, paysA, alone) : null
          }
        : null,
    confirmed
  }
}

/** True when transfers and event agree. For a program whose event decides, only the base side is compared: fees move with the quote. */
const agrees = (report: CallReport, taken: bigint, paid: bigint, paysBase: boolean | null): boolean =>
  (paysBase === true || report.amountIn === taken) && (paysBase === false || report.amountOut === paid)

/** The report of one hop: with several hops one each, with a single hop the last, which is the newest layout. */
const reportOf = (reports: ReadonlyArray<CallReport>, hops: number, hop: number): CallReport | null =>
  hops === 1 ? (reports.at(-1) ?? null) : reports.length === hops ? (reports[hop] ?? null) : null

/** Deals a program's log events out to its calls, if there are as many events as hops. */
const makeDealer = (transaction: Transaction, calls: ReadonlyArray<SwapCall>) => {
  const needed = calls.some(({ program }) => program.logged !== undefined)
  const logged = needed && transaction.logs !== null ? loggedReports(transaction.logs) : null
  const dealt = new Map<Address, number>()
  return ({ program, hops }: SwapCall): ReadonlyArray<CallReport> => {
    const reports = logged?.get(program.programId) ?? []
    const expected = calls.reduce((sum, call) => sum + (call.program === program ? call.hops.length : 0), 0)
    const from = dealt.get(program.programId) ?? 0
    dealt.set(program.programId, from + hops.length)
    return reports.length === expected ? reports.slice(from, from + hops.length) : []
  }
}

/** Every pool swap in the order in which they ran. */
export const poolSwapsOf = (transaction: Transaction): PoolSwaps => {
  const calls = swapCallsOf(transaction)
  const deal = makeDealer(transaction, calls)
  const alone = calls.length === 1
  const swaps: Array<PoolSwap> = []
  let unresolved = 0
  for (const call of calls) {
    const transfers = transfersIn(transaction, call)
    const sent = reportsIn(transaction, call)
    const fromLog = deal(call)
    const reports = sent.length > 0 ? sent : fromLog
    const before = swaps.length
    for (const [i, hop] of call.hops.entries()) {
      const report = reportOf(reports, call.hops.length, i)
      const swap = swapOf(transaction, call, hop, transfers, report, alone)
      if (swap !== null) {
        swaps.push(swap)
      } else if (hop.perhaps !== true) {
        unresolved += 1
      }
    }
    unresolved += swaps.length === before && call.hops[0]?.perhaps === true ? 1 : 0
  }
  return { swaps, unresolved }
}
