/** Mint accounts as the token programs write them, for tests. */
import { writeU32, writeU64 } from "../../src/programs/layout/bytes.ts"
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../src/programs/layout/tokenAccount.ts"
import type { OnChainAccount } from "../../src/domain/OnChainAccount.ts"
import { Address, addressToBytes, type Mint } from "../../src/domain/Address.ts"

/** Fields of a mint. */
export interface MintPlan {
  readonly supply?: bigint
  readonly decimals?: number
  readonly mintAuthority?: Address | null
  readonly freezeAuthority?: Address | null
  readonly slot?: number
}

const writeOptional = (data: Uint8Array, offset: number, address: Address | null): void => {
  if (address !== null) {
    writeU32(data, offset, 1)
    data.set(addressToBytes(address), offset + 4)
  }
}

const base = (size: number, plan: MintPlan): Uint8Array => {
  const data = new Uint8Array(size)
  writeOptional(data, 0, plan.mintAuthority ?? null)
  writeU64(data, 36, plan.supply ?? 1_000_000_000n)
  data[44] = plan.decimals ?? 6
  data[45] = 1
  writeOptional(data, 46, plan.freezeAuthority ?? null)
  return data
}

/** A mint of the classic program. */
export const classicMint = (address: Mint, plan: MintPlan = {}): OnChainAccount => ({
  address,
  owner: TOKEN_PROGRAM,
  lamports: 1_461_600n,
  data: base(82, plan),
  slot: plan.slot ?? 1
})

/** One entry of the list that follows a Token-2022 mint. */
export const extension = (type: number, value: Uint8Array): Uint8Array => {
  const entry = new Uint8Array(4 + value.length)
  new DataView(entry.buffer).setUint16(0, type, true)
  new DataView(entry.buffer).setUint16(2, value.length, true)
  entry.set(value, 4)
  return entry
}

/** A mint of Token-2022 with these extensions. */
export const extendedMint = (
  address: Mint,
  extensions: ReadonlyArray<Uint8Array>,
  plan: MintPlan = {}
): OnChainAccount => {
  const tail = extensions.flatMap((entry) => Array.from(entry))
  const data = base(166 + tail.length, plan)
  data[165] = 1
  data.set(tail, 166)
  return { ...classicMint(address, plan), owner: TOKEN_2022_PROGRAM, data }
}

const text = (value: string, padTo = 0): ReadonlyArray<number> => {
  const bytes = Array.from(new TextEncoder().encode(value.padEnd(padTo, "\0")))
  const length = new Uint8Array(4)
  writeU32(length, 0, bytes.length)
  return [...length, ...bytes]
}

/** The value of the `TokenMetadata` extension. */
export const metadataOf = (mint: Mint, name: string, symbol: string, uri = ""): Uint8Array =>
  Uint8Array.from([
    ...new Uint8Array(32),
    ...addressToBytes(mint),
    ...text(name),
    ...text(symbol),
    ...text(uri),
    0,
    0,
    0,
    0
  ])

/** A Metaplex metadata account, padded as Metaplex does. */
export const metaplexAccount = (address: Address, mint: Mint, name: string, symbol: string): OnChainAccount => ({
  address,
  owner: Address.make("metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s"),
  lamports: 5_616_720n,
  data: Uint8Array.from([
    4,
    ...new Uint8Array(32).fill(9),
    ...addressToBytes(mint),
    ...text(name, 32),
    ...text(symbol, 10),
    ...text("https://example.com/token.json", 200),
    ...new Uint8Array(20)
  ]),
  slot: 1
})
