/**
 * Mint accounts of both token programs: solana-program/token (state.rs) and solana-program/token-2022 (extension/mod.rs),
 * and the metadata that a Token-2022 mint may carry itself (solana-program/token-metadata, state.rs).
 */
import { readAddress, readU16, readU32, readU64 } from "../programs/layout/bytes.ts"
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../programs/layout/tokenAccount.ts"
import type { OnChainAccount } from "../domain/OnChainAccount.ts"
import type { Address } from "../domain/Address.ts"
import type { TokenExtension, TokenProgram } from "../api/schemas/Token.ts"
import { readTokenMetadata, type TokenMetadata } from "./metadata.ts"

/** The decoded fields of a mint account. */
export interface MintFacts {
  readonly _tag: "Mint"
  readonly tokenProgram: TokenProgram
  readonly supply: bigint
  readonly decimals: number
  /** Null when revoked, which is permanent. */
  readonly mintAuthority: Address | null
  readonly freezeAuthority: Address | null
  readonly extensions: ReadonlyArray<TokenExtension>
  /** Metadata in the mint itself; null without the extension. */
  readonly metadata: TokenMetadata | null
}

/** A mint, an account of another kind, or bytes that no token program writes. */
export type MintReading =
  | MintFacts
  | { readonly _tag: "NotAMint" }
  | { readonly _tag: "Malformed"; readonly detail: string }

const NOT_A_MINT: MintReading = { _tag: "NotAMint" }

const MINT_LENGTH = 82
const MULTISIG_LENGTH = 355
// Token-2022 pads a mint to the length of a token account; the account type follows at this offset.
const TYPE_AT = 165
const EXTENSIONS_AT = TYPE_AT + 1
const accountType = { uninitialized: 0, mint: 1, tokenAccount: 2 }

const at = { mintAuthority: 0, supply: 36, decimals: 44, isInitialized: 45, freezeAuthority: 46 }

/** Extensions that affect transfers, by `ExtensionType`. */
const moving: Readonly<Record<number, TokenExtension>> = {
  1: "transfer_fee",
  6: "default_account_state",
  9: "non_transferable",
  12: "permanent_delegate",
  14: "transfer_hook",
  26: "pausable"
}
const TOKEN_METADATA = 19

const malformed = (detail: string): MintReading => ({ _tag: "Malformed", detail })

/** A `COption` of an address: a tag of four bytes, which is 0 or 1, and the address. */
const optionalAt = (data: Uint8Array, offset: number): Address | null | undefined => {
  const tag = readU32(data, offset)
  return tag === 0 ? null : tag === 1 ? readAddress(data, offset + 4) : undefined
}

interface Extensions {
  readonly names: ReadonlyArray<TokenExtension>
  readonly metadata: TokenMetadata | null
}

const readExtensions = ({ address, data }: OnChainAccount): Extensions | null => {
  const names: Array<TokenExtension> = []
  let metadata: TokenMetadata | null = null
  for (let offset = EXTENSIONS_AT; offset + 4 <= data.length;) {
    const type = readU16(data, offset)
    const end = offset + 4 + readU16(data, offset + 2)
    if (type === 0) {
      break
    }
    if (end > data.length) {
      return null
    }
    const name = moving[type]
    if (name !== undefined) {
      names.push(name)
    }
    if (type === TOKEN_METADATA) {
      metadata = readTokenMetadata(data.subarray(offset + 4, end), address)
    }
    offset = end
  }
  return { names, metadata }
}

/**
 * True for a mint, by its length, account type and initialized flag. False for another kind of account. A text
 * describes a malformed field.
 */
const shapeOf = ({ data, owner }: OnChainAccount): boolean | string => {
  if (data.length < MINT_LENGTH || data.length === MULTISIG_LENGTH) {
    return false
  }
  if (data.length > MINT_LENGTH) {
    const type = owner === TOKEN_2022_PROGRAM && data.length > TYPE_AT ? data[TYPE_AT] : accountType.tokenAccount
    if (type === accountType.tokenAccount || type === accountType.uninitialized) {
      return false
    }
    if (type !== accountType.mint) {
      return `account type ${type}`
    }
  }
  const initialized = data[at.isInitialized]
  return initialized === 1 || initialized === 0 ? initialized === 1 : `is_initialized ${initialized}`
}

/** The account read as a mint. */
export const readMintAccount = (account: OnChainAccount): MintReading => {
  const { data, owner } = account
  if (owner !== TOKEN_PROGRAM && owner !== TOKEN_2022_PROGRAM) {
    return NOT_A_MINT
  }
  const shape = shapeOf(account)
  if (shape !== true) {
    return shape === false ? NOT_A_MINT : malformed(shape)
  }
  const mintAuthority = optionalAt(data, at.mintAuthority)
  const freezeAuthority = optionalAt(data, at.freezeAuthority)
  if (mintAuthority === undefined || freezeAuthority === undefined) {
    return malformed("the tag of an authority is neither 0 nor 1")
  }
  const extensions = readExtensions(account)
  if (extensions === null) {
    return malformed("an extension is longer than the account")
  }
  return {
    _tag: "Mint",
    tokenProgram: owner === TOKEN_PROGRAM ? "spl-token" : "token-2022",
    supply: readU64(data, at.supply),
    decimals: data[at.decimals] ?? 0,
    mintAuthority,
    freezeAuthority,
    extensions: extensions.names,
    metadata: extensions.metadata
  }
}
