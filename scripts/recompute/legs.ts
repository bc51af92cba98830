/** Pool swaps of a raw transaction, from the transfers into and out of the vaults of each swap instruction. */
import bs58 from "bs58"
import type { RawInstruction, RawTransaction } from "./chain.ts"
import { discriminator, programs, PUMP, type SwapAccounts } from "./programs.ts"

const TOKEN_PROGRAMS = new Set([
  "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
  "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb"
])
const TRANSFER = 3
const TRANSFER_CHECKED = 12
const TRANSFER_FEE_EXTENSION = 26
const WITH_FEE = 1

/** Wrapped SOL, which stands for lamports too. */
export const SOL = "So11111111111111111111111111111111111111112"

/** The amounts that one pool received and paid, in atomic units. */
export interface RawLeg {
  readonly pool: string
  readonly input: { readonly mint: string; readonly amount: bigint }
  readonly output: { readonly mint: string; readonly amount: bigint }
  /** The owner of the swap, as far as a single signer or the program's event names it. */
  readonly wallet: string
  /** The top-level instruction. */
  readonly outer: number
}

/** A transfer between token accounts, before fees. */
export interface RawTransfer {
  readonly source: string
  readonly destination: string
  readonly authority: string
  readonly amount: bigint
  readonly fee: bigint
}

/** An instruction, and those that it called. */
interface Invocation {
  readonly outer: number
  readonly instruction: RawInstruction
  readonly inner: ReadonlyArray<RawInstruction>
}

/** The keys of a transaction, in the order of its account indexes. */
export const keysOf = ({ meta, transaction }: RawTransaction): ReadonlyArray<string> => [
  ...transaction.message.accountKeys,
  ...(meta.loadedAddresses?.writable ?? []),
  ...(meta.loadedAddresses?.readonly ?? [])
]

const heightOf = ({ stackHeight }: RawInstruction): number => stackHeight ?? 2

const invocationsOf = ({ meta, transaction }: RawTransaction): ReadonlyArray<Invocation> =>
  transaction.message.instructions.flatMap((instruction, index) => {
    const inner = meta.innerInstructions?.find((group) => group.index === index)?.instructions ?? []
    const called = inner.map((each, at) => {
      const rest = inner.slice(at + 1)
      const end = rest.findIndex((next) => heightOf(next) <= heightOf(each))
      return { outer: index, instruction: each, inner: end === -1 ? rest : rest.slice(0, end) }
    })
    return [{ outer: index, instruction, inner }, ...called]
  })

const u64 = (data: Uint8Array, at: number): bigint =>
  at + 8 <= data.length ? new DataView(data.buffer, data.byteOffset).getBigUint64(at, true) : 0n

const transferOf = (
  { accounts, data, programIdIndex }: RawInstruction,
  keys: ReadonlyArray<string>
): RawTransfer | null => {
  const program = keys[programIdIndex]
  if (program === undefined || !TOKEN_PROGRAMS.has(program)) {
    return null
  }
  const bytes = bs58.decode(data)
  const key = (at: number) => keys[accounts[at] ?? -1] ?? ""
  switch (bytes[0]) {
    case TRANSFER:
      return { source: key(0), destination: key(1), authority: key(2), amount: u64(bytes, 1), fee: 0n }
    case TRANSFER_CHECKED:
      return { source: key(0), destination: key(2), authority: key(3), amount: u64(bytes, 1), fee: 0n }
    case TRANSFER_FEE_EXTENSION:
      return bytes[1] === WITH_FEE
        ? { source: key(0), destination: key(2), authority: key(3), amount: u64(bytes, 2), fee: u64(bytes, 11) }
        : null
    default:
      return null
  }
}

const mintsOf = ({ meta }: RawTransaction, keys: ReadonlyArray<string>): ReadonlyMap<string, string> =>
  new Map(
    [...meta.preTokenBalances, ...meta.postTokenBalances].map(({ accountIndex, mint }) => [
      keys[accountIndex] ?? "",
      mint
    ])
  )

/** The growth of a token account over the whole transaction. */
const growthOf = ({ meta }: RawTransaction, index: number): bigint => {
  const amount = (balances: RawTransaction["meta"]["preTokenBalances"]) =>
    BigInt(balances.find(({ accountIndex }) => accountIndex === index)?.uiTokenAmount.amount ?? "0")
  return amount(meta.postTokenBalances) - amount(meta.preTokenBalances)
}

