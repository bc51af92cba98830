/** Finds the swap instructions of a transaction, and what ran inside each of them. */
import { dataOf, type Instruction } from "./instructions.ts"
import type { TokenPayment } from "./tokenTransfers.ts"
import { eventInCall } from "../../programs/layout/anchorEvents.ts"
import type { Hop, SwapDecoder, SwapReport } from "../../programs/interface/SwapDecoder.ts"
import { swapDecoderOf } from "../../programs/registry.ts"
import type { Transaction } from "./transaction.ts"

/** A swap instruction and everything that ran inside it: from `at` up to, but not including, `end`. */
export interface SwapCall {
  readonly program: SwapDecoder
  readonly hops: ReadonlyArray<Hop>
  readonly at: number
  readonly end: number
}

/** What the events of one hop report, with the venue of their program. */
export interface CallReport extends SwapReport {
  readonly dex: string
  /** The parts of a swap that several events report. The report itself is their sum. Absent for a single event. */
  readonly parts?: ReadonlyArray<SwapReport>
}

const sumOf = (a: SwapReport, b: SwapReport): SwapReport => ({
  amountIn: a.amountIn + b.amountIn,
  amountOut: a.amountOut + b.amountOut,
  traderLamports: a.traderLamports === null || b.traderLamports === null ? null : a.traderLamports + b.traderLamports
})

/** Adds a report to the list. A report that continues a swap is joined with the report before it. */
export const addReport = (reports: Array<CallReport>, report: CallReport): void => {
  const before = report.continues === true ? reports.pop() : undefined
  if (before !== undefined) {
    reports.push({ ...sumOf(before, report), dex: before.dex, parts: [...(before.parts ?? [before]), report] })
  } else if (report.continues !== true) {
    reports.push(report)
  }
}

/** An event names only the event authority. No swap has a single account. */
export const isSelfCall = ({ accounts }: Instruction): boolean => accounts.length === 1

/** Where the calls inside an instruction end. Without heights, every call up to the next swap counts. */
export const endOf = (instructions: ReadonlyArray<Instruction>, at: number, nextSwap: number | undefined): number => {
  const outer = instructions[at]?.outer
  const depth = instructions[at]?.height ?? null
  for (let end = at + 1; end < instructions.length; end++) {
    const height = instructions[end]?.height ?? null
    const over = height === null || depth === null ? end === nextSwap : height <= depth
    if (over || instructions[end]?.outer !== outer) {
      return end
    }
  }
  return instructions.length
}

/** Every swap instruction, in the order in which they ran. */
export const swapCallsOf = ({ instructions }: Transaction): ReadonlyArray<SwapCall> => {
  const starts: Array<Omit<SwapCall, "end">> = []
  for (const [at, instruction] of instructions.entries()) {
    const program = isSelfCall(instruction) ? undefined : swapDecoderOf.get(instruction.program)
    const data = program === undefined ? null : dataOf(instruction)
    const hops = program === undefined || data === null ? [] : program.hops(data, instruction.accounts)
    if (program !== undefined && hops.length > 0) {
      starts.push({ program, hops, at })
    }
  }
  return starts.map((start, i) => ({ ...start, end: endOf(instructions, start.at, starts[i + 1]?.at) }))
}

/** The token transfers inside a call, in order. Tokens that a pool burned went to their mint. */
export const transfersIn = (
  { instructions }: Transaction,
  { at, end, hops }: SwapCall
): ReadonlyArray<TokenPayment> => {
  const transfers: Array<TokenPayment> = []
  for (let i = at + 1; i < end; i++) {
    for (const transfer of instructions[i]?.transfers ?? []) {
      if (transfer.kind === "transfer") {
        transfers.push(transfer)
      } else if (transfer.kind === "burn" && hops.some(({ vaults }) => vaults?.includes(transfer.account))) {
        const { account: source, mint: destination, mint, amount } = transfer
        transfers.push({ kind: "transfer", source, destination, authority: null, mint, amount })
      }
    }
  }
  return transfers
}

/** The report of a swap event that a program sent to itself; null for other instructions. */
export const selfReport = (instruction: Instruction): CallReport | null => {
  const program = swapDecoderOf.get(instruction.program)
  if (program?.selfCall === undefined || !isSelfCall(instruction)) {
    return null
  }
  const data = dataOf(instruction)
  const event = data === null ? null : eventInCall(data)
  const report = event === null ? null : program.selfCall(event.tag, event.body)
  return report === null ? null : { ...report, dex: program.dex }
}

/** The reports of the events inside a call, in order. */
export const reportsIn = ({ instructions }: Transaction, { at, end }: SwapCall): ReadonlyArray<CallReport> => {
  const reports: Array<CallReport> = []
  for (const instruction of instructions.slice(at + 1, end)) {
    const report = selfReport(instruction)
    if (report !== null) {
      addReport(reports, report)
    }
  }
  return reports
}
