/**
 * Names of mints on chain. They are in a Metaplex account (metaplex-foundation/mpl-token-metadata, state/metadata.rs)
 * or, for a Token-2022 mint, in the mint itself (solana-program/token-metadata, state.rs).
 */
import { Address, addressToBytes, type Mint } from "../../domain/Address.ts"
import { key, pack, text, u8 } from "../../programs/layout/pack.ts"

export interface Naming {
  readonly name: string
  readonly symbol: string
}

export const METAPLEX_PROGRAM = Address.make("metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s")

/** The IPFS folder of the simulated documents. Only the simulator serves it. */
export const DOCUMENTS_CID = "bafybeisimulatedsimulatedsimulatedsimulatedsimulatedsimula2"

/** URI of a mint's off-chain document. */
export const uriOf = (mint: Mint): string => `ipfs://${DOCUMENTS_CID}/${mint}.json`

/** Size of every Metaplex account in bytes: the largest size of any version. */
const METAPLEX_SIZE = 679
const METADATA_V1 = 4
const MOST = { name: 32, symbol: 10, uri: 200 }
/** `TokenStandard::Fungible`, preceded by the byte for "present". */
const FUNGIBLE = [1, 2]

const utf8 = new TextEncoder()

/** A string as Metaplex stores it: padded with NUL to `size` bytes. */
const padded = (value: string, size: number): Uint8Array => {
  const bytes = utf8.encode(value)
  return text(value + "\0".repeat(Math.max(0, size - bytes.length)))
}

/** Bytes of an authority. Thirty-two zeros mean that there is none. */
const authorityBytes = (authority: Address | null): Uint8Array =>
  authority === null ? new Uint8Array(32) : key(authority)

/** Data of the metadata account. */
export const metaplexData = (mint: Mint, { name, symbol }: Naming, authority: Address | null): Uint8Array => {
  const data = new Uint8Array(METAPLEX_SIZE)
  data.set(
    pack(
      u8(METADATA_V1),
      authorityBytes(authority),
      key(mint),
      padded(name, MOST.name),
      padded(symbol, MOST.symbol),
      padded(uriOf(mint), MOST.uri),
      // No seller fee, no creators, no primary sale, mutable, no edition.
      Uint8Array.of(0, 0, 0, 0, 1, 0, ...FUNGIBLE)
    )
  )
  return data
}

/** Seeds that derive the address of the metadata account. */
export const metaplexSeeds = (mint: Mint): ReadonlyArray<Uint8Array> => [
  utf8.encode("metadata"),
  addressToBytes(METAPLEX_PROGRAM),
  addressToBytes(mint)
]

/** The mint's own `TokenMetadata` extension, without additional fields. */
export const extensionData = (mint: Mint, { name, symbol }: Naming, authority: Address | null): Uint8Array =>
  pack(authorityBytes(authority), key(mint), text(name), text(symbol), text(uriOf(mint)), new Uint8Array(4))
