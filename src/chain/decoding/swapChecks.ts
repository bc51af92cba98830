/**
 * Checks decoded swaps against the chain: against the program's own event, else against the balances of the vaults. A
 * program that was upgraded in a way the decoder does not know shows here first.
 */
import type { Address, Mint } from "../../domain/Address.ts"
import type { SwapDecoder } from "../../programs/interface/SwapDecoder.ts"
import { tagAt } from "../../programs/layout/anchor.ts"
import { swapDecoderOf } from "../../programs/registry.ts"
import { dataOf, type Instruction } from "./instructions.ts"
import { loggedReports } from "./programLogs.ts"
import { endOf, isSelfCall, selfReport, type SwapCall } from "./swapCalls.ts"
import type { TokenPayment } from "./tokenTransfers.ts"
import { mintOf, type Transaction } from "./transaction.ts"
import { transferFeeOf } from "./transferFees.ts"

/** The outcomes of a check. The first one is right; all others are not confirmed. */
export const outcomes = [
  /** The event, or the vaults' balances where there is no event, agree with the decoded amounts. */
  "confirmed",
  /** The event or the balances state other amounts. */
  "contradicted",
  /** There is no event, and the transaction does not list the balances of the vaults. */
  "no_evidence",
  /** Left out: the vaults exchanged nothing, for example because only one of them moved. */
  "one_sided",
  /** Left out: neither vault moved, or no vault was found. */
  "unmoved",
  /** A swap by an instruction that the decoder does not know. */
  "unknown"
] as const

export type Outcome = (typeof outcomes)[number]

/** The check of one swap. */
export interface SwapCheck {
  readonly dex: string
  readonly outcome: Outcome
  /** The first bytes of an unknown instruction as hex digits; null for other outcomes. */
  readonly tag: string | null
}

/** The checks of one program's swaps, counted by outcome. Outcomes that did not occur are absent. */
export interface ProgramChecks {
  readonly dex: string
  readonly counts: Readonly<Partial<Record<Outcome, number>>>
  /** Swaps by unknown instructions, by the first bytes of the instruction. Absent for none. */
  readonly tags?: Readonly<Record<string, number>>
}

/** What the transfers inside the swap calls brought into a vault, less what they took out of it. */
const movedInCalls = (transaction: Transaction, calls: ReadonlyArray<SwapCall>, vault: Address): bigint => {
  let moved = 0n
  for (const [at, { transfers }] of transaction.instructions.entries()) {
    if (transfers.length === 0 || !calls.some((call) => call.at < at && at < call.end)) {
      continue
    }
    for (const transfer of transfers) {
      if (transfer.kind === "transfer") {
        moved += transfer.destination === vault ? transfer.amount - transferFeeOf(transaction, transfer) : 0n
        moved -= transfer.source === vault ? transfer.amount : 0n
      } else if (transfer.kind === "burn" && transfer.account === vault) {
        moved -= transfer.amount
      }
    }
  }
  return moved
}

/**
 * True when the transaction changed the balances of both vaults by exactly what the swaps moved; null when it does not
 * list them.
 */
export const isInBalances = (
  transaction: Transaction,
  calls: ReadonlyArray<SwapCall>,
  vaults: readonly [Address, Address]
): boolean | null => {
  const listed = vaults.map((vault) => transaction.tokenAccounts.get(vault))
  return listed.every((account) => account !== undefined)
    ? listed.every(({ address, after, before }) => after - before === movedInCalls(transaction, calls, address))
    : null
}

/** A call of a program whose swaps are decoded, by an instruction that is no known swap. */
interface OtherCall {
  readonly program: SwapDecoder
  readonly instruction: Instruction
  readonly at: number
  readonly end: number
}

const otherCalls = ({ instructions }: Transaction, calls: ReadonlyArray<SwapCall>): ReadonlyArray<OtherCall> => {
  const found: Array<OtherCall> = []
  for (const [at, instruction] of instructions.entries()) {
    const program = isSelfCall(instruction) ? undefined : swapDecoderOf.get(instruction.program)
    const isInside = found.some((other) => other.program === program && at < other.end)
    if (program !== undefined && !isInside && !calls.some((call) => call.at === at)) {
      found.push({ program, instruction, at, end: endOf(instructions, at, undefined) })
    }
  }
  return found
}

