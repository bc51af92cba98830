/** Transactions written by hand, in a node's JSON in both encodings. */
import bs58 from "bs58"
import { Result } from "effect"
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../../src/programs/layout/tokenAccount.ts"
import { Address, addressFromBytes, type Mint, SOL } from "../../../src/domain/Address.ts"
import { readTransaction, type Transaction } from "../../../src/chain/decoding/transaction.ts"

/** An address that is always the same for the same name. */
export const named = (name: string): Address => addressFromBytes(Buffer.from(name.padEnd(32, ".").slice(0, 32)))

export const SYSTEM_PROGRAM = Address.make("11111111111111111111111111111111")

/** An instruction with the calls inside it. */
export interface Call {
  readonly program: Address
  readonly accounts: ReadonlyArray<Address>
  readonly data: Uint8Array
  readonly calls?: ReadonlyArray<Call>
}

/** A token account's balances. */
export interface Holding {
  readonly address: Address
  readonly mint: Mint
  readonly owner: Address
  readonly decimals: number
  readonly before: bigint
  readonly after: bigint
  readonly program?: Address
}

export interface Plan {
  readonly signers: ReadonlyArray<Address>
  readonly calls: ReadonlyArray<Call>
  readonly holdings?: ReadonlyArray<Holding>
  /** Lamports by account, before and after. Every other account has and keeps a million. */
  readonly lamports?: ReadonlyMap<Address, readonly [number, number]>
  readonly fee?: number
  readonly error?: unknown
  readonly logs?: ReadonlyArray<string> | null
  /** True when the node states the depth of inner instructions. */
  readonly heights?: boolean
  /** How many accounts, counted from the end, come from lookup tables. */
  readonly loaded?: number
}

export const SIGNATURE = bs58.encode(new Uint8Array(64).fill(7))

/** The value's lowest bytes, little-endian. */
export const little = (value: bigint, bytes: number): Uint8Array =>
  Uint8Array.from({ length: bytes }, (_, i) => Number((value >> BigInt(8 * i)) & 255n))

export const bytesOf = (...parts: ReadonlyArray<Uint8Array | string>): Uint8Array =>
  Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part, "hex") : part)))

/** A plain token transfer, which does not name its mint. */
export const transfer = (source: Address, destination: Address, authority: Address, amount: bigint): Call => ({
  program: TOKEN_PROGRAM,
  accounts: [source, destination, authority],
  data: bytesOf("03", little(amount, 8))
})

/** A transfer that names its mint, by the token program with extensions. */
export const transferChecked = (
  source: Address,
  destination: Address,
  authority: Address,
  mint: Mint,
  amount: bigint
): Call => ({
  program: TOKEN_2022_PROGRAM,
  accounts: [source, mint, destination, authority],
  data: bytesOf("0c", little(amount, 8), "06")
})

export const sendLamports = (from: Address, to: Address, amount: bigint): Call => ({
  program: SYSTEM_PROGRAM,
  accounts: [from, to],
  data: bytesOf("02000000", little(amount, 8))
})

/** An event that a program sends to itself. */
export const event = (program: Address, tag: string, body: Uint8Array): Call => ({
  program,
  accounts: [named("event authority")],
  data: bytesOf("e445a52e51cb9a1d", tag, body)
})

interface FlatCall {
  readonly call: Call
  readonly height: number
}

const insideOf = (call: Call, height: number): ReadonlyArray<FlatCall> =>
  (call.calls ?? []).flatMap((inner) => [{ call: inner, height }, ...insideOf(inner, height + 1)])

const accountsOf = (plan: Plan): ReadonlyArray<Address> => {
  const called = plan.calls.flatMap((call) => [{ call, height: 1 }, ...insideOf(call, 2)])
  return Array.from(
    new Set([
      ...plan.signers,
      ...(plan.holdings ?? []).map(({ address }) => address),
      ...(plan.lamports?.keys() ?? []),
      ...called.flatMap(({ call }) => [...call.accounts, call.program])
    ])
  )
}

const balances = (plan: Plan, keys: ReadonlyArray<Address>, when: "before" | "after") =>
  (plan.holdings ?? []).map((holding) => ({
    accountIndex: keys.indexOf(holding.address),
    mint: holding.mint,
    owner: holding.owner,
    programId: holding.program ?? TOKEN_PROGRAM,
    uiTokenAmount: { amount: String(holding[when]), decimals: holding.decimals, uiAmount: null, uiAmountString: "" }
  }))

const lamportsOf = (plan: Plan, keys: ReadonlyArray<Address>, which: 0 | 1) =>
  keys.map((key) => plan.lamports?.get(key)?.[which] ?? 1_000_000)

