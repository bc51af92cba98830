/** Finds the swaps between pools and traders, from transfers and events. */
import { type Address, type Mint, SOL } from "../../domain/Address.ts"
import { loggedReports } from "./programLogs.ts"
import { type CallReport, reportsIn, type SwapCall, swapCallsOf, transfersIn } from "./swapCalls.ts"
import { isInBalances, type SwapCheck, unknownSwaps } from "./swapChecks.ts"
import type { TokenPayment } from "./tokenTransfers.ts"
import { transferFeeOf } from "./transferFees.ts"
import type { Hop } from "../../programs/interface/SwapDecoder.ts"
import { isSigner, mintOf, type Transaction } from "./transaction.ts"

/** One swap through one pool. */
export interface PoolSwap {
  readonly dex: string
  readonly pool: Address
  /** Index of the instruction that swapped, among all that ran. */
  readonly at: number
  /** The token account that paid in, and the authority that moved its tokens; null when lamports were paid in. */
  readonly paidFrom: { readonly account: Address; readonly authority: Address | null } | null
  readonly inputMint: Mint
  readonly outputMint: Mint
  /** Units that the pool received, after a transfer fee. */
  readonly amountIn: bigint
  /** Units that the pool paid to the trader, before a transfer fee. */
  readonly amountOut: bigint
  /** Transfer fees of the input and output mint. The input's fee is paid on top, the output's fee is taken off. */
  readonly feeIn: bigint
  readonly feeOut: bigint
  readonly vaults: readonly [Address, Address]
  /**
   * The trader of a swap that paid or received lamports, and how many, fees included; `lamports` is null when unknown.
   * Null for a swap of two tokens.
   */
  readonly native: { readonly trader: Address; readonly lamports: bigint | null } | null
  readonly confirmed: boolean | null
}

/** The swaps of a transaction. `unresolved` counts swap instructions whose amounts could not be determined. */
export interface PoolSwaps {
  readonly swaps: ReadonlyArray<PoolSwap>
  readonly unresolved: number
  /** One check for each swap, for each unresolved one, and for each swap by an instruction that no decoder knows. */
  readonly checks: ReadonlyArray<SwapCheck>
}

/** What one vault received and paid, with the transfer fees. */
interface VaultFlow {
  readonly mint: Mint | null
  readonly taken: bigint
  readonly paid: bigint
  readonly feeIn: bigint
  readonly feeOut: bigint
  readonly from: TokenPayment | null
}

/** What moved through a vault. A payment to the referrer after the vault's first payment is left out. */
const vaultFlowOf = (
  transaction: Transaction,
  vault: Address,
  { referral }: Hop,
  transfers: ReadonlyArray<TokenPayment>
): VaultFlow => {
  let [taken, paid, feeIn, feeOut] = [0n, 0n, 0n, 0n]
  let mint = transaction.tokenAccounts.get(vault)?.mint ?? null
  let from: TokenPayment | null = null
  let hasPaid = false
  for (const transfer of transfers) {
    if (transfer.destination === vault) {
      const fee = transferFeeOf(transaction, transfer)
      taken += transfer.amount - fee
      feeIn += fee
      from ??= transfer
      mint ??= transfer.mint
    }
    if (transfer.source === vault && !(hasPaid && transfer.destination === referral)) {
      hasPaid = true
      paid += transfer.amount
      feeOut += transferFeeOf(transaction, transfer)
      mint ??= transfer.mint
    }
  }
  return { mint, taken, paid, feeIn, feeOut, from }
}

/**
 * Finds the vaults of a pool whose instruction does not name them. The trader's payment goes into one vault, and the
 * first transfer of another mint comes out of the other. A pool never signs a transaction, so a transfer authorized by
 * a signer is the trader's payment. A maker signs: what the maker authorizes is the payment to the trader.
 */
const movedVaults = (
  transaction: Transaction,
  { maker }: Hop,
  transfers: ReadonlyArray<TokenPayment>
): readonly [Address, Address] | null => {
  if (maker !== undefined) {
    const toMaker = transfers.find(({ authority }) => authority !== maker)
    const toTrader = transfers.find(({ authority }) => authority === maker)
    return toMaker === undefined || toTrader === undefined ? null : [toMaker.destination, toTrader.source]
  }
  const [first] = transfers
  const second = transfers.find(
    (transfer) => first !== undefined && mintOf(transaction, transfer) !== mintOf(transaction, first)
  )
  if (first === undefined || second === undefined) {
    return null
  }
  const bySigner = second.authority !== null && isSigner(transaction, second.authority)
  const [paid, got] = bySigner ? [second, first] : [first, second]
  return [paid.destination, got.source]
}

