/** Vaults as pool accounts name them. */
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import type { Address, Mint } from "../../domain/Address.ts"
import { readAddress } from "./bytes.ts"

/** Reads pairs of a mint and its vault at these offsets. */
export const namedVaults =
  (...pairs: ReadonlyArray<{ readonly mint: number; readonly vault: number }>) =>
  ({ data }: OnChainAccount): ReadonlyArray<{ readonly mint: Mint; readonly vault: Address }> =>
    pairs.map(({ mint, vault }) => ({ mint: readAddress(data, mint), vault: readAddress(data, vault) }))
