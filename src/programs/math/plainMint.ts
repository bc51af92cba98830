import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import type { Mint } from "../../domain/Address.ts"
import { TOKEN_PROGRAM } from "./tokenAccount.ts"

const LENGTH = 82
const at = { supply: 36, decimals: 44, isInitialized: 45 }

/** A mint of the classic Token program as an account: no extensions, so no transfer fee. Supply in atomic units. */
export const plainMint = (address: Mint, supply = 1_000_000_000_000_000n, decimals = 6): OnChainAccount => {
  const data = new Uint8Array(LENGTH)
  new DataView(data.buffer).setBigUint64(at.supply, supply, true)
  data[at.decimals] = decimals
  data[at.isInitialized] = 1
  return { address, owner: TOKEN_PROGRAM, lamports: 1_461_600n, data, slot: 0 }
}
