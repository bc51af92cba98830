/** Turns actions of wallets into transactions: budget, accounts opened and closed, instructions, fee and receipt. */
import { type Address, type Mint, SOL } from "../../domain/Address.ts"
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import { type Call, unitsOf } from "../../programs/transactions/Call.ts"
import type { Deed, RecordedSwap } from "./Ledger.ts"
import { compileMessage, isWritable, type LookupTables } from "../../programs/transactions/message.ts"
import type { Receipt, TokenBalance, TransactionError } from "./Receipt.ts"
import { isRouted } from "../../programs/jupiter/route.ts"
import { routeCall } from "./route.ts"
import {
  closeAccount,
  computeBudget,
  openAssociated,
  sendLamports,
  transferChecked,
  transferWithFee,
  wrapAssociated,
  wrapSeeded
} from "./standardCalls.ts"
import { balanceOf, holdsTokens, mintOf, ownerOf, transferFeeOf, withheldOf } from "./tokens.ts"
import { type Carried, paymentCall, failingSwap, type Wrapper } from "./trade.ts"
import { decimalsOf, type Happening, isTokenAccount, WRAPPER_SEED, type World } from "./World.ts"

/** Who takes part: the signer, who pays, and the validator, who earns the fee. */
export interface Parties {
  readonly wallet: Address
  readonly validator: Address
  /** The account of the front end that the wallet trades through. It takes a share of the SOL in each trade. */
  readonly frontEnd?: Address | undefined
}

/** The front end takes one part in this many. */
const FRONT_END_PART = 100n

export const LAMPORTS_PER_SIGNATURE = 5_000n
const MICRO = 1_000_000n
const NO_BUDGET_UNITS = 200_000

/** A transaction before it is executed. */
interface Order {
  readonly payer: Address
  readonly calls: ReadonlyArray<Call>
  readonly version: 0 | "legacy"
  readonly tables: LookupTables | null
  readonly error: TransactionError | null
  readonly unitLimit: number
}

/** Lamports shown for an account that is only read and does not exist on the simulated chain, such as a program. */
const PROGRAM_LAMPORTS = 1n

const tokenBalances = (
  world: World,
  keys: ReadonlyArray<Address>,
  read: (address: Address) => OnChainAccount | undefined
): ReadonlyArray<TokenBalance> =>
  keys.flatMap((address, index) => {
    const account = read(address)
    if (account === undefined || !holdsTokens(account)) {
      return []
    }
    const mint = mintOf(account)
    return [
      {
        index,
        mint,
        owner: ownerOf(account),
        program: account.owner,
        amount: balanceOf(account),
        decimals: decimalsOf(world, mint)
      }
    ]
  })

/**
 * The receipt of everything that changed since the bank's journal was last taken, including the fee that `pay` moves.
 */
const writeReceipt = (world: World, order: Order, fee: bigint, pay: () => void): Receipt => {
  const { payer, calls, version, tables, error, unitLimit } = order
  const { bank } = world
  pay()
  const journal = bank.takeJournal()
  const message = compileMessage(payer, calls, { version, tables })
  const { keys } = message
  const before = (address: Address) => (journal.has(address) ? journal.get(address) : bank.get(address))
  const lamports = (read: (address: Address) => OnChainAccount | undefined) =>
    keys.map((address, index) => read(address)?.lamports ?? (isWritable(message, index) ? 0n : PROGRAM_LAMPORTS))
  return {
    message,
    blockhash: bank.newest().blockhash,
    calls,
    error,
    fee,
    unitLimit,
    lamports: { before: lamports(before), after: lamports(bank.get) },
    tokens: { before: tokenBalances(world, keys, before), after: tokenBalances(world, keys, bank.get) }
  }
}

type Paid = Extract<Happening, { readonly kind: "paid" }>

const isPaid = (happening: Happening): happening is Paid => happening.kind === "paid"

/** Lamports that a wallet must wrap for these payments; null when none is in wrapped SOL. */
const wrapNeed = (world: World, wallet: Address, trace: ReadonlyArray<Happening>): bigint | null => {
  let [held, least] = [0n, 0n]
  let used = false
  for (const { from, to, mint, amount } of trace.filter(isPaid)) {
    const other = from === wallet ? to : to === wallet ? from : null
    if (mint === SOL && other !== null && isTokenAccount(world.bank.must(other))) {
      used = true
      held += to === wallet ? amount : -amount
      least = held < least ? held : least
    }
  }
  return used ? -least : null
}

