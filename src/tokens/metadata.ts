/**
 * Token metadata, from the mint (solana-program/token-metadata, state.rs) or from the account that Metaplex derives from it
 * (metaplex-foundation/mpl-token-metadata, state/metadata.rs). The content is arbitrary and untrusted.
 */
import type { DeriveAddress } from "../programs/interface/Program.ts"
import { readAddress, readU32 } from "../programs/layout/bytes.ts"
import type { OnChainAccount } from "../domain/OnChainAccount.ts"
import { Address, addressToBytes, type Mint } from "../domain/Address.ts"
import { plainText } from "./documents/plainText.ts"

/** Where the metadata comes from, and what else it contains. */
export interface MetadataOrigin {
  readonly source: "metaplex" | "token-2022"
  /** The address that may change the metadata; null when this right was given up. */
  readonly updateAuthority: Address | null
  /** True while the metadata may be changed; null when the account ends before this flag. */
  readonly isMutable: boolean | null
  /** Further keys and values of a Token-2022 mint, at most `MOST_FIELDS`. */
  readonly fields: ReadonlyArray<readonly [key: string, value: string]>
}

/** Name, symbol and URI of a token. Null where empty or not text. */
export interface TokenMetadata {
  readonly name: string | null
  readonly symbol: string | null
  /** Address of the off-chain document (`documents/`). */
  readonly uri: string | null
  readonly origin?: MetadataOrigin
}

/** Longer texts are read as null. */
const MOST_CHARACTERS = 256
const MOST_FIELDS = 32

const METAPLEX = Address.make("metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s")
const METAPLEX_SEED = new TextEncoder().encode("metadata")
/** `Key::MetadataV1`, the first byte of the account. */
const METADATA_V1 = 4
/** Bytes of a creator in a Metaplex account: address, verified, share. */
const CREATOR_SIZE = 34
/** Thirty-two zeros, which stand for none. */
const NO_AUTHORITY = Address.make("11111111111111111111111111111111")

const utf8 = new TextDecoder("utf-8", { fatal: true })

const textOf = (bytes: Uint8Array): string | null => {
  try {
    // Metaplex pads with NUL to a fixed length.
    const text = plainText(utf8.decode(bytes).replaceAll("\0", ""))
    return text === "" || text.length > MOST_CHARACTERS ? null : text
  } catch {
    return null
  }
}

interface Texts {
  readonly texts: ReadonlyArray<string | null>
  /** Offset after the last text. */
  readonly end: number
}

/** Consecutive Borsh strings; null when they exceed the data. */
const readTexts = (data: Uint8Array, start: number, count: number): Texts | null => {
  const texts: Array<string | null> = []
  let offset = start
  for (let i = 0; i < count; i++) {
    if (offset + 4 > data.length) {
      return null
    }
    const end = offset + 4 + readU32(data, offset)
    if (end > data.length) {
      return null
    }
    texts.push(textOf(data.subarray(offset + 4, end)))
    offset = end
  }
  return { texts, end: offset }
}

const readAfterAuthority = (
  data: Uint8Array,
  authorityAt: number,
  mint: Mint,
  originOf: (authority: Address | null, end: number) => MetadataOrigin
): TokenMetadata | null => {
  const mintAt = authorityAt + 32
  if (data.length < mintAt + 32 || readAddress(data, mintAt) !== mint) {
    return null
  }
  const read = readTexts(data, mintAt + 32, 3)
  if (read === null) {
    return null
  }
  const [name = null, symbol = null, uri = null] = read.texts
  const authority = readAddress(data, authorityAt)
  return { name, symbol, uri, origin: originOf(authority === NO_AUTHORITY ? null : authority, read.end) }
}

/** Keys and values, which follow their count. Entries that are not text or exceed the data are left out. */
const readFields = (data: Uint8Array, start: number): MetadataOrigin["fields"] => {
  const fields: Array<readonly [string, string]> = []
  const count = start + 4 > data.length ? 0 : Math.min(readU32(data, start), MOST_FIELDS)
  for (let i = 0, offset = start + 4; i < count; i++) {
    const pair = readTexts(data, offset, 2)
    if (pair === null) {
      break
    }
    const [key = null, value = null] = pair.texts
    fields.push(...(key === null || value === null ? [] : [[key, value] as const]))
    offset = pair.end
  }
  return fields
}

/**
 * `is_mutable`, which follows the seller's fee, the creators and the first sale; null when the account ends before it.
 */
const readMutable = (data: Uint8Array, start: number): boolean | null => {
  const creatorsAt = start + 2
  if (creatorsAt >= data.length) {
    return null
  }
  const creators = data[creatorsAt] === 1 && creatorsAt + 5 <= data.length ? readU32(data, creatorsAt + 1) : 0
  const at = creatorsAt + (data[creatorsAt] === 1 ? 5 + creators * CREATOR_SIZE : 1) + 1
  return at < data.length ? data[at] === 1 : null
}

/** The value of a mint's `TokenMetadata` extension; null when it belongs to another mint or is malformed. */
export const readTokenMetadata = (value: Uint8Array, mint: Mint): TokenMetadata | null =>
  readAfterAuthority(value, 0, mint, (updateAuthority, end) => ({
    source: "token-2022",
    updateAuthority,
    isMutable: updateAuthority !== null,
    fields: readFields(value, end)
  }))

/** Address of the Metaplex metadata of a mint. */
export const metaplexAddress = (mint: Mint, derive: DeriveAddress): Address =>
  derive(METAPLEX, [METAPLEX_SEED, addressToBytes(METAPLEX), addressToBytes(mint)])

/** The metadata in a Metaplex account of the mint; null for any other account. */
export const readMetaplex = ({ data, owner }: OnChainAccount, mint: Mint): TokenMetadata | null =>
  owner === METAPLEX && data[0] === METADATA_V1
    ? readAfterAuthority(data, 1, mint, (updateAuthority, end) => ({
        source: "metaplex",
        updateAuthority,
        // Without an authority the flag has no effect.
        isMutable: updateAuthority !== null && readMutable(data, end),
        fields: []
      }))
    : null
