/** Exchanges of one mint for another through any program, judged by what left and reached a wallet's accounts. */
import { type Address, type Mint, SOL } from "../../domain/Address.ts"
import { aggregatorOf, lendingPrograms } from "../../programs/aggregators.ts"
import { swapDecoderOf } from "../../programs/registry.ts"
import { tokenFlowOf } from "./tokenFlows.ts"
import { dataOf, type Instruction } from "./instructions.ts"
import type { TradingGroup } from "./walletSwaps.ts"
import { mintOf, type Transaction } from "./transaction.ts"
import { lamportFlowOf } from "./lamportFlows.ts"

/** Amounts that a wallet gave and got. */
export interface Exchange {
  readonly gave: readonly [Mint, bigint]
  readonly got: readonly [Mint, bigint]
}

/** Why a wallet's movements in a top-level instruction are not a trade. */
export type NoExchange =
  /** Nothing moved, or in one direction only: a transfer, an airdrop, a deposit. */
  | "one-sided"
  /** A mint went out and came back, apart from dust: an arbitrage, a flash loan. */
  | "loop"
  /** Several mints left or arrived, and no pool of the route says which of them count. */
  | "several-mints"
  /** Liquidity or a position: the program is an AMM, but the instruction is not a swap. */
  | "liquidity"
  /** Collateral, a loan or its repayment. */
  | "lending"
  /** Tokens were minted to the wallet or burned from it: a share, a receipt, a position. */
  | "minted-or-burned"
  /** One of the mints is a single token without decimals. */
  | "nft"

/** True for a mint without decimals when the accounts of the transaction hold at most one unit of it. */
export const isNft = ({ tokenAccounts }: Transaction, mint: Mint): boolean => {
  let [before, after] = [0n, 0n]
  for (const account of tokenAccounts.values()) {
    if (account.mint === mint) {
      if (account.decimals !== 0) {
        return false
      }
      before += account.before
      after += account.after
    }
  }
  return before <= 1n && after <= 1n && mint !== SOL
}

/** True for a call of an AMM that is not a swap: a deposit or a withdrawal. Events have a single account. */
const isLiquidity = (instruction: Instruction): boolean => {
  const decoder = swapDecoderOf.get(instruction.program)
  if (decoder === undefined || instruction.accounts.length < 2) {
    return false
  }
  const data = dataOf(instruction)
  return data !== null && decoder.hops(data, instruction.accounts).length === 0
}

/** The reason against a trade that the programs of a top-level instruction give; null when there is none. */
export const programReason = (
  { instructions, tokenAccounts }: Transaction,
  wallet: Address,
  outer: number
): NoExchange | null => {
  for (const instruction of instructions) {
    if (instruction.outer !== outer) {
      continue
    }
    if (lendingPrograms.has(instruction.program)) {
      return "lending"
    }
    if (isLiquidity(instruction)) {
      return "liquidity"
    }
    for (const transfer of instruction.transfers) {
      const isSupply = transfer.kind === "mint" || transfer.kind === "burn"
      if (isSupply && tokenAccounts.get(transfer.account)?.owner === wallet) {
        return "minted-or-burned"
      }
    }
  }
  return null
}

/** The program of a top-level instruction. */
export const programAt = ({ instructions }: Transaction, outer: number): Address | null =>
  instructions.find((instruction) => instruction.outer === outer && instruction.inner === null)?.program ?? null

/** A net amount below this part of what moved back and forth is dust: a hundredth. */
const DUST_PART = 100n

/** True when the net amount is dust compared with what the wallet sent and received of the mint. */
const isDust = (transaction: Transaction, group: TradingGroup, mint: Mint, net: bigint): boolean => {
  const { instructions, tokenAccounts } = transaction
  let [sent, received] = [0n, 0n]
  for (const { outer, transfers } of instructions) {
    for (const transfer of outer < group.fromOuter || outer > group.toOuter ? [] : transfers) {
      if (transfer.kind !== "transfer") {
        continue
      }
      const source = tokenAccounts.get(transfer.source)
      const destination = tokenAccounts.get(transfer.destination)
      if (mintOf(transaction, transfer) === mint && source?.owner !== destination?.owner) {
        sent += source?.owner === group.wallet ? transfer.amount : 0n
        received += destination?.owner === group.wallet ? transfer.amount : 0n
      }
    }
  }
  return net * DUST_PART < (sent < received ? sent : received)
}

/** The exchange according to the mints and lamports that moved. */
const byMovements = (transaction: Transaction, group: TradingGroup, isAggregator: boolean): Exchange | NoExchange => {
  const flow = tokenFlowOf(transaction, { ...group, lamports: false, supply: isAggregator })
  const amounts = Array.from(flow)
  const gave = amounts.filter(([, amount]) => amount < 0n)
  const got = amounts.filter(([, amount]) => amount > 0n)
  const [given] = gave
  const [gotten] = got
  if (gave.length > 1 || got.length > 1) {
    return "several-mints"
  }
  if (given !== undefined && gotten !== undefined) {
    return { gave: [given[0], -given[1]], got: gotten }
  }
  if (given === undefined && gotten === undefined) {
    return "one-sided"
  }
  const { paid, received } = lamportFlowOf(transaction, group, isAggregator)
  if (gotten !== undefined && gotten[0] !== SOL && paid > received) {
    return { gave: [SOL, paid - received], got: gotten }
  }
  return given !== undefined && given[0] !== SOL && received > paid
    ? { gave: [given[0], -given[1]], got: [SOL, received - paid] }
    : "one-sided"
}

/** The exchange that a wallet made in one top-level instruction, or the reason why it made none. */
export const exchangeOf = (transaction: Transaction, group: TradingGroup): Exchange | NoExchange => {
  const program = programAt(transaction, group.toOuter)
  const isAggregator = program !== null && aggregatorOf.has(program)
  const exchange = byMovements(transaction, group, isAggregator)
  if (typeof exchange === "string") {
    return exchange
  }
  if ([exchange.gave, exchange.got].some(([mint, amount]) => isDust(transaction, group, mint, amount))) {
    return "loop"
  }
  if (isAggregator) {
    return exchange
  }
  if (isNft(transaction, exchange.gave[0]) || isNft(transaction, exchange.got[0])) {
    return "nft"
  }
  return programReason(transaction, group.wallet, group.toOuter) ?? exchange
}