const openings = (world: World, trace: ReadonlyArray<Happening>): ReadonlyArray<Call> =>
  trace.flatMap((happening) => {
    if (happening.kind !== "purse") {
      return []
    }
    const { account, wallet, mint, payer } = happening
    const { owner, data } = world.bank.must(account)
    return [openAssociated(wallet, account, mint, owner, data.length, payer)]
  })

const wrapping = (world: World, wallet: Address, kind: Wrapper, need: bigint | null) => {
  if (need === null) {
    return { before: [], after: [] }
  }
  const account = world.wrapped(wallet, kind)
  return kind === "associated" ? wrapAssociated(wallet, account, need) : wrapSeeded(wallet, account, WRAPPER_SEED, need)
}

/**
 * The form of the next transaction. Forms take turns: some are legacy, some use lookup tables, some pay a priority
 * fee.
 */
const formOf = (
  world: World,
  routed: boolean
): Pick<Order, "version" | "tables"> & { readonly microLamports: bigint } => {
  const turn = world.nextTurn()
  const version = !routed && turn % 5 === 0 ? "legacy" : 0
  const looksUp = version === 0 && (routed || turn % 7 === 0)
  return { version, tables: looksUp ? world.tables : null, microLamports: BigInt((turn % 4) * 12_500) }
}

/** The form of transactions that take no turn, so that the forms of all others do not depend on them. */
const PLAIN: ReturnType<typeof formOf> = { version: 0, tables: null, microLamports: 0n }

/** Pays the fee and records the deed. */
const deedOf = (
  world: World,
  { wallet, validator }: Parties,
  kind: Deed["kind"],
  calls: ReadonlyArray<Call>,
  options: {
    readonly swaps?: ReadonlyArray<RecordedSwap>
    readonly routed?: boolean
    readonly signers?: number
    readonly frontEndFee?: bigint
    /** Which of the calls fails, and the program's error code. */
    readonly failing?: { readonly call: Call; readonly code: number }
    /** The form of the transaction; by default the next one in turn. */
    readonly form?: ReturnType<typeof formOf>
  } = {}
): Deed => {
  const { swaps = [], routed = false, signers = 1, frontEndFee = 0n, failing } = options
  const { microLamports, ...form } = options.form ?? formOf(world, routed)
  const units = calls.reduce((sum, call) => sum + unitsOf(call), 0)
  const unitLimit = microLamports === 0n ? NO_BUDGET_UNITS * calls.length : Math.ceil(units / 8_000) * 10_000
  const all = microLamports === 0n ? calls : [...computeBudget(unitLimit, microLamports), ...calls]
  const fee = LAMPORTS_PER_SIGNATURE * BigInt(signers) + (BigInt(unitLimit) * microLamports + MICRO - 1n) / MICRO
  const error = failing === undefined ? null : { index: all.indexOf(failing.call), code: failing.code }
  const order = { ...form, payer: wallet, calls: all, error, unitLimit }
  const receipt = writeReceipt(world, order, fee, () => world.pay(wallet, validator, SOL, fee))
  world.takeTrace()
  return { kind, wallet, fee, frontEndFee, swaps, receipt }
}

const recorded = ({ program, pool, inputMint, outputMint, amountIn, amountOut }: Carried): RecordedSwap => ({
  program,
  pool,
  inputMint,
  outputMint,
  amountIn,
  amountOut
})

/** Pays the front end of a trade. Does nothing when there is none or the trade has no SOL side. */
const payFrontEnd = (world: World, { frontEnd, wallet }: Parties, first: Carried, last: Carried) => {
  const lamports = first.inputMint === SOL ? first.amountIn : last.outputMint === SOL ? last.amountOut : 0n
  const frontEndFee = frontEnd === undefined ? 0n : lamports / FRONT_END_PART
  if (frontEnd === undefined || frontEndFee === 0n) {
    return { frontEndFee: 0n, payments: [] }
  }
  world.pay(wallet, frontEnd, SOL, frontEndFee)
  return { frontEndFee, payments: [sendLamports(wallet, frontEnd, frontEndFee)] }
}

