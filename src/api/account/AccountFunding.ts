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
} from "../../domain/Funding.ts"
import { Authorization, Scope } from "../middleware/Authorization.ts"
import { NextCursor } from "../cursor.ts"
import { pageOf, pageParameters, RequestId } from "../pages.ts"
import { DataUnavailable, FundingTargetNotFound, InvalidCursor, WalletNotFound } from "../problems.ts"

/** Default number of items per page. */
export const defaults = { wallets: 50, catalog: 100, balances: 100 } as const

const meta = {
  requestId: RequestId,
  executionAuthority: Schema.Literal("none"),
  asOf: AsOf.annotate({ description: "Observation time of the source." }),
  source: Schema.Literal("native-indexer")
}
const Meta = Schema.Struct(meta)

/** One page of the registry. */
export class AccountWallets extends Schema.Opaque<AccountWallets>()(
  pageOf(AccountWallet, Meta, { identifier: "AccountWallets", description: "One page of the registry." })
) {}

/** One page of the funding catalog. */
export class FundingCatalog extends Schema.Opaque<FundingCatalog>()(
  pageOf(CatalogEntry, Meta, { identifier: "FundingCatalog", description: "One page of the funding catalog." })
) {}

/** One page of balances. */
export class AccountBalances extends Schema.Opaque<AccountBalances>()(
  Schema.Struct({
    data: Schema.Array(AccountBalance),
    nextCursor: NextCursor,
    meta: Schema.Struct({
      ...meta,
      partial: Schema.Array(UnreadChain).annotate({
        description: "Chains that could not be read: their balances are absent, not zero."
      })
    })
  }).annotate({ identifier: "AccountBalances", description: "One page of balances." })
) {}

/** The address of one deposit. */
export class DepositAddressAnswer extends Schema.Opaque<DepositAddressAnswer>()(
  Schema.Struct({ data: AccountDepositAddress, nextCursor: Schema.Null, meta: Meta }).annotate({
    identifier: "DepositAddressAnswer",
    description: "The address of one deposit."
  })
) {}

const exactId = (longest: number, description: string) =>
  Schema.String.check(
    Schema.isMinLength(1, { expected: `1 to ${longest} characters` }),
    Schema.isMaxLength(longest, { expected: `at most ${longest} characters` })
  ).annotate({ description })

const walletId = exactId(128, "A wallet id of the registry.")

/** Query of wallets. */
export const WalletsQuery = Schema.Struct({
  family: Schema.optionalKey(WalletFamily),
  ...pageParameters(100, defaults.wallets)
})

/** Query of the catalog. */
export const CatalogQuery = Schema.Struct({
  walletId: Schema.optionalKey(
    walletId.annotate({ description: "Only networks and assets that can fund this wallet." })
  ),
  ...pageParameters(200, defaults.catalog)
})

/** Query of balances. */
export const BalancesQuery = Schema.Struct({
  walletId: Schema.optionalKey(walletId.annotate({ description: "Only balances of this wallet." })),
  ...pageParameters(200, defaults.balances)
})

/** Query of a deposit address. */
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
    }).annotate(OpenApi.Summary, "Balances of the wallets of the account"),
    HttpApiEndpoint.get("depositAddress", "/api/v1/account/deposit-address", {
      query: DepositQuery,
      success: DepositAddressAnswer,
      error: [WalletNotFound, FundingTargetNotFound, DataUnavailable]
    }).annotate(OpenApi.Summary, "The address of one deposit")
  )
  .annotateEndpoints(Scope, ["account.read"])
  .middleware(Authorization)
  .annotate(
    OpenApi.Description,
    "Wallets and funding of the owner of the key. Reads only: nothing here moves anything."
  ) {}