/** The instructions inside a call that are in no known swap. */
const ownPart = (
  { instructions }: Transaction,
  { at, end }: OtherCall,
  calls: ReadonlyArray<SwapCall>
): ReadonlyArray<Instruction> =>
  instructions
    .slice(at + 1, end)
    .filter((_, i) => !calls.some((call) => call.at <= at + 1 + i && at + 1 + i < call.end))

/** True when an owner of token accounts gave one mint and got another: a wallet that swapped, or its pool. */
const isExchange = (transaction: Transaction, transfers: ReadonlyArray<TokenPayment>): boolean => {
  const flows = new Map<Address, Map<Mint, bigint>>()
  const add = (account: Address, mint: Mint, amount: bigint) => {
    const owner = transaction.tokenAccounts.get(account)?.owner
    if (owner !== undefined && owner !== null) {
      const own = flows.get(owner) ?? new Map<Mint, bigint>()
      flows.set(owner, own.set(mint, (own.get(mint) ?? 0n) + amount))
    }
  }
  for (const transfer of transfers) {
    const mint = mintOf(transaction, transfer)
    if (mint !== undefined) {
      add(transfer.source, mint, -transfer.amount)
      add(transfer.destination, mint, transfer.amount)
    }
  }
  return Array.from(flows.values()).some((own) => {
    const amounts = Array.from(own.values())
    return amounts.some((amount) => amount > 0n) && amounts.some((amount) => amount < 0n)
  })
}

const tagOf = ({ instruction, program }: OtherCall): string | null => {
  const data = dataOf(instruction)
  return data === null ? null : Buffer.from(data.subarray(0, program.tagBytes ?? 8)).toString("hex")
}

/** How many swaps an unknown call made. `isLogged` is true when the log has more swap events than known swaps. */
const swapsIn = (
  transaction: Transaction,
  other: OtherCall,
  calls: ReadonlyArray<SwapCall>,
  isLogged: (program: SwapDecoder) => boolean
): number => {
  const inside = ownPart(transaction, other, calls)
  const reports = inside.flatMap((each) => (each.program === other.program.programId ? (selfReport(each) ?? []) : []))
  // The second part of a swap is no swap of its own.
  const events = reports.filter(({ continues }) => continues !== true).length
  if (events > 0) {
    return events
  }
  if (isLogged(other.program)) {
    return 1
  }
  const data = dataOf(other.instruction)
  const isKnown = data !== null && other.program.exchanges?.includes(tagAt(data, 0)) === true
  const transfers = inside.flatMap((each) => each.transfers.filter((moved) => moved.kind === "transfer"))
  return !isKnown && isExchange(transaction, transfers) ? 1 : 0
}

/**
 * The swaps by instructions that no decoder knows. They show by a swap event outside of the known swaps, or by an owner
 * who gave one mint and got another.
 */
export const unknownSwaps = (transaction: Transaction, calls: ReadonlyArray<SwapCall>): ReadonlyArray<SwapCheck> => {
  const others = otherCalls(transaction, calls)
  if (others.length === 0) {
    return []
  }
  const { log } = transaction
  const logged = log === null ? null : loggedReports(log)
  const isLogged = (program: SwapDecoder): boolean => {
    const known = calls.reduce((sum, call) => sum + (call.program === program ? call.hops.length : 0), 0)
    return (logged?.get(program.programId)?.length ?? 0) > known
  }
  return others.flatMap((other) =>
    Array.from({ length: swapsIn(transaction, other, calls, isLogged) }, () => ({
      dex: other.program.dex,
      outcome: "unknown" as const,
      tag: tagOf(other)
    }))
  )
}

/** Counts the checks by program and outcome. */
export const sumChecks = (checks: ReadonlyArray<SwapCheck>): ReadonlyArray<ProgramChecks> => {
  const sums = new Map<string, { counts: Partial<Record<Outcome, number>>; tags: Record<string, number> }>()
  for (const { dex, outcome, tag } of checks) {
    const sum = sums.get(dex) ?? { counts: {}, tags: {} }
    sum.counts[outcome] = (sum.counts[outcome] ?? 0) + 1
    if (tag !== null) {
      sum.tags[tag] = (sum.tags[tag] ?? 0) + 1
    }
    sums.set(dex, sum)
  }
  return Array.from(sums, ([dex, { counts, tags }]) => ({
    dex,
    counts,
    ...(Object.keys(tags).length > 0 && { tags })
  }))
}