/** The transaction for executed swaps of one wallet, in order. */
export const tradeDeed = (
  world: World,
  parties: Parties,
  carried: readonly [Carried, ...ReadonlyArray<Carried>]
): Deed => {
  const { wallet } = parties
  const [first] = carried
  const last = carried.at(-1) ?? first
  const routed = first.wrapper === "associated" && carried.every(({ dex }) => isRouted(dex))
  const trace = carried.flatMap((swap) => swap.trace)
  const { before, after } = wrapping(world, wallet, first.wrapper, wrapNeed(world, wallet, trace))
  const account = (mint: Mint) =>
    mint === SOL ? world.wrapped(wallet, first.wrapper) : world.purseAddress(wallet, mint)
  const ends = { source: account(first.inputMint), destination: account(last.outputMint) }
  const swaps = routed ? [routeCall(world, wallet, carried, ends)] : carried.map(({ call }) => call)
  const { frontEndFee, payments } = payFrontEnd(world, parties, first, last)
  const calls = [...openings(world, trace), ...before, ...swaps, ...after, ...payments]
  return deedOf(world, parties, "trade", calls, { swaps: carried.map(recorded), routed, frontEndFee })
}

/**
 * The transaction for the payments since the trace was last taken. Afterwards it closes the token accounts that are
 * now empty.
 */
export const transferDeed = (world: World, parties: Parties, emptied: ReadonlyArray<Address> = []): Deed => {
  const trace = world.takeTrace()
  const transfers = trace.filter(isPaid).flatMap((payment) => {
    const call = paymentCall(world, payment, "seeded", (transfer) => {
      const fee = transferFeeOf(world.bank.must(transfer.mint))
      return fee === null ? transferChecked(transfer) : transferWithFee(transfer, withheldOf(fee, transfer.amount))
    })
    return call === null ? [] : [call]
  })
  const closings = emptied.map((account) => {
    world.close(account, parties.wallet)
    return closeAccount(account, parties.wallet)
  })
  const calls = [...openings(world, trace), ...transfers, ...closings]
  return deedOf(world, parties, "transfer", calls)
}

/**
 * The transaction in which a wallet opens another one with this much SOL, for a fee of `LAMPORTS_PER_SIGNATURE`. It takes
 * no turn.
 */
export const openingDeed = (world: World, parties: Parties, opened: Address, lamports: bigint): Deed => {
  world.takeTrace()
  world.pay(parties.wallet, opened, SOL, lamports)
  return deedOf(world, parties, "transfer", [sendLamports(parties.wallet, opened, lamports)], { form: PLAIN })
}

/**
 * The transaction for these instructions. `signers` includes a new mint. SOL is wrapped as the payments of the trace
 * need it.
 */
export const programDeed = (
  world: World,
  parties: Parties,
  kind: Exclude<Deed["kind"], "trade" | "transfer" | "failed">,
  calls: ReadonlyArray<Call>,
  { signers = 1, trace = [] }: { readonly signers?: number; readonly trace?: ReadonlyArray<Happening> } = {}
): Deed => {
  const { before, after } = wrapping(world, parties.wallet, "seeded", wrapNeed(world, parties.wallet, trace))
  return deedOf(world, parties, kind, [...openings(world, trace), ...before, ...calls, ...after], { signers })
}

/** Each venue's error code for exceeded slippage. */
const slippageCodes: ReadonlyMap<string, number> = new Map([
  ["raydium-amm-v4", 30],
  ["raydium-cpmm", 6_005],
  ["raydium-clmm", 6_022],
  ["orca-whirlpool", 6_036],
  ["meteora-dlmm", 6_003],
  ["meteora-damm-v2", 6_002],
  ["meteora-dbc", 6_002],
  ["pumpswap", 6_004],
  ["pump-fun-curve", 6_003]
])

/** A swap that is tried in vain. */
interface Attempt {
  readonly pool: Parameters<typeof failingSwap>[2]
  readonly mint: Mint
  readonly amountIn: bigint
  /** The error code; the venue's code for exceeded slippage when absent. */
  readonly code?: number
}

/**
 * Transactions of one wallet whose swap fails on chain, one after the other. They only pay their fees. None, with
 * nothing changed, when the wallet can afford no swap.
 */
export const failedDeeds = (
  world: World,
  parties: Parties,
  { amountIn, code, mint, pool }: Attempt,
  times: number
): ReadonlyArray<Deed> => {
  const { wallet } = parties
  const tried = failingSwap(world, wallet, pool, mint, amountIn)
  if (tried === null) {
    return []
  }
  const { before, after } = wrapping(world, wallet, "seeded", tried.wraps)
  const failing = { call: tried.call, code: code ?? slippageCodes.get(pool.dex) ?? 6_001 }
  return Array.from({ length: times }, () =>
    deedOf(world, parties, "failed", [...before, tried.call, ...after], { failing })
  )
}

/** One of `failedDeeds`; null when the wallet can afford no swap. */
export const failedDeed = (world: World, parties: Parties, attempt: Attempt): Deed | null =>
  failedDeeds(world, parties, attempt, 1)[0] ?? null
