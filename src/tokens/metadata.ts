/**
 * Token metadata, from the mint (solana-program/token-metadata, state.rs) or from the account that Metaplex derives from it
 * (metaplex-foundation/mpl-token-metadata, state/metadata.rs). The content is arbitrary and untrusted.
 */
import type { DeriveAddress } from "../programs/Program.ts"
import { readAddress, readU32 } from "../programs/math/bytes.ts"
import type { OnChainAccount } from "../domain/OnChainAccount.ts"
import { Address, addressToBytes, type Mint } from "../domain/Address.ts"

/** Name, symbol and URI of a token. Null where empty or not text. */
export interface TokenMetadata {
  readonly name: string | null
  readonly symbol: string | null
  /** Address of the off-chain metadata; not fetched. */
  readonly uri: string | null
}

/** Longer texts are read as null. */
const MOST_CHARACTERS = 256

const METAPLEX = Address.make("metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s")
const METAPLEX_SEED = new TextEncoder().encode("metadata")
/** `Key::MetadataV1`, the first byte of the account. */
const METADATA_V1 = 4

const utf8 = new TextDecoder("utf-8", { fatal: true })

const textOf = (bytes: Uint8Array): string | null => {
  try {
    // Metaplex pads with NUL to a fixed length.
    const text = utf8.decode(bytes).replaceAll("\0", "").trim()
    return text === "" || text.length > MOST_CHARACTERS ? null : text
  } catch {
    return null
  }
}

/** Consecutive Borsh strings; null when they exceed the data. */
const readTexts = (data: Uint8Array, start: number, count: number): ReadonlyArray<string | null> | null => {
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
  return texts
}

const readAfterAuthority = (data: Uint8Array, authorityAt: number, mint: Mint): TokenMetadata | null => {
  const mintAt = authorityAt + 32
  if (data.length < mintAt + 32 || readAddress(data, mintAt) !== mint) {
    return null
  }
  const texts = readTexts(data, mintAt + 32, 3)
  if (texts === null) {
    return null
  }
  const [name = null, symbol = null, uri = null] = texts
  return { name, symbol, uri }
}

/** The value of a mint's `TokenMetadata` extension; null when it belongs to another mint or is malformed. */
export const readTokenMetadata = (value: Uint8Array, mint: Mint): TokenMetadata | null =>
  readAfterAuthority(value, 0, mint)

/** Address of the Metaplex metadata of a mint. */
export const metaplexAddress = (mint: Mint, derive: DeriveAddress): Address =>
  derive(METAPLEX, [METAPLEX_SEED, addressToBytes(METAPLEX), addressToBytes(mint)])

/** The metadata in a Metaplex account of the mint; null for any other account. */
export const readMetaplex = ({ data, owner }: OnChainAccount, mint: Mint): TokenMetadata | null =>
  owner === METAPLEX && data[0] === METADATA_V1 ? readAfterAuthority(data, 1, mint) : null
