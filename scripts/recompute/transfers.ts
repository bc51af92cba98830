/** Token transfers of a raw transaction, its instructions in the order in which they ran, and the owners of its accounts. */
import bs58 from "bs58"
import type { RawInstruction, RawTransaction } from "./chain.ts"

const TOKEN_PROGRAMS = new Set([
  "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
  "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb"
])
const [INITIALIZE, TRANSFER, MINT_TO, BURN, TRANSFER_CHECKED, MINT_TO_CHECKED, BURN_CHECKED] = [1, 3, 7, 8, 12, 14, 15]
const [INITIALIZE_2, INITIALIZE_3, TRANSFER_FEE_EXTENSION] = [16, 18, 26]
const WITH_FEE = 1

/** One transfer between two token accounts; `fee` as far as the instruction states it. */
export interface Transfer {
  readonly source: string
  readonly destination: string
  readonly authority: string
  readonly amount: bigint
  readonly fee: bigint
}

/** An instruction, and those that it called; `outer` is the top-level instruction that it belongs to. */
export interface Invocation {
  readonly outer: number
  readonly isTop: boolean
  readonly instruction: RawInstruction
  readonly inner: ReadonlyArray<RawInstruction>
}

/** The mint and the owner of a token account. */
export interface Holder {
  readonly mint: string
  readonly owner: string
}

/** The keys of a transaction, in the order of its account indexes. */
export const keysOf = ({ meta, transaction }: RawTransaction): ReadonlyArray<string> => [
  ...transaction.message.accountKeys,
  ...(meta.loadedAddresses?.writable ?? []),
  ...(meta.loadedAddresses?.readonly ?? [])
]

const heightOf = ({ stackHeight }: RawInstruction): number => stackHeight ?? 2

/** Every instruction in the order in which they ran. */
export const invocationsOf = ({ meta, transaction }: RawTransaction): ReadonlyArray<Invocation> =>
  transaction.message.instructions.flatMap((instruction, outer) => {
    const inner = meta.innerInstructions?.find((group) => group.index === outer)?.instructions ?? []
    const called = inner.map((each, at) => {
      const rest = inner.slice(at + 1)
      const end = rest.findIndex((next) => heightOf(next) <= heightOf(each))
      return { outer, isTop: false, instruction: each, inner: end === -1 ? rest : rest.slice(0, end) }
    })
    return [{ outer, isTop: true, instruction, inner }, ...called]
  })

/** An unsigned integer of eight bytes, little endian; zero past the end. */
export const u64 = (data: Uint8Array, at: number): bigint =>
  at + 8 <= data.length ? new DataView(data.buffer, data.byteOffset).getBigUint64(at, true) : 0n

const bytesOf = (instruction: RawInstruction, keys: ReadonlyArray<string>): Uint8Array | null =>
  TOKEN_PROGRAMS.has(keys[instruction.programIdIndex] ?? "") ? bs58.decode(instruction.data) : null

/** The transfer of an instruction of a token program; null for any other. */
export const transferOf = (instruction: RawInstruction, keys: ReadonlyArray<string>): Transfer | null => {
  const bytes = bytesOf(instruction, keys)
  const key = (at: number) => keys[instruction.accounts[at] ?? -1] ?? ""
  switch (bytes?.[0]) {
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

/** Units by which an instruction changed the supply of a mint; null for any other. */
export const supplyChangeOf = (
  instruction: RawInstruction,
  keys: ReadonlyArray<string>
): { readonly mint: string; readonly change: bigint } | null => {
  const bytes = bytesOf(instruction, keys)
  const key = (at: number) => keys[instruction.accounts[at] ?? -1] ?? ""
  switch (bytes?.[0]) {
    case MINT_TO:
    case MINT_TO_CHECKED:
      return { mint: key(0), change: u64(bytes, 1) }
    case BURN:
    case BURN_CHECKED:
      return { mint: key(1), change: -u64(bytes, 1) }
    default:
      return null
  }
}

/** The account that an instruction opened. */
const openedBy = (instruction: RawInstruction, keys: ReadonlyArray<string>): ReadonlyArray<[string, Holder]> => {
  const bytes = bytesOf(instruction, keys)
  const key = (at: number) => keys[instruction.accounts[at] ?? -1] ?? ""
  switch (bytes?.[0]) {
    case INITIALIZE:
      return [[key(0), { mint: key(1), owner: key(2) }]]
    case INITIALIZE_2:
    case INITIALIZE_3:
      return [[key(0), { mint: key(1), owner: bs58.encode(bytes.subarray(1, 33)) }]]
    default:
      return []
  }
}

/** The token accounts of a transaction, those that it opened and closed again among them. */
export const holdersOf = (
  { meta }: RawTransaction,
  keys: ReadonlyArray<string>,
  invocations: ReadonlyArray<Invocation>
): ReadonlyMap<string, Holder> =>
  new Map([
    ...invocations.flatMap(({ instruction }) => openedBy(instruction, keys)),
    ...[...meta.preTokenBalances, ...meta.postTokenBalances].map(({ accountIndex, mint, owner }): [string, Holder] => [
      keys[accountIndex] ?? "",
      { mint, owner: owner ?? "" }
    ])
  ])

/** Growth of a token account over the whole transaction. */
export const growthOf = ({ meta }: RawTransaction, index: number): bigint => {
  const amount = (balances: RawTransaction["meta"]["preTokenBalances"]) =>
    BigInt(balances.find(({ accountIndex }) => accountIndex === index)?.uiTokenAmount.amount ?? "0")
  return amount(meta.postTokenBalances) - amount(meta.preTokenBalances)
}
