import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../programs/layout/tokenAccount.ts"

/**
 * True for an account of a token program, for the stand-in of a mint that a recording lacks, and while the account is
 * unknown.
 */
export const mayBeMint = (account: OnChainAccount | null | undefined): boolean =>
  account === undefined ||
  (account !== null &&
    (account.owner === TOKEN_PROGRAM || account.owner === TOKEN_2022_PROGRAM || account.lamports === 0n))
