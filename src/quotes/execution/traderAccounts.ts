/** Accounts of the trader who executes the swaps. */
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import { Address, addressToBytes, SOL } from "../../domain/Address.ts"
import { readAddress, readU16, readU64 } from "../../programs/layout/bytes.ts"
import { pack, u16, u32, u64, u8 } from "../../programs/layout/pack.ts"
import type { DeriveAddress } from "../../programs/interface/Program.ts"
import { associatedAddress, TOKEN_2022_PROGRAM } from "../../programs/layout/tokenAccount.ts"

/** The trader. It signs every swap. */
export const TRADER = Address.make("Trader1111111111111111111111111111111111111")

/** Pays the transactions' fees, so that the trader's lamports move by the swap alone. */
export const FEE_PAYER = Address.make("Payer11111111111111111111111111111111111111")

const SYSTEM_PROGRAM = Address.make("11111111111111111111111111111111")

/** A wallet with this many lamports. */
export const wallet = (address: Address, lamports: bigint): OnChainAccount => ({
  address,
  owner: SYSTEM_PROGRAM,
  lamports,
  data: new Uint8Array(0),
  slot: 0
})

/** Lamports that suffice for an account of any size. */
export const RENT = 1_000_000_000n
const EXTENSIONS_AT = 166
/** For each extension of a mint: the extension that a token account then needs, and its size in bytes. */
const accountExtensions: ReadonlyMap<number, readonly [type: number, size: number]> = new Map([
  [1, [2, 8]],
  [14, [15, 1]],
  [26, [27, 0]]
])

/** The extension types of a Token-2022 mint, each with the offset of its value. */
const extensionsOf = ({
  data,
  owner
}: OnChainAccount): ReadonlyArray<{ readonly type: number; readonly at: number }> => {
  const found: Array<{ readonly type: number; readonly at: number }> = []
  if (owner !== TOKEN_2022_PROGRAM) {
    return found
  }
  for (let at = EXTENSIONS_AT; at + 4 <= data.length;) {
    const type = readU16(data, at)
    if (type === 0) {
      break
    }
    found.push({ type, at: at + 4 })
    at += 4 + readU16(data, at + 2)
  }
  return found
}

const TRANSFER_HOOK = 14

/** True when the mint's transfers call another program. A swap would have to name that program's accounts. */
export const hasTransferHook = (mint: OnChainAccount): boolean =>
  extensionsOf(mint).some(
    ({ type, at }) => type === TRANSFER_HOOK && readAddress(mint.data, at + 32) !== SYSTEM_PROGRAM
  )

const optionalRent = (mint: OnChainAccount): Uint8Array =>
  mint.address === SOL ? pack(u32(1), u64(RENT)) : new Uint8Array(12)

/** A token account. For SOL, its lamports include the balance. */
export const holding = (address: Address, owner: Address, mint: OnChainAccount, amount: bigint): OnChainAccount => {
  const extensions = extensionsOf(mint).flatMap(({ type }) => {
    const wanted = accountExtensions.get(type)
    return wanted === undefined ? [] : [pack(u16(wanted[0]), u16(wanted[1]), new Uint8Array(wanted[1]))]
  })
  const base = pack(
    addressToBytes(mint.address),
    addressToBytes(owner),
    u64(amount),
    new Uint8Array(36),
    u8(1),
    optionalRent(mint),
    new Uint8Array(8 + 36)
  )
  return {
    address,
    owner: mint.owner,
    lamports: mint.address === SOL ? amount + RENT : RENT,
    data: extensions.length === 0 ? base : pack(base, u8(2), ...extensions),
    slot: 0
  }
}

/** The trader's own account for a mint: the associated one, which some programs require. */
export const traderAccount = (derive: DeriveAddress, mint: OnChainAccount, amount: bigint): OnChainAccount =>
  holding(associatedAddress(derive, TRADER, mint.address, mint.owner), TRADER, mint, amount)

export const balanceIn = (data: Uint8Array): bigint => readU64(data, 64)