/** The lamport side of a swap, from the event: no transfer shows it. */
const nativeFlow = (tokens: VaultFlow, { amountIn, amountOut }: CallReport): VaultFlow => {
  const [taken, paid] = tokens.paid > tokens.taken ? [amountIn, 0n] : [0n, amountOut]
  return { mint: SOL, taken, paid, feeIn: 0n, feeOut: 0n, from: null }
}

/**
 * What the trader paid or received in lamports. Without a fee in the event, a purchase cost what the trader sent. For
 * other swaps the fee is the gain of its recipient, which is known only when this is the transaction's only swap.
 */
const traderLamports = (
  transaction: Transaction,
  feeRecipient: Address | null,
  report: CallReport,
  isBuy: boolean,
  alone: boolean,
  sent: bigint
): bigint | null => {
  if (report.traderLamports !== null) {
    return report.traderLamports
  }
  if (isBuy && sent >= report.amountIn) {
    return sent
  }
  const at = feeRecipient === null ? -1 : transaction.keys.indexOf(feeRecipient)
  const before = transaction.lamportsBefore[at] ?? null
  const after = transaction.lamportsAfter[at] ?? null
  if (!alone || before === null || after === null) {
    return null
  }
  return isBuy ? report.amountIn + (after - before) : report.amountOut - (after - before)
}

/** The swap of one hop; null when what moved is not an exchange of two mints. */
const swapOf = (
  transaction: Transaction,
  call: SwapCall,
  hop: Hop,
  transfers: ReadonlyArray<TokenPayment>,
  report: CallReport | null,
  alone: boolean
): PoolSwap | null => {
  const vaults = hop.vaults ?? movedVaults(transaction, hop, transfers)
  if (vaults === null) {
    return null
  }
  const a = vaultFlowOf(transaction, vaults[0], hop, transfers)
  const tokens = vaultFlowOf(transaction, vaults[1], hop, transfers)
  const inLamports = hop.native !== undefined && tokens.taken === 0n && tokens.paid === 0n && report !== null
  const b = inLamports ? nativeFlow(a, report) : tokens
  const paysA = a.paid > a.taken
  const [input, output] = paysA ? [b, a] : [a, b]
  if (input.taken <= input.paid || output.paid <= output.taken || input.mint === null || output.mint === null) {
    return null
  }
  const decides = call.program.reportDecides === true
  const confirmed =
    report === null
      ? null
      : agrees(
          report,
          input.taken + (call.program.reportsSent === true ? input.feeIn : 0n),
          output.paid,
          decides ? paysA : null
        )
  return {
    dex: report?.dex ?? call.program.dex,
    pool: hop.pool,
    at: call.at,
    paidFrom: input.from === null ? null : { account: input.from.source, authority: input.from.authority },
    inputMint: input.mint,
    outputMint: output.mint,
    amountIn: report !== null && decides ? report.amountIn : input.taken,
    amountOut: report !== null && decides ? report.amountOut : output.paid,
    feeIn: input.feeIn,
    feeOut: output.feeOut,
    vaults,
    native:
      inLamports && hop.native !== undefined
        ? {
            trader: hop.native.trader,
            // An event with other amounts does not say what these cost.
            lamports:
              confirmed === true
                ? traderLamports(
                    transaction,
                    hop.native.feeRecipient,
                    report,
                    paysA,
                    alone,
                    lamportsSent(transaction, call, hop.native.trader)
                  )
                : null
          }
        : null,
    confirmed
  }
}

/**
 * True when transfers and event agree. When the program's event decides, only the base side is compared, because fees
 * move with the quote.
 */
const agrees = (report: CallReport, taken: bigint, paid: bigint, paysBase: boolean | null): boolean =>
  (paysBase === true || report.amountIn === taken) && (paysBase === false || report.amountOut === paid)

/**
 * The event of one hop. With several hops there is one event each. With a single hop the last event counts, which has
 * the newest layout.
 */
const reportOf = (reports: ReadonlyArray<CallReport>, hops: number, hop: number): CallReport | null =>
  hops === 1 ? (reports.at(-1) ?? null) : reports.length === hops ? (reports[hop] ?? null) : null

