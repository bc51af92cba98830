import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { DataUnavailable, FundingTargetNotFound, InvalidCursor, WalletNotFound } from "./errors/problems.ts"
import { Authorization, Scope } from "./middleware/Authorization.ts"
import { NextCursor, pageOf, pageParameters, RequestId } from "./pages.ts"
import {
  AccountBalance,
  AccountDepositAddress,
  AccountWallet,
  AsOf,
  CatalogEntry,
  UnreadChain,
  WalletFamily
} from "./schemas/Funding.ts"
import { field } from "../domain/field.ts"
import { executionAuthority, nextCursor } from "./schemas/fields.ts"

/** Default number of items per page. */
export const defaults = { wallets: 50, catalog: 100, balances: 100 } as const

const meta = {
  requestId: RequestId,
  executionAuthority,
  asOf: field(AsOf, "When the source observed the values."),
  source: field(Schema.Literal("native-indexer"), "Where the values come from.")
}
const Meta = Schema.Struct(meta)

export class AccountWallets extends Schema.Opaque<AccountWallets>()(
  pageOf(AccountWallet, Meta, { identifier: "AccountWallets", description: "One page of the registry." })
) {}

export class FundingCatalog extends Schema.Opaque<FundingCatalog>()(
  pageOf(CatalogEntry, Meta, { identifier: "FundingCatalog", description: "One page of the funding catalog." })
) {}

export class AccountBalances extends Schema.Opaque<AccountBalances>()(
  Schema.Struct({
    data: field(Schema.Array(AccountBalance), "Balances. Chains that could not be read are missing, not zero."),
    nextCursor: NextCursor,
    meta: field(
      Schema.Struct({
        ...meta,
        partial: field(
          Schema.Array(UnreadChain),
          "Chains that could not be read. Their balances are missing, not zero."
        )
      }),
      "How the answer was made, and how well it is known."
    )
  }).annotate({ identifier: "AccountBalances", description: "One page of balances." })
) {}

export class DepositAddressAnswer extends Schema.Opaque<DepositAddressAnswer>()(
  Schema.Struct({
    data: AccountDepositAddress,
    nextCursor,
    meta: field(Meta, "How the answer was made, and how well it is known.")
  }).annotate({
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

export const WalletsQuery = Schema.Struct({
  family: Schema.optionalKey(WalletFamily),
  ...pageParameters(100, defaults.wallets)
})

export const CatalogQuery = Schema.Struct({
  walletId: field(Schema.optionalKey(walletId), "Only networks and assets that can fund this wallet."),
  ...pageParameters(200, defaults.catalog)
})

export const BalancesQuery = Schema.Struct({
  walletId: field(Schema.optionalKey(walletId), "Only balances of this wallet."),
  ...pageParameters(200, defaults.balances)
})

export const DepositQuery = Schema.Struct({
  wallet: field(walletId, "A wallet id of the registry; never an address."),
  network: exactId(128, "The exact id of a network of the catalog, not of a family of networks."),
  asset: exactId(256, "The exact id of an asset of the catalog.")
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