/** The leg of a hop; null when its vaults did not exchange one mint for another. */
const legOf = (
  transaction: RawTransaction,
  keys: ReadonlyArray<string>,
  { inner, instruction, outer }: Invocation,
  { pool, referral, vaults }: SwapAccounts,
  isOnly: (vault: string) => boolean
): RawLeg | null => {
  const transfers = inner.flatMap((each) => transferOf(each, keys) ?? [])
  const mints = mintsOf(transaction, keys)
  const sides = vaults.map((position) => {
    const index = instruction.accounts[position] ?? -1
    const vault = keys[index] ?? ""
    const taken = transfers.filter(({ destination }) => destination === vault)
    const payments = transfers.filter(({ source }) => source === vault)
    const paid = payments.slice(0, referral ? 1 : undefined).reduce((sum, { amount }) => sum + amount, 0n)
    const sent = taken.reduce((sum, { amount, fee }) => sum + amount - fee, 0n)
    // A transfer without a stated fee may still have been charged one: the growth of the balance is what arrived, where nothing else moved.
    const got = taken.length > 0 && payments.length === 0 && isOnly(vault) ? growthOf(transaction, index) : sent
    return { mint: mints.get(vault) ?? "", taken: got, paid }
  })
  const input = sides.find(({ paid, taken }) => taken > paid)
  const output = sides.find(({ paid, taken }) => paid > taken)
  return input === undefined || output === undefined
    ? null
    : {
        pool: keys[instruction.accounts[pool] ?? -1] ?? "",
        input: { mint: input.mint, amount: input.taken },
        output: { mint: output.mint, amount: output.paid },
        wallet: keys[0] ?? "",
        outer
      }
}

const PUMP_TRADE = discriminator("event", "TradeEvent")
const EVENT_CPI = "e445a52e51cb9a1d"
const [MINT, LAMPORTS, UNITS, IS_BUY, USER] = [8, 40, 48, 56, 57]

/** The swap of the Pump.fun curve from its event. */
const pumpLeg = (data: Uint8Array, pool: string, outer: number): RawLeg | null => {
  const text = Buffer.from(data).toString("hex")
  const event = text.startsWith(EVENT_CPI) ? data.subarray(8) : data
  if (!Buffer.from(event).toString("hex").startsWith(PUMP_TRADE)) {
    return null
  }
  const lamports = { mint: SOL, amount: u64(event, LAMPORTS) }
  const tokens = { mint: bs58.encode(event.subarray(MINT, MINT + 32)), amount: u64(event, UNITS) }
  const wallet = bs58.encode(event.subarray(USER, USER + 32))
  return event[IS_BUY] === 1
    ? { pool, input: lamports, output: tokens, wallet, outer }
    : { pool, input: tokens, output: lamports, wallet, outer }
}

const CURVE = 3

/** Every transfer of a top-level instruction, its own and those inside of it. */
export const transfersIn = (transaction: RawTransaction, outer: number): ReadonlyArray<RawTransfer> => {
  const keys = keysOf(transaction)
  return invocationsOf(transaction)
    .filter((each) => each.outer === outer)
    .flatMap(({ instruction }) => transferOf(instruction, keys) ?? [])
}

/** Every pool swap of a successful transaction, in the order in which they ran. */
export const legsOf = (transaction: RawTransaction): ReadonlyArray<RawLeg> => {
  if (transaction.meta.err !== null) {
    return []
  }
  const keys = keysOf(transaction)
  const invocations = invocationsOf(transaction)
  const touched = invocations.flatMap(({ instruction }) => {
    const transfer = transferOf(instruction, keys)
    return transfer === null ? [] : [transfer.source, transfer.destination]
  })
  const isOnly = (vault: string) => touched.filter((account) => account === vault).length === 1
  return invocations.flatMap((invocation) => {
    const { accounts, data, programIdIndex } = invocation.instruction
    const program = keys[programIdIndex] ?? ""
    if (program === PUMP) {
      return invocation.inner.flatMap((inner) =>
        keys[inner.programIdIndex] === PUMP
          ? (pumpLeg(bs58.decode(inner.data), keys[accounts[CURVE] ?? -1] ?? "", invocation.outer) ?? [])
          : []
      )
    }
    const hops = programs.get(program)?.(bs58.decode(data), accounts.length) ?? []
    return hops.flatMap((hop) => legOf(transaction, keys, invocation, hop, isOnly) ?? [])
  })
}
