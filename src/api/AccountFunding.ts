import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import {
  AccountBalance,
  AccountDepositAddress,
  AccountWallet,
  AsOf,
  CatalogEntry,
  UnreadChain,
  WalletFamily
} from "../domain/Funding.ts"
import { Authorization, Scope } from "./middleware/Authorization.ts"
import { NextCursor } from "./cursor.ts"
import { pageOf, pageParameters, RequestId } from "./pages.ts"
import { DataUnavailable, FundingTargetNotFound, InvalidCursor, WalletNotFound } from "./problems.ts"

/** Items of a page when nothing else is asked for. */
export const defaults = { wallets: 50, catalog: 100, balances: 100 } as const

const meta = {
  requestId: RequestId,
  executionAuthority: Schema.Literal("none"),
  asOf: AsOf.annotate({ description: "When the source says that it knew this." }),
  source: Schema.Literal("native-indexer")
}
const Meta = Schema.Struct(meta)

/** One page of the registry. */
export class AccountWallets extends Schema.Opaque<AccountWallets>()(
  pageOf(AccountWallet, Meta, { identifier: "AccountWallets", description: "One page of the registry." })
) {}

/** One page of what can be deposited. */
export class FundingCatalog extends Schema.Opaque<FundingCatalog>()(
  pageOf(CatalogEntry, Meta, { identifier: "FundingCatalog", description: "One page of what can be deposited." })
) {}

/** One page of what the wallets hold. */
export class AccountBalances extends Schema.Opaque<AccountBalances>()(
  Schema.Struct({
    data: Schema.Array(AccountBalance),
    nextCursor: NextCursor,
    meta: Schema.Struct({
      ...meta,
      partial: Schema.Array(UnreadChain).annotate({
        description: "Chains that could not be read: what is held there is absent, not zero."
      })
    })
  }).annotate({ identifier: "AccountBalances", description: "One page of what the wallets hold." })
) {}

/** Where to send one deposit. */
export class DepositAddressAnswer extends Schema.Opaque<DepositAddressAnswer>()(
  Schema.Struct({ data: AccountDepositAddress, nextCursor: Schema.Null, meta: Meta }).annotate({
    identifier: "DepositAddressAnswer",
    description: "Where to send one deposit."
  })
) {}

const exactId = (longest: number, description: string) =>
  Schema.String.check(
    Schema.isMinLength(1, { expected: `1 to ${longest} characters` }),
    Schema.isMaxLength(longest, { expected: `at most ${longest} characters` })
  ).annotate({ description })

const walletId = exactId(128, "A wallet id of the registry.")

/** Which wallets are wanted. */
export const WalletsQuery = Schema.Struct({
  family: Schema.optionalKey(WalletFamily),
  ...pageParameters(100, defaults.wallets)
})

/** Whose part of the catalog is wanted. */
export const CatalogQuery = Schema.Struct({
  walletId: Schema.optionalKey(walletId.annotate({ description: "Only what this wallet can be funded with." })),
  ...pageParameters(200, defaults.catalog)
})

/** Whose balances are wanted. */
export const BalancesQuery = Schema.Struct({
  walletId: Schema.optionalKey(walletId.annotate({ description: "Only what this wallet holds." })),
  ...pageParameters(200, defaults.balances)
})

/** What is to be deposited, and where it is to arrive. */
export const DepositQuery = Schema.Struct({
  wallet: walletId.annotate({ description: "A wallet id of the registry; never an address." }),
  network: exactId(128, "A network id of the catalog, exactly; never a family of networks."),
  asset: exactId(256, "An asset id of the catalog, exactly.")
})

/** Wallets and funding of the owner of the key. Reads only: nothing here moves anything. */
export class AccountFundingGroup extends HttpApiGroup.make("accountFunding")
  .add(
    HttpApiEndpoint.get("wallets", "/api/v1/account/wallets", {
      query: WalletsQuery,
      success: AccountWallets,
      error: [InvalidCursor, DataUnavailable]
    }).annotate(OpenApi.Summary, "The wallets of the account"),
    HttpApiEndpoint.get("catalog", "/api/v1/account/funding-catalog", {
      query: CatalogQuery,
      success: FundingCatalog,
      error: [InvalidCursor, WalletNotFound, FundingTargetNotFound, DataUnavailable]
    }).annotate(OpenApi.Summary, "Networks and assets that can be deposited"),
    HttpApiEndpoint.get("balances", "/api/v1/account/balances", {
      query: BalancesQuery,
      success: AccountBalances,
      error: [InvalidCursor, WalletNotFound, DataUnavailable]
    }).annotate(OpenApi.Summary, "What the wallets of the account hold"),
    HttpApiEndpoint.get("depositAddress", "/api/v1/account/deposit-address", {
      query: DepositQuery,
      success: DepositAddressAnswer,
      error: [WalletNotFound, FundingTargetNotFound, DataUnavailable]
    }).annotate(OpenApi.Summary, "Where to send one deposit")
  )
  .annotateEndpoints(Scope, ["account.read"])
  .middleware(Authorization)
  .annotate(
    OpenApi.Description,
    "Wallets and funding of the owner of the key. Reads only: nothing here moves anything."
  ) {}
