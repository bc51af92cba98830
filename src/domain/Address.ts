import { Schema } from "effect"
import { fromBase58, toBase58 } from "./base58.ts"

const BASE58 = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/u

/**
 * How many valid addresses are remembered. The same addresses come back on every request, and decoding one takes
 * microseconds.
 */
const MOST_KNOWN = 20_000
const known = new Set<string>()

/** True for base58 text of exactly 32 bytes, the format of every Solana address. */
export const isAddress = (text: string): boolean => {
  if (known.has(text)) {
    return true
  }
  const valid = BASE58.test(text) && fromBase58(text)?.length === 32
  if (valid) {
    if (known.size >= MOST_KNOWN) {
      known.clear()
    }
    known.add(text)
  }
  return valid
}

/** A Solana address: base58 of 32 bytes. */
export const Address = Schema.String.check(
  Schema.isPattern(BASE58, { expected: "a Solana address in base58, 32 to 44 characters" }),
  Schema.makeFilter((text) => isAddress(text) || "must be a Solana address: base58 of 32 bytes", {
    // JSON Schema has no keyword for this check. Without this line the description is lost.
    toJsonSchema: () => ({})
  })
)
  .pipe(Schema.brand("Address"))
  .annotate({ identifier: "Address", description: "A Solana address: base58 of 32 bytes." })
export type Address = typeof Address.Type

/** Returns the text as an address; undefined when it is not one. */
export const addressOf = (text: string): Address | undefined => (isAddress(text) ? (text as Address) : undefined)

/** A token mint. Same format as any address; the name states the role. */
export type Mint = Address

/** Size of the cache of spelled addresses: a power of two, one place for each hash. */
const SPELLINGS = 2 ** 14
const spelled: Array<{ readonly bytes: Uint8Array; readonly text: Address } | undefined> = []

// Addresses are hashes or public keys, so a few of their bytes make a good hash.
const hashOf = (bytes: Uint8Array): number =>
  ((bytes[0] ?? 0) | ((bytes[13] ?? 0) << 8) | ((bytes[31] ?? 0) << 16)) % SPELLINGS

const isSame = (a: Uint8Array, b: Uint8Array): boolean => {
  for (let i = 0; i < a.length; i++) {
    if (a[i] !== b[i]) {
      return false
    }
  }
  return a.length === b.length
}

/**
 * Spells 32 raw bytes as an address. The caller guarantees the length. Spelling takes microseconds, and a pool that
 * is decoded again names the same mints and vaults, so recent results are cached.
 */
export const addressFromBytes = (bytes: Uint8Array): Address => {
  const hash = hashOf(bytes)
  const known = spelled[hash]
  if (known !== undefined && isSame(known.bytes, bytes)) {
    return known.text
  }
  const text = toBase58(bytes) as Address
  spelled[hash] = { bytes: bytes.slice(), text }
  return text
}

/** The 32 raw bytes of an address. */
export const addressToBytes = (address: Address): Uint8Array => {
  const bytes = fromBase58(address)
  if (bytes === null) {
    throw new RangeError(`not base58: ${address}`)
  }
  return bytes
}

/** Wrapped SOL: the mint that stands for SOL in every pool. */
export const SOL: Mint = Address.make("So11111111111111111111111111111111111111112")

/** Circle's dollar on Solana mainnet, 6 decimals. */
export const USDC: Mint = Address.make("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v")