const metaOf = (plan: Plan, keys: ReadonlyArray<Address>, write: (flat: FlatCall) => object) => ({
  err: plan.error ?? null,
  fee: plan.fee ?? 5000,
  preBalances: lamportsOf(plan, keys, 0),
  postBalances: lamportsOf(plan, keys, 1),
  preTokenBalances: balances(plan, keys, "before"),
  postTokenBalances: balances(plan, keys, "after"),
  innerInstructions: plan.calls.flatMap((call, index) => {
    const instructions = insideOf(call, 2).map(write)
    return instructions.length === 0 ? [] : [{ index, instructions }]
  }),
  logMessages: plan.logs === undefined ? [] : plan.logs
})

const answer = <Message, Meta>(plan: Plan, message: Message, meta: Meta) => ({
  slot: 400_000_000,
  blockTime: 1_790_000_000,
  transactionIndex: 17,
  version: 0,
  transaction: { signatures: plan.signers.map(() => SIGNATURE), message },
  meta
})

/** The plan as `getTransaction` answers in encoding `json`. */
export const encoded = (plan: Plan) => {
  const keys = accountsOf(plan)
  const fixed = keys.length - (plan.loaded ?? 0)
  const write = ({ call, height }: FlatCall) => ({
    programIdIndex: keys.indexOf(call.program),
    accounts: call.accounts.map((account) => keys.indexOf(account)),
    data: bs58.encode(call.data),
    stackHeight: plan.heights === false ? null : height
  })
  const message = {
    accountKeys: keys.slice(0, fixed),
    header: { numRequiredSignatures: plan.signers.length },
    instructions: plan.calls.map((call) => write({ call, height: 1 }))
  }
  const loadedAddresses = { writable: keys.slice(fixed, fixed + 1), readonly: keys.slice(fixed + 1) }
  return answer(plan, message, { ...metaOf(plan, keys, write), loadedAddresses })
}

const amountAt = (data: Uint8Array, at: number) => String(Buffer.from(data).readBigUInt64LE(at))

/** The node's parsed form of an instruction; null for programs that it does not know. */
const parse = ({ program, accounts, data }: Call): object | null => {
  const [a, b, c, d] = accounts
  if (program === TOKEN_PROGRAM) {
    const info = { source: a, destination: b, authority: c, amount: amountAt(data, 1) }
    return { program: "spl-token", programId: program, parsed: { type: "transfer", info } }
  }
  if (program === TOKEN_2022_PROGRAM) {
    const tokenAmount = { amount: amountAt(data, 1), decimals: 6 }
    const info = { source: a, mint: b, destination: c, authority: d, tokenAmount }
    return { program: "spl-token", programId: program, parsed: { type: "transferChecked", info } }
  }
  if (program === SYSTEM_PROGRAM) {
    const info = { source: a, destination: b, lamports: Number(amountAt(data, 4)) }
    return { program: "system", programId: program, parsed: { type: "transfer", info } }
  }
  return null
}

/** The plan as `getTransaction` answers in encoding `jsonParsed`. */
export const parsed = (plan: Plan) => {
  const keys = accountsOf(plan)
  const write = ({ call, height }: FlatCall) => ({
    ...(parse(call) ?? { programId: call.program, accounts: call.accounts, data: bs58.encode(call.data) }),
    stackHeight: plan.heights === false ? null : height
  })
  const message = {
    accountKeys: keys.map((pubkey, i) => ({ pubkey, signer: i < plan.signers.length, writable: true })),
    instructions: plan.calls.map((call) => write({ call, height: 1 }))
  }
  return answer(plan, message, metaOf(plan, keys, write))
}

/** The plan as the decoder reads it. */
export const transactionOf = (plan: Plan): Transaction => Result.getOrThrow(readTransaction(encoded(plan)))

export const TRADER = named("trader")
export const POOL = named("pool")
export const TOKEN = named("token mint")

/** The token accounts of a swap of SOL for the token. By default 1000 of SOL go in and 50 of the token come out. */
export const swapHoldings = (amountIn = 1000n, amountOut = 50n): ReadonlyArray<Holding> => [
  { address: named("trader sol"), mint: SOL, owner: TRADER, decimals: 9, before: 5000n, after: 5000n - amountIn },
  { address: named("trader token"), mint: TOKEN, owner: TRADER, decimals: 6, before: 100n, after: 100n + amountOut },
  { address: named("vault sol"), mint: SOL, owner: POOL, decimals: 9, before: 7000n, after: 7000n + amountIn },
  { address: named("vault token"), mint: TOKEN, owner: POOL, decimals: 6, before: 900n, after: 900n - amountOut }
]

/** The transfers inside such a swap. */
export const swapTransfers = (amountIn = 1000n, amountOut = 50n): ReadonlyArray<Call> => [
  transfer(named("trader sol"), named("vault sol"), TRADER, amountIn),
  transfer(named("vault token"), named("trader token"), POOL, amountOut)
]

/** Filler accounts, with the given accounts at their places. */
export const accountsAt = (count: number, places: Readonly<Record<number, Address>>): ReadonlyArray<Address> =>
  Array.from({ length: count }, (_, i) => places[i] ?? named(`account ${i}`))
