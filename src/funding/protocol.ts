/**
 * The protocol of a funding service: four requests over HTTP, answered in JSON.
 *
 *     GET /v1/catalog
 *     GET /v1/owners/{owner}/wallets
 *     GET /v1/owners/{owner}/balances?wallet=
 *     GET /v1/owners/{owner}/deposit-address?wallet=&network=&asset=
 *
 * - `{owner}` is the account of an API key that has been verified. `wallet` of balances may be left out: all wallets.
 * - Every request carries `Authorization: Bearer <credential>` when one is configured.
 * - 200 carries one of the answers below: every field, and no other. Amounts are digits, dollars exact decimals without
 *   trailing zeros, times milliseconds since the Unix epoch. Addresses are base58 of 32 bytes or 0x and 40 hex digits;
 *   a native asset has one as well, by which its network knows it.
 * - An unknown owner has no wallets. 404 carries a refusal: the owner has no such wallet, or
 *   no deposit of this asset on this network reaches it. Any other status is a failure; `Retry-After` in seconds is kept.
 * - Redirects are not followed.
 */
import { Schema } from "effect"
import {
  AccountBalance,
  AccountDepositAddress,
  AccountWallet,
  AsOf,
  CatalogEntry,
  UnreadChain
} from "../api/schemas/Funding.ts"

/** The catalog. Network ids are unique, and so are the asset ids of a network. */
export const CatalogAnswer = Schema.Struct({ networks: Schema.Array(CatalogEntry), asOf: AsOf })

/** The wallets of an owner, whose id is repeated. Wallet ids are unique. */
export const WalletsAnswer = Schema.Struct({ owner: Schema.String, wallets: Schema.Array(AccountWallet), asOf: AsOf })

/**
 * Balances of an owner: one row for each wallet, network and asset. An unknown balance or price is null, with a reason
 * and the time it was last known. A network that could not be read is named in `unread` and has no rows.
 */
export const BalancesAnswer = Schema.Struct({
  owner: Schema.String,
  balances: Schema.Array(AccountBalance),
  unread: Schema.Array(UnreadChain),
  asOf: AsOf
})

/** The address of a deposit. Repeats the owner, the wallet, and the catalog's network and asset. */
export const DepositAnswer = Schema.Struct({ owner: Schema.String, deposit: AccountDepositAddress })

/** The body of a 404. */
export const Refusal = Schema.Struct({ error: Schema.Literals(["unknown_wallet", "unknown_target"]) })
