/**
 * What a token calls itself: in the mint (solana-program/token-metadata, state.rs), or in the account that Metaplex derives
 * from it (metaplex-foundation/mpl-token-metadata, state/metadata.rs). Anybody may write anything there.
 */
import type { DeriveAddress } from "../programs/Program.ts"
import { readAddress, readU32 } from "../programs/math/bytes.ts"
import type { OnChainAccount } from "../domain/OnChainAccount.ts"
import { Address, addressToBytes, type Mint } from "../domain/Address.ts"

/** What a token says of itself. Null where it says nothing, or nothing that is text. */
export interface TokenMetadata {
  readonly name: string | null
  readonly symbol: string | null
  /** Where more is said; nobody has looked. */
  readonly uri: string | null
}

/** Longer text than this is not a name, and is not kept. */
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

/** Borsh strings one after the other; null when they do not fit. */
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

/** The value of a mint's `TokenMetadata` extension; null when it is of another mint or broken. */
export const readTokenMetadata = (value: Uint8Array, mint: Mint): TokenMetadata | null =>
  readAfterAuthority(value, 0, mint)

/** Where Metaplex keeps what a mint calls itself. */
export const metaplexAddress = (mint: Mint, derive: DeriveAddress): Address =>
  derive(METAPLEX, [METAPLEX_SEED, addressToBytes(METAPLEX), addressToBytes(mint)])

/** What a Metaplex account says of the mint; null when it is no such account. */
export const readMetaplex = ({ data, owner }: OnChainAccount, mint: Mint): TokenMetadata | null =>
  owner === METAPLEX && data[0] === METADATA_V1 ? readAfterAuthority(data, 1, mint) : null
