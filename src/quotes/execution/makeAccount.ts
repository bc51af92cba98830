/** Builds accounts that a dump leaves out, or that test vectors only describe. */
import { TOKEN_PROGRAM } from "../../programs/layout/tokenAccount.ts"
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import { type Address, addressToBytes, type Mint } from "../../domain/Address.ts"

/** One value at an offset: bytes, or an unsigned little-endian number of `bytes` bytes (8 by default). */
export type Field = readonly [offset: number, value: Uint8Array | bigint, bytes?: number]

/** An account of `length` bytes: the given fields, and zeros elsewhere. */
export const makeAccount = (
  address: Address,
  owner: Address,
  length: number,
  fields: ReadonlyArray<Field>
): OnChainAccount => {
  const data = new Uint8Array(length)
  for (const [offset, value, bytes = 8] of fields) {
    if (typeof value === "bigint") {
      const unsigned = BigInt.asUintN(bytes * 8, value)
      for (let i = 0; i < bytes; i++) {
        data[offset + i] = Number((unsigned >> BigInt(8 * i)) & 0xffn)
      }
    } else {
      data.set(value, offset)
    }
  }
  return { address, owner, lamports: 1_000_000n, data, slot: 0 }
}

/** An Anchor discriminator's bytes, from 16 hex digits. */
export const discriminator = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, "hex"))

/** A token account holding `amount` of `mint`. */
export const tokenAccount = (address: Address, mint: Mint, amount: bigint): OnChainAccount =>
  makeAccount(address, TOKEN_PROGRAM, 165, [
    [0, addressToBytes(mint)],
    [64, amount],
    [108, 1n, 1]
  ])