/** The parts of a swap, each at its own price, as their events report them. */
const partsOf = (swap: PoolSwap, report: CallReport | null): ReadonlyArray<PoolSwap> =>
  report?.parts?.flatMap((part) =>
    part.amountIn === 0n || part.amountOut === 0n
      ? []
      : [
          {
            ...swap,
            amountIn: part.amountIn,
            amountOut: part.amountOut,
            native:
              swap.native === null
                ? null
                : { ...swap.native, lamports: swap.native.lamports === null ? null : part.traderLamports }
          }
        ]
  ) ?? [swap]

/**
 * Hands a program's log events out to its calls, provided there are as many events as hops. Each call takes its turn, but
 * the log is only read for a call that needs it.
 */
const makeDealer = (transaction: Transaction, calls: ReadonlyArray<SwapCall>) => {
  const needed = calls.some(({ program }) => program.logged !== undefined)
  const dealt = new Map<Address, number>()
  let logged: ReadonlyMap<Address, ReadonlyArray<CallReport>> | null = null
  const reportsOf = (program: Address) => {
    const log = logged === null && needed ? transaction.log : null
    logged ??= log === null ? new Map() : loggedReports(log)
    return logged.get(program) ?? []
  }
  return ({ program, hops }: SwapCall, sent: ReadonlyArray<CallReport>): ReadonlyArray<CallReport> => {
    const from = dealt.get(program.programId) ?? 0
    dealt.set(program.programId, from + hops.length)
    if (sent.length > 0) {
      return sent
    }
    const reports = reportsOf(program.programId)
    const expected = calls.reduce((sum, call) => sum + (call.program === program ? call.hops.length : 0), 0)
    return reports.length === expected ? reports.slice(from, from + hops.length) : []
  }
}

/** Lamports that the trader sent inside the call. Payments for new accounts do not count. */
const lamportsSent = ({ instructions }: Transaction, { at, end }: SwapCall, trader: Address): bigint => {
  let sent = 0n
  for (let i = at + 1; i < end; i++) {
    for (const transfer of instructions[i]?.transfers ?? []) {
      sent += transfer.kind === "lamports" && !transfer.created && transfer.source === trader ? transfer.amount : 0n
    }
  }
  return sent
}

/** The outcome for a swap instruction whose amounts could not be determined. */
const outcomeOf = (hop: Hop, transfers: ReadonlyArray<TokenPayment>): "one_sided" | "unmoved" =>
  hop.vaults !== null &&
  transfers.some(({ destination, source }) => hop.vaults?.includes(source) || hop.vaults?.includes(destination))
    ? "one_sided"
    : "unmoved"

/** Checks a swap against its event. Without an event, against the balances of its vaults. */
const checkOf = (
  transaction: Transaction,
  calls: ReadonlyArray<SwapCall>,
  { confirmed, vaults }: PoolSwap
): SwapCheck["outcome"] => {
  const agreed = confirmed ?? isInBalances(transaction, calls, vaults)
  return agreed === null ? "no_evidence" : agreed ? "confirmed" : "contradicted"
}

/** Finds every pool swap, in the order in which the swaps ran. */
export const poolSwapsOf = (transaction: Transaction): PoolSwaps => {
  const calls = swapCallsOf(transaction)
  const deal = makeDealer(transaction, calls)
  const alone = calls.length === 1
  const swaps: Array<PoolSwap> = []
  const checks: Array<SwapCheck> = []
  let unresolved = 0
  for (const call of calls) {
    const transfers = transfersIn(transaction, call)
    const reports = deal(call, reportsIn(transaction, call))
    // A price update, which begins like a swap.
    if (call.program.quotable === false && transfers.length === 0) {
      continue
    }
    const before = swaps.length
    const leaveOut = (hop: Hop | undefined) => {
      unresolved += 1
      const outcome = hop === undefined ? ("unmoved" as const) : outcomeOf(hop, transfers)
      checks.push({ dex: call.program.dex, outcome, tag: null })
    }
    for (const [i, hop] of call.hops.entries()) {
      const report = reportOf(reports, call.hops.length, i)
      const swap = swapOf(transaction, call, hop, transfers, report, alone)
      if (swap !== null) {
        swaps.push(...partsOf(swap, report))
        checks.push({ dex: swap.dex, outcome: checkOf(transaction, calls, swap), tag: null })
      } else if (hop.perhaps !== true) {
        leaveOut(hop)
      }
    }
    if (swaps.length === before && call.hops[0]?.perhaps === true) {
      leaveOut(call.hops[0])
    }
  }
  return { swaps, unresolved, checks: [...checks, ...unknownSwaps(transaction, calls)] }
}
